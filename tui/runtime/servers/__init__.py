"""What the runtime knows about servers besides their configuration."""
