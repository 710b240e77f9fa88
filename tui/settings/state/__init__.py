"""State that one run leaves for the next, such as calls, tasks and eras, each in its own file."""
