"""What a model request is made of: the context meter, compaction, tool selection, cut results."""
