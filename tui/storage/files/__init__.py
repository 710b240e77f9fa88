"""Files of SQLite, as recordings and sessions share them: opening, locks, files of somebody else."""
