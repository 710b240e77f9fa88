"""Events of servers: subscriptions, their delivery, and the inbox (SEP-3415)."""
