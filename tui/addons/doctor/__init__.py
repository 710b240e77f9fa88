"""What is wrong with a server, and what to do: an ordered checklist."""
