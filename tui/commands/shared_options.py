"""Options that several commands have, and those of add-ons. Loads the standard library only.

The flags of an add-on are a table. `fill` adds them to the parser. `usage`, `examples` and `notes` are lines
for the help. If an argument of `deeds` is given, `run` acts in place of the command; those of one add-on can
be combined. With `several`, `run` takes several recordings. `check` raises UsageError if arguments contradict
each other.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from tui.commands.help_text import Parser, invalid, refuse_rest
from tui.core.addons import FLAGS, brings, every, not_installed

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RECORDING = "a .mcptrace or .jsonl file, or the start or end of a name from traffic --list"


def flag(parser: argparse._ActionsContainer, name: str, text: str, *, default: bool | str = False) -> None:
    """Add an option without a value. One that is accepted before and after the command has no default."""
    parser.add_argument(name, action="store_true", default=default, help=text)


def option(
    parser: argparse._ActionsContainer, name: str, metavar: "str | None", text: str, **more: "Any"
) -> None:
    """Add an argument, or an option with a value; `name` may be several names, separated by spaces."""
    parser.add_argument(*name.split(), metavar=metavar, help=text, **more)


def repeatable(parser: argparse._ActionsContainer, name: str, metavar: str, text: str) -> None:
    """Add an option that can be given several times."""
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=text)


def add_common(parser: argparse.ArgumentParser, *, model: bool = True, starts: bool = True) -> None:
    """Add `--config`, `--trust-config` if the command starts servers, and the options of the model."""
    suppress = argparse.SUPPRESS
    option(parser, "--config", "FILE", "configuration file: TOML, or JSON with mcpServers", default=suppress)
    if starts:
        add_trust(parser)
    if model:
        option(parser, "--model", "PROFILE", "model profile to use", default=suppress)
        flag(parser, "--demo", "use the offline demo model (rule-based)", default=argparse.SUPPRESS)


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """Add `--elicit`, `--sampling`, `--root` and `--accept-…`, for commands without a screen."""
    asked = parser.add_argument_group("requests from servers")
    text = (
        "answer forms: decline (default), defaults (the default values of each form), or @FILE (a JSON "
        "object, or an array with one object per form)"
    )
    option(asked, "--elicit", "decline|defaults|@FILE", text, default="decline", type=_elicit)
    text = "whether servers may use the model (default: from the configuration, with ask treated as never)"
    option(asked, "--sampling", None, text, choices=("never", "allow"))
    text = "a root directory for every server, instead of the configured roots (repeatable)"
    repeatable(asked, "--root", "DIR", text)
    text = (
        "accept tools and instructions that changed since they were accepted, except suspicious ones "
        "(default: do not offer them to the model)"
    )
    flag(asked, "--accept-changes", text)
    flag(asked, "--accept-suspicious", "also accept suspicious changes (read them first)")


def add_unconfigured(parser: argparse._ActionsContainer) -> None:
    """Add the options of a server that is given as a URL or a command."""
    repeatable(parser, "--header", "NAME: VALUE", "an HTTP header for a URL")
    repeatable(parser, "--env", "NAME=VALUE", "an environment variable for a command")
    text = "transport (default: stdio for a command, http for a URL)"
    option(parser, "--transport", None, text, choices=("stdio", "http", "sse", "websocket", "lines"))
    text = "legacy (up to 2025-11-25, no probe), modern (2026-07-28, no fallback) or auto (default)"
    option(parser, "--era", None, f"protocol era: {text}", choices=("auto", "legacy", "modern"))


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add `--trust-config` for commands that start servers; it is accepted before and after the command."""
    text = (
        "for this run, use every setting of a configuration that is not your own, such as --config FILE, "
        "and start servers that need consent without asking"
    )
    flag(parser, "--trust-config", text, default=argparse.SUPPRESS)


def _elicit(text: str) -> str:
    if text not in ("decline", "defaults") and not (text.startswith("@") and len(text) > 1):
        raise invalid("decline, defaults or @FILE", text)
    return text


def add_wide(parser: argparse._ActionsContainer, **more: "Any") -> None:
    """Add `--wide`."""
    flag(parser, "--wide", "print rows of tables on one line, also if the terminal is narrower", **more)


def count(text: str) -> int:
    """Return a number of lines or steps, at least 1; raises ArgumentTypeError."""
    if not text.strip().isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise invalid("an integer from 1 to 1000000", text)
    return int(text)


def report(text: str) -> tuple[str, str]:
    """Return the kind and the file of `--report KIND=FILE`; raises ArgumentTypeError."""
    kind, mark, file = text.partition("=")
    if not (kind and mark and file):
        raise invalid("KIND=FILE, such as junit=report.xml", text)
    return kind, file


def parse_trailing(
    args: argparse.Namespace, name: str, fill: "Callable[[argparse.ArgumentParser], None]", **about: "Any"
) -> None:
    """Parse the options after the first word of the arguments `name`, which argparse takes for more words."""
    first, *rest = vars(args)[name]
    parser = Parser(**about)
    fill(parser)
    _, unknown = parser.parse_known_args(rest, namespace=args)
    if unknown:
        refuse_rest(parser, args, unknown)
    setattr(args, name, [first, *vars(args)[name]])


def flags_of(command: str) -> "Iterator[Mapping[str, Any]]":
    """Yield the flags that installed add-ons bring to a command."""
    for addon in FLAGS[command]:
        if (brought := brings(addon)) is not None:
            yield brought["flags"][command]


