"""Building blocks that are independent of mcptui's stores."""
