"""Server processes: starting, pipes, stderr, the stop ladder, the watchdog."""
