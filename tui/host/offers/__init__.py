"""The offers of servers: kept fresh, and without definitions that are not accepted."""
