"""`mcptui decisions`: the record of what was allowed and denied."""
