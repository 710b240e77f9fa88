"""The command line: every command with its options. Loads the standard library only."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

import tui
from tui.commands.call.options import add_calls
from tui.commands.packages.options import add_packed_options, add_search
from tui.commands.question_options import add_question_options

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from typing import Any

    from _typeshed import SupportsWrite

    Actions = argparse._SubParsersAction[argparse.ArgumentParser]

DESCRIPTION = "A full-screen terminal host for the Model Context Protocol."
EPILOG = """\
without a command, mcptui opens full screen. Nothing configured is fine: it starts with a demo model
and sample servers, offline.

exit codes: 0 answered or closed, 2 usage, configuration or output, 3 a limit ended the turn or cut it,
4 model error, 5 no wanted server could be started, 130 interrupted
"""
SESSIONS_ABOUT = """\
Saved conversations: list, search, read, rename, delete, export them, or take one in. Without an action the
newest are listed.

  mcptui sessions search "error 402"            where something was said, in all of them
  mcptui sessions export last --as html --output talk.html
"""
SESSIONS_EPILOG = """\
ID is the id that the list prints, its beginning or end, a title, or last: the one changed last.
exit codes: 0 done; 2 usage, or no such conversation; 130 interrupted
"""
ID = "an id, its beginning or end, a title, or last"
TAP_USAGE = "mcptui tap [--name NAME] -- COMMAND [ARG ...]\n       mcptui tap --listen PORT --to URL"
TAP_ABOUT = """\
Stand between another host and its MCP server and record what travels. The host starts this in place of
the server; bytes, ends, signals and the exit code pass as they are, and recording never holds them up.
"""
LOGIN_ABOUT = (
    "Sign in to a remote server: a browser opens after you agree, and the tokens are kept in"
    " the keychain, or else in a file that only you can read."
)
ADD_USAGE = """\
mcptui add [OPTION ...] URL
       mcptui add [OPTION ...] COMMAND [ARG ...]
       mcptui add [OPTION ...] NAME|FILE.mcpb"""
ADD_ABOUT = """\
Add a server to the configuration: the address of a remote one, the command that starts one, the name of
one in a registry, or a bundle.

  mcptui add https://mcp.example.com/mcp
  mcptui add https://mcp.example.com/mcp --header 'Authorization: Bearer ${EXAMPLE_TOKEN}'
  mcptui add npx -y @modelcontextprotocol/server-everything
  mcptui add --name files --env LOG=debug -- python server.py --verbose
  mcptui add io.github.example/weather          (a name that mcptui search prints)
  mcptui add weather.mcpb --set units=metric --sha256 HEX

What stands behind a command belongs to it, so options of mcptui go before it. What will be written is shown.
"""
RECORDING = "a .mcptrace or .jsonl file, or the beginning or end of a name that traffic --list prints"
TRAFFIC_ABOUT = """\
Read a recording: the one that is named, the one with the newest entry, or with --since or --all those of
a time, oldest first, and each line says which. On a terminal and without an option the traffic screen opens;
otherwise it is printed.

  mcptui traffic --since 1h --slowest     the slowest calls of the last hour, whatever ran in it
  mcptui traffic --since 1h --failed      the calls that failed in it
  mcptui traffic --lint                   what breaks the protocol in the newest recording
