"""Layout of `--help` and of questions, with lines that fit the terminal; errors for invalid option values.

Loads the standard library only.
"""

import argparse
import os
import sys
from collections.abc import Iterator


class HelpText(argparse.HelpFormatter):
    """Wraps the paragraphs of descriptions and epilogs, but not their indented lines (examples, lists)."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        import textwrap

        return "\n".join(
            block if block.startswith(" ") else textwrap.fill(block, width) for block in blocks(text)
        )


def invalid(expected: str, given: str) -> argparse.ArgumentTypeError:
    """Return the error for an invalid option value: "must be a positive integer, not "x""."""
    from tui.core.text import quoted_name  # not needed for the help

    return argparse.ArgumentTypeError(f"must be {expected}, not {quoted_name(given)}")


def blocks(text: str) -> Iterator[str]:
    """Yield paragraphs as a whole, and empty and indented lines one by one."""
    paragraph: list[str] = []
    for line in [*text.rstrip().splitlines(), ""]:
        if line and not line.startswith(" "):
            paragraph.append(line)
            continue
        if paragraph:
            yield " ".join(paragraph)
            paragraph = []
        yield line


def between_words(text: str, as_written: str = "") -> str:
    """Return a text with its lines wrapped between words if stdout is a terminal.

    Lines that start with a match of the regular expression `as_written` are not wrapped.
    """
    if not sys.stdout.isatty():
        return text
    import re
    import textwrap

    return "\n".join(
        line
        if as_written and re.match(as_written, line)
        else textwrap.fill(
            line,
            columns(),
            subsequent_indent=" " * (len(line) - len(line.lstrip()) + (2 if line.startswith(" ") else 0)),
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.split("\n")
    )


def help_text(prog: str) -> HelpText:
    """Return a formatter as wide as the terminal."""
    return HelpText(prog, width=columns() - 2)


def columns() -> int:
    """Return the result of `shutil.get_terminal_size()`, whose import takes a tenth of `--help`."""
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 0
        except (ValueError, OSError):
            columns = 0
    return columns or 80
