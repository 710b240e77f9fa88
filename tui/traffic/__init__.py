"""What happened, as data; knows no screen."""
