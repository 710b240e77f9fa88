"""The command line of `mcptui sessions`. Imports the standard library only."""

import argparse

ABOUT = """\
Saved conversations: list, search, read, rename, delete, export them, or take one in. Without an action the
newest are listed.

  mcptui sessions search "error 402"            where something was said, in all of them
  mcptui sessions export last --as html --output talk.html
"""
EPILOG = """\
ID is the id that the list prints, its beginning or end, a title, or last: the one changed last.
exit codes: 0 done; 2 usage, or no such conversation; 130 interrupted
"""
ID = "an id, its beginning or end, a title, or last"


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `sessions` and its actions to the command line."""
    parser = commands.add_parser(
        "sessions",
        help="list, search, read, export, delete saved conversations",
        description=ABOUT,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    _add_looking(actions)
    _add_changing(actions)
    _add_files(actions)


def _add_looking(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    listing = _action(actions, "list", "print the saved conversations, the last changed first")
    listing.add_argument(
        "text", nargs="?", default="", metavar="TEXT", help="only those with it in the title"
    )
    listing.add_argument("--deleted", action="store_true", help="those that can be brought back instead")
    listing.add_argument("--limit", type=_count, default=200, metavar="N", help="this many at most (200)")
    search = _action(actions, "search", "print where something was said")
    search.add_argument("text", metavar="TEXT", help="words that all have to be in a message")
    search.add_argument("--limit", type=_count, default=100, metavar="N", help="this many at most (100)")
    show = _action(actions, "show", "print a conversation as Markdown; with --json as its JSON export")
    show.add_argument("session", metavar="ID", help=ID)


def _add_changing(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    rename = _action(actions, "rename", "give a conversation another title")
    rename.add_argument("session", metavar="ID", help=ID)
    rename.add_argument("title", metavar="TITLE", help="the title")
    delete = _action(actions, "delete", "delete conversations; they can be brought back for 30 days")
    delete.add_argument("sessions", nargs="+", metavar="ID", help=ID)
    restore = _action(actions, "restore", "bring back a deleted conversation")
    restore.add_argument("session", metavar="ID", help=ID)


def _add_files(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    export = _action(actions, "export", "write a conversation to a file, or to stdout")
    export.add_argument("session", metavar="ID", help=ID)
    export.add_argument(
        "--as",
        dest="kind",
        choices=("markdown", "json", "html"),
        help="the form; by default what the name of the file says, or markdown",
    )
    export.add_argument("--output", "-o", metavar="FILE", help="the file; stdout if none is named")
    taking = _action(actions, "import", "take in a conversation that was exported as JSON")
    taking.add_argument("file", metavar="FILE", help="the export")
    for action in (export, taking):
        action.add_argument(
            "--config",
            metavar="FILE",
            default=argparse.SUPPRESS,
            help="configuration whose secrets are taken out, if not the usual one",
        )


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, about: str
) -> argparse.ArgumentParser:
    action = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
    # Behind the action it must not undo what stood before it.
    action.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object a line"
    )
    return action


def _count(text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")
    return int(text)
