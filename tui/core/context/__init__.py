"""The parts of a model request: the context meter, compaction, tool selection, truncated results."""
