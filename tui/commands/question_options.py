"""The options that answer what servers ask where nobody is asked. Loads the standard library only."""

import argparse


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """Add `--elicit`, `--sampling` and `--root`, for commands without a screen."""
    asked = parser.add_argument_group("what servers may ask")
    asked.add_argument(
        "--elicit",
        metavar="decline|defaults|@FILE",
        default="decline",
        type=_elicit,
        help="answer their forms: decline (default), with the defaults of each form, or with the values in a "
        "JSON file, an object or one for each form in order",
    )
    asked.add_argument(
        "--sampling",
        choices=("never", "allow"),
        help="whether they may ask the model; without it as configured, and where that is `ask`, no",
    )
    asked.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="directory to give every server as a root, instead of the configured ones; repeatable",
    )


def _elicit(text: str) -> str:
    if text not in ("decline", "defaults") and not (text.startswith("@") and len(text) > 1):
        raise argparse.ArgumentTypeError(f"must be decline, defaults or @FILE, not {text!r}")
    return text
