"""The add-on that lets mcptui introduce itself to a server as another host, and says what that host drops."""
