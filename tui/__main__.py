"""Lets `python -m tui` do what the command `mcptui` does."""

from tui.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
