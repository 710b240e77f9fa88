"""Runs mcptui with `python -m tui`."""

from tui.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