"""
TRAFFIC_EPILOG = """\
exit codes: 0 done; 1 --lint found errors, or --replay found differences; 2 usage, or no such recording;
5 --replay: the server could not be started; 130 interrupted
"""
_VALUED = ("--config", "--model", "--theme", "--session")
"""Options in front of a command that take a value."""
MOCK_ABOUT = """\
Answer over stdio as the server of a recording did: the same request gets the recorded answer, and one that
was never recorded gets an error that says what was.
"""


class _Parser(argparse.ArgumentParser):
    """Fails if help or version cannot be printed; argparse ignores that."""

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        if message:
            (file or sys.stderr).write(message)


class _Command(_Parser):
    """The parser of a command, built at its first use: all of them together take longer than `--help`."""

    fill: "Callable[[argparse.ArgumentParser], object] | None" = None
    """Adds its options."""

    def __init__(self, **about: "Any") -> None:
        self._about: dict[str, Any] = about

    def __getattr__(self, name: str) -> "Any":
        about = self.__dict__.pop("_about", None)
        if about is None:
            raise AttributeError(name)
        super().__init__(**about)
        if self.fill is not None:
            self.fill(self)
        return getattr(self, name)


def _columns() -> int:
    """Return what `shutil.get_terminal_size()` would, whose import takes a tenth of `--help`."""
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


def _filled(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, width=_columns() - 2)


def _raw(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=_columns() - 2)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser: argparse.ArgumentParser = _Parser(
        prog="mcptui", description=DESCRIPTION, epilog=EPILOG, formatter_class=_raw
    )
    parser.add_argument("--version", action="version", version=f"mcptui {tui.__version__}")
    _common(parser)
    parser.add_argument("--theme", metavar="NAME", help="theme for this time (ctrl+t chooses and saves one)")
    _no_start(parser, help="start no server by itself", default=False)
    parser.add_argument("--no-servers", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--session", metavar="NAME", help="go on with this saved conversation")
    parser.add_argument("--resume", action="store_true", help="go on with the last saved conversation")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", parser_class=_Command
    )

    def add(
        name: str,
        fill: Callable[[argparse.ArgumentParser], object],
        *,
        raw: bool = True,
        **about: "Any",
    ) -> None:
        command = commands.add_parser(name, formatter_class=_raw if raw else _filled, **about)
        command.fill = fill

    about = "Ask one question without a screen: the answer goes to stdout, the trace to stderr."
    add("run", _fill_run, raw=False, help="ask one question without a screen", description=about)
    add_calls(add)
    about = "Start every configured server, print how it went, and stop them all."
    short = "start every configured server, say how it went, stop them"
    add("servers", _fill_servers, raw=False, help=short, description=about)
    add_search(add)
    short = "add a server to the configuration: a URL or a command"
    add("add", add_options, help=short, usage=ADD_USAGE, description=ADD_ABOUT)
    about = "Remove a server from the configuration. Comments of other servers stay."
    add("remove", _fill_remove, raw=False, help="remove a server from the configuration", description=about)
    add("login", _fill_sign_in, raw=False, help="sign in to a remote server", description=LOGIN_ABOUT)
    about = "Delete the tokens of a remote server from this machine."
    add("logout", _fill_sign_in, raw=False, help="delete the tokens of a remote server", description=about)
    add("config", _fill_config, raw=False, help="show, check or begin the configuration")
    short = "list, search, read, export, delete saved conversations"
    add("sessions", _fill_sessions, help=short, description=SESSIONS_ABOUT, epilog=SESSIONS_EPILOG)
    short = "stand between another host and its server, and record what travels"
    add("tap", _fill_tap, help=short, usage=TAP_USAGE, description=TAP_ABOUT)
    short = "read a recording: list, filter, judge, measure, export, replay"
    add("traffic", _fill_traffic, help=short, description=TRAFFIC_ABOUT, epilog=TRAFFIC_EPILOG)
    assert isinstance(commands.choices, dict)
    # Its former name, which the help does not mention.
    commands.choices["trace"] = commands.choices["traffic"]
    short = "answer over stdio from a recording, in place of the server"
    add("mock", _fill_mock, help=short, description=MOCK_ABOUT)
    return parser


def command_word(given: Sequence[str]) -> str:
    """Return the command of a command line: the first word that is neither an option nor the value of one."""
    words = iter(given)
    for word in words:
        if not word.startswith("-"):
            return word
        if len(word) > 2 and any(option.startswith(word) for option in _VALUED):
            next(words, None)
    return ""


def parse_tap(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of `mcptui tap` without building the whole command line.

    What stands behind the first `--` is the server's command and never read as an option of ours.
    """
    parser = argparse.ArgumentParser(
        prog="mcptui tap",
        usage=TAP_USAGE,
        description=TAP_ABOUT,
        formatter_class=_raw,
    )
    _fill_tap(parser)
    given = list(argv)
    cut = given.index("--") if "--" in given else len(given)
    args = parser.parse_args(given[:cut])
    args.server_command += given[cut + (0 if args.server_command else 1) :]
    return args


