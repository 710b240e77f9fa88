"""Building blocks that know nothing of mcptui's stores."""