def fill_addon_flags(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the flags of add-ons to a command, and themselves to its arguments as `addon_flags`.

    Flags of a missing add-on are not shown. An error says that it is not installed.
    """
    found = []
    for addon, names in FLAGS[command].items():
        if (brought := brings(addon)) is not None:
            found.append(brought["flags"][command])
            found[-1]["fill"](parser)
            continue
        for name in names:
            parser.add_argument(name, nargs="*", action=_Missing, const=addon, help=argparse.SUPPRESS)
    parser.set_defaults(addon_flags=found)


class _Missing(argparse.Action):
    """A flag of an add-on that is not installed: an error in one sentence."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: "str | Sequence[Any] | None",
        option_string: str | None = None,
    ) -> None:
        parser.error(not_installed(str(self.const), option_string or ""))


# ---- call, read, prompt, list ----

VERBS = ("call", "read", "prompt", "list")

_SERVER = """\
SERVER is the name of a configured server, HOST:NAME for a server of another
host (mcptui config hosts), or a URL. To start a server by its command, leave
SERVER out and put the command line last, after --.
"""
_EXIT_CODES = """
exit codes:
  0    success
  1    the tool or the server returned an error or no response
  2    invalid usage or configuration, or the output cannot be written
  3    timeout
  5    the server could not be started
  130  interrupted
"""
_ABOUT = {
    "call": f"""\
Call a tool of a server. mcptui starts only that server, and stops it afterwards.

  mcptui call weather get_weather location=Beijing
  mcptui call https://mcp.example.com/mcp search query="error 402" limit=5
  mcptui call get_current_time timezone=UTC -- uvx mcp-server-time
  mcptui call files write_file --args @arguments.json
  mcptui call weather get_weather location=Beijing --json | jq .content

{_SERVER}
Values are parsed by the tool's input schema: numbers, booleans, arrays and
objects as JSON (tags='["a", "b"]'), strings unchanged. Unknown or invalid
arguments are rejected before the tool is called.
""",
    "read": f"""\
Read a resource from a server.

  mcptui read notes notes://all
  mcptui read files file:///home/me/picture.png -o picture.png
  mcptui read notes://all -- python server.py

{_SERVER}
The content is written unchanged to a file or a pipe. On a terminal, control
characters are made visible, and binary content is rejected.
""",
    "prompt": f"""\
Get a prompt from a server. Its arguments are strings.

  mcptui prompt notes summarize_notes
  mcptui prompt review language=Python -- python server.py

{_SERVER}""",
    "list": f"""\
List what a server offers, or one kind of it. KIND is tools, resources, prompts{{kinds}}.

  mcptui list weather
  mcptui list weather tools --json
  mcptui list https://mcp.example.com/mcp prompts
  mcptui list -- npx -y @modelcontextprotocol/server-everything
  mcptui list --search "read file"               on all configured servers

{_SERVER}""",
}
_WORDS = {
    "call": ("SERVER TOOL [NAME=VALUE ...]", "TOOL [NAME=VALUE ...]"),
    "read": ("SERVER URI", "URI"),
    "prompt": ("SERVER NAME [NAME=VALUE ...]", "NAME [NAME=VALUE ...]"),
    "list": ("SERVER [KIND]", "[KIND]"),
}
_HELP = {
    "call": "call a tool of a server",
    "read": "read a resource from a server",
    "prompt": "get a prompt from a server",
    "list": "list the tools, resources and prompts of a server",
}


def usage(verb: str) -> str:
    """Return the two forms of the command line: a server first, or a command after `--`."""
    named, behind = _WORDS[verb]
    return (
        f"mcptui {verb} {named} [OPTION ...]\n       mcptui {verb} {behind} [OPTION ...] -- COMMAND [ARG ...]"
    )


def add_calls(add: "Callable[..., None]") -> None:
    """Add the four commands with `add(name, fill, help=…, …)`."""
    brought = "".join(f", {name}" for name, _ in every("listing"))
    for verb in VERBS:
        about = _ABOUT[verb].replace("{kinds}", brought)
        add(
            verb,
            partial(_fill, verb),
            help=_HELP[verb],
            usage=usage(verb),
            description=about,
            epilog=_EXIT_CODES,
        )


def _fill(verb: str, parser: argparse.ArgumentParser) -> None:
    option(parser, "words", "WORD", argparse.SUPPRESS, nargs="*")
    shape = "one JSON object" if verb == "list" else "the server's full response as JSON"
    flag(parser, "--json", f"print {shape}")
    if verb == "list":
        text = "search in names, descriptions and arguments: of SERVER, or of all configured servers"
        option(parser, "--search", "WORDS", text)
        add_wide(parser)
    if verb == "call":
        text = "all arguments as one JSON object (@FILE reads a file, - reads stdin)"
        option(parser, "--args", "JSON|@FILE|-", text)
        flag(parser, "--unchecked", "send --args without validating them")
    if verb in ("call", "read"):
        text = "write the result to FILE (further images and files to FILE-2, FILE-3, …)"
        option(parser, "-o --output", "FILE", text)
    text = (
        "timeout of the request in seconds, after the server has started (progress restarts it, up to ten "
        "times N)"
    )
    option(parser, "--seconds", "N", text, type=seconds)
    fill_addon_flags(parser, verb)
    add_one_server(parser)


def add_one_server(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that starts one server, configured or named by a URL or a command."""
    add_question_options(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="print the server's log to stderr")
    add_unconfigured(parser.add_argument_group("for a URL or a command that is not configured"))
    option(parser, "--config", "FILE", "configuration file that defines SERVER", default=argparse.SUPPRESS)
    add_trust(parser)


def seconds(text: str, most: int = 86_400) -> float:
    """Return a number of seconds; raises ArgumentTypeError."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= most:
        raise invalid(f"a number of seconds, more than 0, at most {most}", text)
    return found
