"""What a request of this run or of a recording needs to be copied: its server, and the request itself."""
