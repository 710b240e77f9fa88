"""The add-on for breakpoints, and for faults that are injected on purpose."""
