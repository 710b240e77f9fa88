"""The traffic screen: a list of a million entries, its filter, and the reading of one of them."""
