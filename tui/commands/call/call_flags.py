"""Command-line options of `mcptui call`, `read`, `prompt` and `list`. Imports only the standard library."""

import argparse
from functools import partial

from tui.commands.help_text import invalid
from tui.commands.shared_options import add_question_options, add_trust, add_unconfigured, flag, option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

VERBS = ("call", "read", "prompt", "list")

_SERVER = """\
SERVER is the name of a configured server, or a URL. To start a server by its
command, leave SERVER out and put the command line last, after --.
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
List the tools, resources and prompts of a server, or one kind of them.

  mcptui list weather
  mcptui list weather tools --json
  mcptui list https://mcp.example.com/mcp prompts
  mcptui list -- npx -y @modelcontextprotocol/server-everything

{_SERVER}""",
}
_WORDS = {
    "call": ("SERVER TOOL [NAME=VALUE ...]", "TOOL [NAME=VALUE ...]"),
    "read": ("SERVER URI", "URI"),
    "prompt": ("SERVER NAME [NAME=VALUE ...]", "NAME [NAME=VALUE ...]"),
    "list": ("SERVER [tools|resources|prompts]", "[tools|resources|prompts]"),
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
    for verb in VERBS:
        fill = partial(_fill, verb)
        add(verb, fill, help=_HELP[verb], usage=usage(verb), description=_ABOUT[verb], epilog=_EXIT_CODES)


def _fill(verb: str, parser: argparse.ArgumentParser) -> None:
    option(parser, "words", "WORD", argparse.SUPPRESS, nargs="*")
    shape = "one JSON object" if verb == "list" else "the server's full response as JSON"
    flag(parser, "--json", f"print {shape}")
    if verb == "call":
        text = "all arguments as one JSON object (@FILE reads a file, - reads stdin)"
        option(parser, "--args", "JSON|@FILE|-", text)
        flag(parser, "--unchecked", "send --args without validating them")
    if verb in ("call", "read"):
        parser.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            help="write the result to FILE (further images and files to FILE-2, FILE-3, …)",
        )
    text = (
        "timeout of the request in seconds, after the server has started (progress restarts it, up to ten "
        "times N)"
    )
    option(parser, "--seconds", "N", text, type=_seconds)
    add_question_options(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="print the server's log to stderr")
    server = parser.add_argument_group("for a URL or a command that is not configured")
    add_unconfigured(server)
    option(parser, "--config", "FILE", "configuration file that defines SERVER", default=argparse.SUPPRESS)
    add_trust(parser)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 86_400:
        raise invalid("a number of seconds, more than 0, at most 86400", text)
    return found
