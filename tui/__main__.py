"""Starts mcptui, also with `python -m tui`. Ctrl+c has no traceback, not even during the first import."""


def main() -> int:
    """Run the command line of this process and return the exit code."""
    try:
        from tui.cli import main as run
    except KeyboardInterrupt:
        return 130
    return run()


if __name__ == "__main__":
    raise SystemExit(main())
