"""What a server offers: kept fresh, and without what nobody has accepted."""
