"""Command-line options of `mcptui sessions`. Loads the standard library only."""

import argparse

from tui.commands.shared_options import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    Actions = argparse._SubParsersAction[argparse.ArgumentParser]

SESSIONS_ABOUT = """\
List, search, show, rename, delete, export and import sessions: saved conversations. Without an action, list
them.

  mcptui sessions search "error 402"    search the messages of all sessions
  mcptui sessions export last --as html --output talk.html
"""
SESSIONS_EPILOG = """\
ID is an id from the list, its start or end, a title, or "last" for the most recent session.

exit codes:
  0    success
  2    invalid usage, or session not found
  130  interrupted
"""
PER_LINE = "print one JSON object per line"
ID = 'an id, its start or end, a title, or "last"'


def fill_sessions(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `mcptui sessions` with their options."""
    parser.add_argument("--json", action="store_true", help=PER_LINE)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    _add_queries(actions)
    _add_edits(actions)
    _add_files(actions)


def _add_queries(actions: "Actions") -> None:
    listing = _action(actions, "list", "list sessions, most recent first", json=PER_LINE)
    listing.add_argument("text", nargs="?", default="", metavar="TEXT", help="only titles that contain TEXT")
    listing.add_argument("--deleted", action="store_true", help="list deleted sessions instead")
    listing.add_argument(
        "--limit", type=count, default=200, metavar="N", help="maximum number of sessions (default: 200)"
    )
    search = _action(actions, "search", "search the messages of all sessions", json=PER_LINE)
    search.add_argument("text", metavar="TEXT", help="words to find (all of them in one message)")
    search.add_argument(
        "--limit", type=count, default=100, metavar="N", help="maximum number of matches (default: 100)"
    )
    show = _action(actions, "show", "print a session as Markdown or JSON", json="print JSON")
    show.add_argument("session", metavar="ID", help=ID)


def _add_edits(actions: "Actions") -> None:
    rename = _action(actions, "rename", "rename a session")
    rename.add_argument("session", metavar="ID", help=ID)
    rename.add_argument("title", metavar="TITLE", help="the new title")
    delete = _action(actions, "delete", "delete sessions (they can be restored for 30 days)", json=PER_LINE)
    delete.add_argument("sessions", nargs="+", metavar="ID", help=ID)
    restore = _action(actions, "restore", "restore a deleted session")
    restore.add_argument("session", metavar="ID", help=ID)


def _add_files(actions: "Actions") -> None:
    export = _action(
        actions,
        "export",
        "export a session to a file or stdout",
        json="with --output: print what was written as a JSON object",
    )
    export.add_argument("session", metavar="ID", help=ID)
    export.add_argument(
        "--as",
        dest="kind",
        choices=("markdown", "json", "html"),
        help="format (default: from the file name, otherwise markdown)",
    )
    export.add_argument("--output", "-o", metavar="FILE", help="output file (default: stdout)")
    export.add_argument(
        "--redact",
        action="store_true",
        help="replace texts and values with placeholders such as <text, 12 characters>, keep names",
    )
    taking = _action(actions, "import", "import a session that was exported as JSON")
    taking.add_argument("file", metavar="FILE", help="the exported session")
    taking.add_argument(
        "--keep-system", action="store_true", help="also use its system prompt (default: only show it)"
    )
    for action in (export, taking):
        action.add_argument(
            "--config",
            metavar="FILE",
            default=argparse.SUPPRESS,
            help="configuration file whose secrets are redacted (default: see mcptui config path)",
        )


def _action(
    actions: "Actions", name: str, about: str, *, json: str = "print the result as a JSON object"
) -> argparse.ArgumentParser:
    action = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
    # If this option is missing after the action, it must not override the same option before it.
    action.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=json)
    return action
