"""Benchmarks: measurements that people quote, run by ``python -m tests.bench NAME`` in the project's folder."""
