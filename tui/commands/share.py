"""What an export leaves out (`--without`, `--redact`), and the list of what it contains, on stderr."""

import argparse
import sys

from tui.core.errors import UsageError
from tui.storage.exports.contents import Choice, Review, portions_of


def choice_of(args: argparse.Namespace, *, is_document: bool) -> Choice:
    """Return what was chosen for an export. Raises UsageError if its format cannot leave parts out."""
    if args.without and not is_document:
        raise UsageError("--without requires Markdown or HTML")
    try:
        without = portions_of(args.without or "")
    except ValueError as error:
        raise UsageError(f"--without: {error}") from error
    return Choice(args.redact, without, Review() if is_document else None)


def say_review(choice: Choice) -> None:
    """Print what was written, by part, so that it can be judged before the file is sent."""
    if choice.review is None:
        return
    for portion, words in choice.review.lines():
        print(f"  {portion:<13}{words}", file=sys.stderr)
    if choice.words:
        print(f"  {choice.words}", file=sys.stderr)
