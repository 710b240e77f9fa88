"""`mcptui test --fuzz`: calls tools with generated arguments, and shrinks those that break them."""
