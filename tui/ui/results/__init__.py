"""Results on screen: one page for the workbench, for the traffic, and for large results of a conversation."""
