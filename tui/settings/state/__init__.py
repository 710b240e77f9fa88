"""What runs leave for the next one: calls, tasks and eras, each in a file."""
