"""`mcptui test --load`: many calls of a server at once, and how long they take."""
