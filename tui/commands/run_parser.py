"""The command line of `mcptui run`."""

import argparse
from collections.abc import Callable


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    common: Callable[[argparse.ArgumentParser], None],
) -> None:
    """Add `run` to the commands; `common` adds the options that every command has."""
    run = commands.add_parser(
        "run",
        help="ask one question without a screen",
        description="Ask one question without a screen: the answer goes to stdout, the trace to stderr.",
    )
    common(run)
    _add_question(run)
    run.add_argument("--json", action="store_true", help="print one JSON object a line on stdout instead")
    run.add_argument("--server", action="extend", nargs="+", metavar="NAME", help="start these servers only")
    run.add_argument("--max-steps", type=_positive, metavar="N", help="model requests at most")
    run.add_argument(
        "--approve",
        choices=("ask", "reads", "all", "none"),
        default="ask",
        help="which calls may run: ask on the terminal (default), only read-only ones, all, none",
    )


def _add_question(run: argparse.ArgumentParser) -> None:
    """Add what belongs to the question and to the conversation it is part of."""
    run.add_argument(
        "prompt",
        nargs="?",
        metavar="PROMPT",
        help="the question; what is piped in is added to it; - or nothing reads it from stdin",
    )
    run.add_argument(
        "--file", action="append", metavar="PATH", default=[], help="attach a file; may be given again"
    )
    run.add_argument("--stdin", action="store_true", help="wait for stdin, and add it to the question")
    run.add_argument("--system", metavar="TEXT|@FILE", help="another system text")
    run.add_argument("--output", metavar="FILE", help="write the answer to this file")
    which = run.add_mutually_exclusive_group()
    which.add_argument(
        "--session", metavar="NAME", help="go on with this saved conversation, or begin one of this name"
    )
    which.add_argument("--resume", action="store_true", help="go on with the last saved conversation")


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")
    return int(text)
