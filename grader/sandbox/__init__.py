"""Run a notebook that nobody vouches for, within limits. README.md says what each layer guarantees."""
