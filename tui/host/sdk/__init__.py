"""What bends the SDK: its import, its log."""
