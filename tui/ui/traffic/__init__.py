"""The traffic screen: a list of a million entries, its filter, and the open entry."""
