"""Grade a whole class: take submissions in, run them, keep the gradebook, write the tables and the report."""
