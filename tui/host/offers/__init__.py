"""What a server offers: kept fresh, and without definitions that are not accepted."""
