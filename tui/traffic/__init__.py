"""Traffic as data: recording, filtering, linting, explaining, replaying. No I/O."""
