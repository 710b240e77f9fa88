"""Recording: captured bytes become entries and columns."""
