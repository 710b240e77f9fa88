"""What the runtime knows of servers besides their configuration."""
