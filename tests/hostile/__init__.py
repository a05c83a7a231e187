"""Submissions that a grader meets, broken, clumsy or hostile, and what must come of each."""
