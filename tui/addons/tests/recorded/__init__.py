"""Expectations on recordings, which `mcptui traffic` judges: `--expect-tool`, `--no-errors` and others."""
