"""Turn cases: whether a model calls the right tools for a question."""