def _common(parser: argparse.ArgumentParser, *, model: bool = True) -> None:
    suppress = argparse.SUPPRESS
    parser.add_argument(
        "--config", metavar="FILE", default=suppress, help="configuration: TOML, or a mcpServers JSON file"
    )
    if model:
        parser.add_argument("--model", metavar="PROFILE", default=suppress, help="model profile to use")
        parser.add_argument(
            "--demo", action="store_true", default=suppress, help="use the offline demo model (rule-based)"
        )


def _no_start(parser: argparse.ArgumentParser, *, help: str, default: bool | str) -> None:
    """Add `--no-start`: before a command and after it."""
    parser.add_argument("--no-start", action="store_true", default=default, help=help)


def _fill_run(run: argparse.ArgumentParser) -> None:
    _common(run)
    _add_question(run)
    run.add_argument("--json", action="store_true", help="print one JSON object a line on stdout instead")
    servers = run.add_mutually_exclusive_group()
    servers.add_argument(
        "--server", action="extend", nargs="+", metavar="NAME", help="start these servers only"
    )
    servers.add_argument(
        "--no-servers", action="store_true", default=argparse.SUPPRESS, help="start no server"
    )
    _no_start(run, help="start no server but those of --server", default=argparse.SUPPRESS)
    run.add_argument("--max-steps", type=_positive, metavar="N", help="model requests at most")
    run.add_argument(
        "--approve",
        choices=("ask", "reads", "all", "none"),
        default="ask",
        help="which calls may run: ask on the terminal (default), only read-only ones, all, none",
    )
    add_question_options(run)


def _add_question(run: argparse.ArgumentParser) -> None:
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


def _fill_servers(servers: argparse.ArgumentParser) -> None:
    _common(servers, model=False)
    servers.add_argument("--json", action="store_true", help="print one JSON array")


def _fill_sign_in(parser: argparse.ArgumentParser) -> None:
    _common(parser, model=False)
    parser.add_argument("server", metavar="SERVER", help="a configured server, or an address")


def _fill_remove(remove: argparse.ArgumentParser) -> None:
    remove.add_argument("server", metavar="NAME", help="the server")
    _common(remove, model=False)


