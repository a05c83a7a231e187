"""What runs inside a sandbox of the fork engine. It imports nothing of the grader, which is not there."""
