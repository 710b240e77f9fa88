"""The screens of kept calls, suites and reviews."""
