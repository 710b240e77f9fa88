"""One comparison of JSON values and of texts, with placeholders for parts that vary. Pure."""
