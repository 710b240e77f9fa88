"""Finding and masking secrets in text and bytes."""