def add_options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the options of `mcptui add` and return the parser."""
    parser.add_argument("--name", metavar="NAME", help="its name; by default from its address or package")
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="a variable for a command"
    )
    parser.add_argument(
        "--header", action="append", default=[], metavar="NAME: VALUE", help="an HTTP header for an address"
    )
    parser.add_argument(
        "--transport",
        choices=("stdio", "http", "sse", "websocket", "lines"),
        help="how to talk to it, if not stdio for a command and HTTP for an address",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be written, and write nothing"
    )
    add_packed_options(parser)
    _common(parser, model=False)
    parser.add_argument(
        "target", nargs=argparse.REMAINDER, metavar="URL|COMMAND|NAME|FILE", help="what to add"
    )
    return parser


def _fill_config(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    about = {
        "path": "print where the configuration file is",
        "show": "print what it comes to, defaults included and secrets masked",
        "check": "print all that is wrong with it, with key and line; exit code 2 if anything is",
        "init": "write a commented starter file, unless there is one",
        "import": "take over the servers of another host: Claude, Cursor, VS Code, Zed, Gemini CLI and more",
        "learned": "print what models' endpoints were found to refuse, or forget it",
    }
    for name, text in about.items():
        action = actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        action.add_argument(
            "--config",
            metavar="FILE",
            default=argparse.SUPPRESS,
            help="the file to work on, if not the usual one",
        )
        if name == "init":
            action.add_argument("--print", action="store_true", help="print the starter, and write nothing")
        if name == "learned":
            action.add_argument("--forget", action="store_true", help="forget all of it, and learn anew")
        if name == "import":
            action.add_argument("file", metavar="FILE", help="the other host's JSON file")
            action.add_argument(
                "--dry-run", action="store_true", help="say what would be done, and do nothing"
            )


def _fill_sessions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    _add_looking(actions)
    _add_changing(actions)
    _add_files(actions)


def _add_looking(actions: "Actions") -> None:
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


def _add_changing(actions: "Actions") -> None:
    rename = _action(actions, "rename", "give a conversation another title")
    rename.add_argument("session", metavar="ID", help=ID)
    rename.add_argument("title", metavar="TITLE", help="the title")
    delete = _action(actions, "delete", "delete conversations; they can be brought back for 30 days")
    delete.add_argument("sessions", nargs="+", metavar="ID", help=ID)
    restore = _action(actions, "restore", "bring back a deleted conversation")
    restore.add_argument("session", metavar="ID", help=ID)


def _add_files(actions: "Actions") -> None:
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


def _action(actions: "Actions", name: str, about: str) -> argparse.ArgumentParser:
    action = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
    # After the action it must not override the same option before it.
    action.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object a line"
    )
    return action


def _fill_tap(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", metavar="NAME", help="how the server is called in the recording")
    parser.add_argument("--listen", type=_port, metavar="PORT", help="serve HTTP on 127.0.0.1:PORT instead")
    parser.add_argument("--to", metavar="URL", help="the HTTP server that --listen stands in front of")
    parser.add_argument(
        "server_command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the server's command, behind --"
    )


def _fill_traffic(traffic: argparse.ArgumentParser) -> None:
    traffic.add_argument("recording", nargs="?", metavar="FILE|SESSION", help=RECORDING)
    traffic.add_argument("--list", action="store_true", help="print the recordings kept, newest first")
    traffic.add_argument("--filter", metavar="EXPR", help='only these, e.g. "method:tools/* latency:>200ms"')
    traffic.add_argument("--failed", action="store_true", help="only calls that failed, each once")
    traffic.add_argument(
        "--since",
        metavar="TIME",
        help="only from then on, such as 1h, 14:05, 2026-11-20; of all recordings if none is named",
    )
    traffic.add_argument("--all", action="store_true", help="read all recordings")
    traffic.add_argument("--json", action="store_true", help="print one JSON object a line")
    traffic.add_argument("--lint", action="store_true", help="print what is wrong; exit code 1 for errors")
    traffic.add_argument("--stats", action="store_true", help="print calls, errors and times of each tool")
    traffic.add_argument(
        "--slowest",
        nargs="?",
        const=10,
        type=_count,
        metavar="N",
        help="print the N calls that took longest (10), slowest first; no starts and lists unless asked for",
    )
    traffic.add_argument(
        "--follow", action="store_true", help="go on printing what comes, as long as it is live"
    )
    traffic.add_argument(
        "--export", choices=("jsonl", "md", "har", "html"), help="write the entries in this format"
    )
    traffic.add_argument("-o", "--output", metavar="FILE", help="where --export writes, if not to stdout")
    traffic.add_argument(
        "--replay",
        nargs="?",
        const="",
        metavar="SERVER",
        help="send the requests to a configured server (or to -- COMMAND ARG ...), print what differs",
    )
    traffic.add_argument("--server", metavar="NAME", help="which server of the recording --replay takes")
    traffic.add_argument(
        "--mask", action="append", metavar="PATH", help="--replay: a value that may differ, e.g. $.time"
    )
    traffic.add_argument(
        "--config", metavar="FILE", default=argparse.SUPPRESS, help="configuration that names SERVER"
    )


def _fill_mock(mock: argparse.ArgumentParser) -> None:
    mock.add_argument("recording", metavar="FILE|SESSION", help=RECORDING)
    mock.add_argument("--server", metavar="NAME", help="which server of the recording, if it has several")
    mock.add_argument("--timing", action="store_true", help="take as long for each answer as the server did")


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")
    return int(text)


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("must be 0 to 65535; 0 takes any free one")
    return port


def _count(text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")
    return int(text)
