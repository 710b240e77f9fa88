"""What follows a run: the last runs, and reviewing what failed."""
