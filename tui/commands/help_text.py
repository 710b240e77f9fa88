"""Layout of `--help`, with lines that fit the terminal; errors about words and values.

Loads the standard library only.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from typing import Any, NoReturn, TextIO

    from _typeshed import SupportsWrite


class HelpText(argparse.HelpFormatter):
    """Wraps the paragraphs of descriptions and epilogs, but not their indented lines (examples, lists)."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        import textwrap

        return "\n".join(
            block if block.startswith(" ") else textwrap.fill(block, width) for block in blocks(text)
        )


class Parser(argparse.ArgumentParser):
    """A parser whose errors have the form of all others. It fails if help or version cannot be printed."""

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        if message:
            (file or sys.stderr).write(message)

    def _check_value(self, action: argparse.Action, value: "Any") -> None:
        check_action(self, action, value)
        if action.choices is not None and value not in action.choices:
            *others, last = map(str, action.choices)
            expected = f"{', '.join(others)} or {last}" if others else last
            raise argparse.ArgumentError(action, str(invalid(expected, str(value))))

    def error(self, message: str) -> "NoReturn":
        """Exit with an error in one line, as `print_error` writes it."""
        said = message.removeprefix("argument ")
        said = said.replace(": not allowed with argument ", " cannot be combined with ")
        missing = said.removeprefix("the following arguments are required: ")
        if missing != said:
            said = f"{missing} {'are' if ',' in missing else 'is'} required"
        step = "" if said.endswith("?") else f". See {self.prog} --help"
        self.exit(2, f"mcptui: {said}{step}\n")


def invalid(expected: str, given: str) -> argparse.ArgumentTypeError:
    """Return the error for an invalid option value: "must be a positive integer, not "x""."""
    return argparse.ArgumentTypeError(f"must be {expected}, not {_quoted(given)}")


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


def help_text(prog: str) -> HelpText:
    """Return a formatter as wide as the terminal."""
    return HelpText(prog, width=columns() - 2)


def columns(stream: "TextIO | None" = None) -> int:
    """Return what `shutil.get_terminal_size()` does, whose import takes a tenth of `--help`.

    `stream` is the terminal, stdout by default.
    """
    stream = stream or sys.__stdout__
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(stream.fileno()).columns if stream else 0
        except (ValueError, OSError):
            columns = 0
    return columns or 80


_VALUED = ("--config", "--model", "--theme", "--lang", "--session")
"""Options before a command that take a value."""


def check_beginning(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """Exit with an error about an unknown option before the command, or an unknown command.

    argparse would take the value of an unknown option for the command.
    """
    options, known = [*_options(parser)], [*_commands(parser)]
    words = iter(given)
    for word in words:
        name, _, value = word.partition("=")
        if word == "--" or word in known:
            return
        if not word.startswith("-"):
            parser.error(_unknown("command", word, [*listed_commands(parser)]))
        if not any(option.startswith(name) for option in options):
            parser.error(_unknown("option", name, options))
        if not value and _takes_value(name):
            next(words, None)


def check_action(parser: argparse.ArgumentParser, action: argparse.Action, value: object) -> None:
    """Exit with an error about an unknown action, such as `config shwo`, or an unknown command."""
    if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
        kind = "action" if " " in parser.prog else "command"
        parser.error(_unknown(kind, str(value), [*listed_commands(parser)]))


def refuse_rest(parser: argparse.ArgumentParser, args: argparse.Namespace, rest: Sequence[str]) -> None:
    """Exit with an error about the first word after the command that is not valid there."""
    command = _parser_of(parser, args)
    name = rest[0].partition("=")[0]
    if getattr(args, "action", "") == "key":  # it may be the key, which is not repeated
        command.error(
            "the key is not an argument: other programs could read it. Paste it when asked, or pipe it"
        )
    if not name.startswith("-"):
        command.error(f"unexpected argument {_quoted(rest[0])}")
    if name in _options(parser):
        command.error(f"the option {_quoted(name)} goes before the command")
    command.error(_unknown("option", name, [*_options(command)]))


def command_word(given: Sequence[str]) -> str:
    """Return the command: the first word that is neither an option nor an option's value."""
    words = iter(given)
    for word in words:
        if not word.startswith("-"):
            return word
        if _takes_value(word):
            next(words, None)
    return ""


def _takes_value(word: str) -> bool:
    """Return whether this option, which may be abbreviated, takes the next word as its value."""
    return len(word) > 2 and any(option.startswith(word) for option in _VALUED)


def _parser_of(parser: argparse.ArgumentParser, args: argparse.Namespace) -> argparse.ArgumentParser:
    for action in parser._actions:
        name = getattr(args, action.dest, None)
        if isinstance(action, argparse._SubParsersAction) and name in action.choices:
            return _parser_of(action.choices[name], args)
    return parser


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices


def listed_commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands or actions of a parser that the help lists."""
    found = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {one.dest: action.choices[one.dest] for action in found for one in action._choices_actions}


def _quoted(word: str) -> str:
    from tui.core.text import quoted_name  # not needed for the help

    return quoted_name(word)


def _unknown(kind: str, wrong: str, known: Sequence[str]) -> str:
    from tui.core.addons import missing
    from tui.settings.problems import did_you_mean

    if needed := missing(kind, wrong):
        return needed
    hint = did_you_mean(wrong, known)
    return f"unknown {kind} {_quoted(wrong)}{f', {hint}' if hint else ''}"
