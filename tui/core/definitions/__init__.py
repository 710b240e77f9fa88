"""Tool definitions: which are accepted, and which have changed since."""
