"""Skills that servers serve (SEP-2640): listed, checked against their manifest, approved, and loaded."""
