"""`mcptui completion SHELL` and `mcptui man`: generated from the options of the command line."""

import argparse
import re
from collections.abc import Iterator

import tui
from tui.commands.command_line import build_parser
from tui.commands.help_text import HelpText, blocks, listed_commands

_OTHER_NAME = "mcptui-host"
"""The program's second name, which is that of its package, for uvx and pipx."""

_FILES = ("FILE", "PATH", "RECORDING", "TEXT|@FILE")


def completion(args: argparse.Namespace) -> int:
    """Print the script that completes commands, options and file names in `args.shell`."""
    import shtab

    parser = build_parser()
    for action in _actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab looks for it
    script: str = shtab.complete(parser, args.shell)
    if args.shell == "fish":
        script += f"\ncomplete -c {_OTHER_NAME} -w {parser.prog}"
    else:
        registered = rf"^(#compdef|\s*compdef _shtab_{parser.prog} -N|complete .*) {parser.prog}$"
        script = re.sub(registered, rf"\g<0> {_OTHER_NAME}", script, flags=re.MULTILINE)
    print(script)
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def man(_: argparse.Namespace) -> int:
    """Print the manual page in roff."""
    print("\n".join(_page(build_parser())))
    return 0


_USAGE_COLUMNS = 73
"""Width of a terminal with 80 columns, minus the indentation of man."""


def _page(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines of the manual page: like those of git, without hyphenation and justification."""
    about, exit_codes = (parser.epilog or "").split("exit codes:\n")
    yield f'.TH MCPTUI 1 "" "mcptui {tui.__version__}" "mcptui manual"'
    yield from (".nh", ".ad l", ".SH NAME", r"mcptui \- terminal host for the Model Context Protocol")
    yield from (".SH SYNOPSIS", *_usage(parser), ".SH DESCRIPTION")
    yield from _text(f"{parser.description}\n\n{about}")
    for group in parser._action_groups:
        if options := [*_options(group, parser)]:
            yield from (f".SH {_roff((group.title or '').upper())}", *options)
    yield from (".SH EXIT STATUS", *_text(exit_codes))
    for name, command in listed_commands(parser).items():
        yield from (f".SH MCPTUI {name.upper()}", *_command(command, ".SS"))


def _command(parser: argparse.ArgumentParser, heading: str) -> Iterator[str]:
    yield from _usage(parser)
    yield from _text(parser.description or "")
    for group in parser._action_groups:
        options = [*_options(group, parser)]
        title = {"positional arguments": "arguments"}.get(group.title or "", group.title or "")
        if options and heading:
            yield f"{heading} {_roff(title[:1].upper() + title[1:])}"
        yield from options
    for name, action in listed_commands(parser).items():
        yield from (f".SS {parser.prog} {name}", *_command(action, ""))
    words, _, exit_codes = (parser.epilog or "").rpartition("exit codes:\n")
    yield from _text(words)
    if exit_codes:
        yield from (f"{heading} Exit status", *_text(exit_codes))


def _usage(parser: argparse.ArgumentParser) -> Iterator[str]:
    layout = HelpText(parser.prog, width=_USAGE_COLUMNS)
    layout.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    lines = layout.format_help().splitlines()
    # Our own usage texts are indented for a prefix.
    shift = " " * (7 if parser.usage else 0)
    yield from (".nf", *(_roff(line.removeprefix(shift)) for line in lines), ".fi")


def _text(text: str) -> Iterator[str]:
    """Yield a text: paragraphs are filled, indented lines, such as examples, are unchanged."""
    is_example = False
    for line in blocks(text.strip("\n")):
        if line.startswith(" ") != is_example:
            is_example = not is_example
            yield from (".PP", ".nf") if is_example else (".fi",)
        if line:
            yield from () if is_example else (".PP",)
            yield _roff(line)
    yield from (".fi",) if is_example else ()


def _options(group: argparse._ArgumentGroup, parser: argparse.ArgumentParser) -> Iterator[str]:
    layout = HelpText(parser.prog, width=_USAGE_COLUMNS)
    for action in group._group_actions:
        if isinstance(action, argparse._SubParsersAction):
            for listed in action._choices_actions:
                yield from (".TP", rf"\fB{_roff(listed.dest)}\fR", _roff(listed.help or ""))
        elif action.help is not argparse.SUPPRESS and "--help" not in action.option_strings:
            value = "" if action.nargs == 0 else layout._format_args(action, action.dest.upper())
            if not action.option_strings:
                value = str(action.metavar or action.dest)
            names = [rf"\fB{_roff(name)}\fR" for name in action.option_strings]
            taken = [rf"\fI{_roff(value)}\fR"] if value else []
            yield from (".TP", " ".join([", ".join(names), *taken] if names else taken))
            yield _roff(layout._expand_help(action))


def _roff(text: str) -> str:
    """Return a line of text as roff, with requests and escapes disabled."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
