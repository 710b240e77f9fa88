"""The command line: every command with its options. Loads the standard library only."""

import argparse
from collections.abc import Callable, Sequence
from functools import partial

import tui
from tui.commands.help_text import (
    Parser,
    check_beginning,
    command_word,
    help_text,
    refuse_rest,
)
from tui.commands.shared_options import (
    RECORDING,
    VERBS,
    add_calls,
    add_common,
    add_question_options,
    add_unconfigured,
    count,
    fill_addon_flags,
    flag,
    flags_of,
    option,
    repeatable,
    report,
)
from tui.core.addons import every, names

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from typing import Any

DESCRIPTION = "A full-screen terminal host for the Model Context Protocol."
EPILOG = """\
Without a command, mcptui opens the full-screen app. It needs no configuration: by default it uses an
offline demo model and sample servers.

"""
EXIT_CODES = """\
exit codes:
  0    success
  2    invalid usage or configuration, or the output cannot be written
  3    a limit ended the turn
  4    model error
  5    none of the requested servers could be started
  6    the answer does not match --schema
  70   internal error (stderr names the report)
  130  interrupted
"""
SERVERS_EPILOG = """\
exit codes:
  0    every server runs
  2    invalid usage or configuration, or the output cannot be written
  5    at least one server could not be started
  130  interrupted
"""
LOGIN_ABOUT = (
    "Sign in to a remote server. A browser opens after you confirm. Tokens are stored in the"
    " keychain, or in a file that only you can read."
)
KEY_ABOUT = """\
Store the API key of a model profile, or forget it. The key is read from the terminal without echo, or from a
pipe, never from an argument. It is stored in the keychain, or in a file that only you can read, and used
instead of a key of the environment or the configuration. Without a name: print where the keys of all profiles
are.

  mcptui config key work                        paste the key when asked
  pass show work | mcptui config key work       read it from a pipe
  mcptui config key work --forget               delete it
"""
DECISIONS_ABOUT = """\
List what was allowed and denied, oldest first: tool calls, forms, URLs, and requests to the model. Each line
names what decided (a key, a rule, an option, a default, a limit) and who requested it. Arguments are not
recorded, only their digest: equal arguments have equal digests.

  mcptui decisions --since 7d --denied    what was denied in the last week
"""
TRAFFIC_ABOUT = """\
Inspect a recording. Without a name, mcptui reads the most recent one. With --since, it reads all recordings
with entries since that time. With --all, it reads every recording. The oldest comes first. On a terminal and
without options, the traffic screen opens, except for JSON Lines (.jsonl), which are printed.

  mcptui traffic --since 1h --slowest     the slowest calls of the last hour
  mcptui traffic --since 1h --failed      the failed calls of the last hour
  mcptui traffic --lint                   protocol violations in the last run
  mcptui traffic --no-errors              fail if a request of it failed
  mcptui traffic --prune --older-than 30d --except marked
"""
TRAFFIC_EPILOG = """\
exit codes:
  0    success
  1    errors of --lint, differences of --replay, or an unmet expectation
  2    invalid usage, an unreadable or unwritable file, or nothing compared
  5    the server of --replay could not be started
  130  interrupted
"""

COMPLETION_ABOUT = """\
Print a script that completes commands and options in your shell. Load it in the shell's startup file:

  bash (~/.bashrc)                     eval "$(mcptui completion bash)"
  zsh (~/.zshrc, after compinit)       eval "$(mcptui completion zsh)"
  fish (~/.config/fish/config.fish)    mcptui completion fish | source
"""


_ADD_USAGE = """\
mcptui add [OPTION ...] URL
       mcptui add [OPTION ...] COMMAND [ARG ...]"""
_ADD_ABOUT = """\
Add a server to the configuration: a URL, a command{kinds}.

  mcptui add https://example.com/mcp
  mcptui add https://example.com/mcp --header 'Authorization: Bearer ${{TOKEN}}'
  mcptui add npx -y @modelcontextprotocol/server-everything
  mcptui add --name files --env LOG=debug -- python server.py --verbose
{examples}
Options of mcptui go before the command. Everything after the command belongs to it. mcptui shows what it
writes.
"""


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
WRITTEN = "with --output: print what was written as a JSON object"
ID = 'an id, its start or end, a title, or "last"'


class _Command(Parser):
    """The parser of a command, built at its first use: building all of them would slow down `--help`."""

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


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser: argparse.ArgumentParser = Parser(
        prog="mcptui", description=DESCRIPTION, epilog=EPILOG + EXIT_CODES, formatter_class=help_text
    )
    parser.add_argument("--version", action="version", version=f"mcptui {tui.__version__}")
    add_common(parser)
    option(parser, "--theme", "NAME", "theme for this run (ctrl+t switches and saves)")
    option(parser, "--lang", "LANGUAGE", "language of the app: en or zh_CN")
    flag(parser, "--no-start", "do not start servers automatically")
    flag(parser, "--no-servers", argparse.SUPPRESS)
    option(parser, "--session", "NAME", "continue this session, or start a new one with this name")
    flag(parser, "--resume", "continue the most recent session")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", parser_class=_Command
    )

    brought = [*every("parser")]

    def add(
        name: str,
        fill: Callable[[argparse.ArgumentParser], object],
        *,
        after: str = "",
        live: bool = False,
        **about: "Any",
    ) -> None:
        command = commands.add_parser(name, formatter_class=help_text, **about)
        command.fill = fill
        for other, shown in brought:
            if shown["after"] == name:
                add(other, **shown)

    about = "Ask one question from the command line. The answer goes to stdout, the trace to stderr."
    add("run", _fill_run, help="ask one question from the command line", description=about, epilog=EXIT_CODES)
    add_calls(add)
    about = (
        "Start every configured server, print its status as soon as it is known, and stop it. --json prints"
        " one array at the end, in the order of the configuration."
    )
    short = "start every configured server, print its status, and stop it"
    add("servers", _fill_servers, help=short, description=about, epilog=SERVERS_EPILOG)
    short = "add a server to the configuration: a URL or a command"
    add("add", _fill_add, help=short)
    about = "Remove a server from the configuration. Comments elsewhere in the file are kept."
    add("remove", _fill_remove, help="remove a server from the configuration", description=about)
    add("login", _fill_sign_in, help="sign in to a remote server", description=LOGIN_ABOUT)
    about = (
        "Delete the tokens of a remote server from this machine. identity_providers/NAME signs out of an"
        " identity provider and of the servers that you signed in to through it."
    )
    add("logout", _fill_sign_in, help="delete the tokens of a remote server", description=about)
    add("config", _fill_config, help="show, check or create the configuration")
    short = "list, search, show, export and delete sessions (saved conversations)"
    add("sessions", _fill_sessions, help=short, description=SESSIONS_ABOUT, epilog=SESSIONS_EPILOG)
    short = "list what was allowed and denied, when, and by which key or rule"
    add("decisions", _fill_decisions, help=short, description=DECISIONS_ABOUT)
    short = "proxy and record another host's server"
    add("tap", _fill_tap, help=short)
    short = "inspect a recording: list, filter, lint, statistics, export, replay"
    add("traffic", _fill_traffic, help=short, description=TRAFFIC_ABOUT, epilog=TRAFFIC_EPILOG)
    assert isinstance(commands.choices, dict)
    # Its former name, which the help does not mention.
    commands.choices["trace"] = commands.choices["traffic"]
    short = "print a shell completion script"
    fill = partial(
        option, name="shell", metavar="SHELL", text="bash, zsh or fish", choices=("bash", "zsh", "fish")
    )
    add("completion", fill, help=short, description=COMPLETION_ABOUT)
    about = "Print the manual page: mcptui man | man -l -"
    add("man", lambda man: None, help="print the manual page", description=about)
    return parser


def _fill_run(run: argparse.ArgumentParser) -> None:
    add_common(run)
    _add_question(run)
    option(run, "--schema", "FILE", "answer with JSON that matches this JSON Schema, or exit with code 6")
    flag(run, "--json", "print one JSON object per line")
    servers = run.add_mutually_exclusive_group()
    option(servers, "--server", "NAME", "start only these servers", action="extend", nargs="+")
    flag(servers, "--no-servers", "start no server", default=argparse.SUPPRESS)
    flag(run, "--no-start", "do not start servers automatically", default=argparse.SUPPRESS)
    option(run, "--max-steps", "N", "at most N model requests, plus one to wrap up", type=count)
    text = (
        "which calls may run: ask on the terminal (default), reads (read-only tools of trusted servers), "
        "all, none"
    )
    option(run, "--approve", None, text, choices=("ask", "reads", "all", "none"), default="ask")
    repeatable(run, "--trust", "SERVER", "trust this server's read-only marks and results (repeatable)")
    text = "let the model load this skill in this run, as it is now (repeatable)"
    repeatable(run, "--approve-skill", "SERVER/NAME", text)
    add_question_options(run)


def _add_question(run: argparse.ArgumentParser) -> None:
    text = "the question, with piped input appended. If omitted or -, it is read from stdin"
    option(run, "prompt", "PROMPT", text, nargs="?")
    repeatable(run, "--file", "PATH", "attach a file (repeatable)")
    flag(run, "--stdin", "wait for stdin and append it to the question")
    option(run, "--system", "TEXT|@FILE", "replace the system prompt")
    flag(run, "--project-instructions", "give the model the AGENTS.md of the current directory")
    option(run, "--output", "FILE", "write the answer to FILE")
    which = run.add_mutually_exclusive_group()
    option(which, "--session", "NAME", "continue this session, or start a new one with this name")
    flag(which, "--resume", "continue the most recent session")


def _fill_servers(servers: argparse.ArgumentParser) -> None:
    add_common(servers, model=False)
    flag(servers, "--json", "print a JSON array")
    option(servers, "names", "SERVER", "start only these servers", nargs="*")
    flag(servers, "--extensions", "print which extensions are declared and used, and what is deprecated")
    option(servers, "--without", "EXTENSION", "--extensions, and what is offered without this one")


def add_texts() -> tuple[str, str]:
    """Return usage and description, with those of add-ons."""
    found = [*flags_of("add")]
    usage = "\n       ".join((_ADD_USAGE, *(one["usage"] for one in found)))
    kinds, examples = "".join(one["notes"] for one in found), "".join(one["examples"] for one in found)
    return usage, _ADD_ABOUT.format(kinds=kinds, examples=examples)


def _fill_add(parser: argparse.ArgumentParser) -> None:
    parser.usage, parser.description = add_texts()
    fill_add(parser)


def fill_add(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mcptui add`."""
    option(parser, "--name", "NAME", "server name (default: from its URL or package)")
    add_unconfigured(parser)
    flag(parser, "--dry-run", "show what would be written without writing it")
    fill_addon_flags(parser, "add")
    add_common(parser, model=False, starts=False)
    option(parser, "target", "URL|COMMAND|NAME|FILE", "what to add", nargs=argparse.REMAINDER)


def _fill_tap(parser: argparse.ArgumentParser) -> None:
    from tui.commands.tap.tap import fill_tap, tap_texts

    parser.usage, parser.description = tap_texts()
    fill_tap(parser)


def _fill_sign_in(parser: argparse.ArgumentParser) -> None:
    add_common(parser, model=False)
    option(parser, "server", "SERVER", "a configured server, or a URL")


def _fill_remove(remove: argparse.ArgumentParser) -> None:
    option(remove, "server", "NAME", "the server")
    add_common(remove, model=False, starts=False)


def _fill_config(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    about = {
        "path": "print the path of the configuration file",
        "show": "print the effective configuration, with defaults and masked secrets",
        "check": "print all errors and warnings with key and line (exit code 2 if there are errors)",
        "init": "write a commented starter file and its JSON Schema, unless the file exists",
        "schema": "print the JSON Schema of the configuration, for editors",
        "key": "store or forget the API key of a model profile, or print where the keys are",
        "hosts": "list the servers of the other hosts on this computer: which are the same, which differ",
        "import": "import the servers of another host: Claude, Cursor, VS Code, Zed, Gemini CLI and more",
        "trust": "ask about each server and model that needs consent, and remember your answers",
        "learned": "print what model endpoints have rejected, or forget it",
    }
    made: dict[str, argparse.ArgumentParser] = {}
    for name, text in about.items():
        description = f"{text[0].upper()}{text[1:]}."
        made[name] = actions.add_parser(name, help=text, description=description, formatter_class=help_text)
        default = "the one that mcptui config path prints"
        if name == "path":
            default = "MCPTUI_CONFIG, or config.toml in the configuration folder"
        text = f"configuration file (default: {default})"
        option(made[name], "--config", "FILE", text, default=argparse.SUPPRESS)
    text = "test the rules on recorded calls: since a time (24h, 7d, 2026-11-20) or in a recording"
    option(made["check"], "--against", "TIME|RECORDING", text)
    text = "check as if all of the configuration applied, also if it is not your own"
    flag(made["check"], "--trust-config", text, default=argparse.SUPPRESS)
    fill_addon_flags(made["check"], "check")
    flag(made["init"], "--print", "print the starter file without writing it")
    made["key"].description = KEY_ABOUT
    option(made["key"], "name", "NAME", "a model profile", nargs="?")
    flag(made["key"], "--forget", "delete the stored key of NAME")
    flag(made["trust"], "--yes", "consent to all of them without asking")
    flag(made["learned"], "--forget", "forget everything that was learned")
    option(made["hosts"], "host", "HOST", "only this host, with all notes: claude-code, cursor, …", nargs="?")
    flag(made["hosts"], "--json", "print a JSON array")
    text = "the other host's file, or with --from the servers to import (default: all)"
    option(made["import"], "words", "FILE|NAME", text, nargs="*")
    text = "import from all files of this host: claude-code, cursor, vscode, …"
    option(made["import"], "--from", "HOST", text, dest="host")
    flag(made["import"], "--dry-run", "show what would be imported without writing it")


def _fill_decisions(parser: argparse.ArgumentParser) -> None:
    option(parser, "--since", "TIME", "only decisions since a time: 1h, 7d, 14:05, 2026-11-20")
    option(parser, "--server", "NAME", "only decisions about this server")
    flag(parser, "--denied", "only what was denied")
    flag(parser, "--json", "print one JSON object per line")


def _fill_traffic(traffic: argparse.ArgumentParser) -> None:
    option(traffic, "recording", "RECORDING", RECORDING, nargs="?")
    flag(traffic, "--list", "list all recordings, the one with the newest entry first")
    flag(traffic, "--prune", "remove old recordings, after listing them")
    option(traffic, "--older-than", "TIME", "with --prune: those without entries since then, e.g. 30d")
    text = "with --prune: keep recordings with marks or notes"
    option(traffic, "--except", None, text, choices=("marked",), dest="keeps")
    flag(traffic, "--dry-run", "with --prune: only list what would be removed")
    flag(traffic, "--yes", "with --prune: do not ask. With --replay: also, unless a rule asks about a call")
    option(traffic, "--filter", "EXPR", 'filter, e.g. "method:tools/* latency:>200ms"')
    flag(traffic, "--failed", "failed calls only")
    text = "only entries since a time (1h, 14:05, 2026-11-20), from all recordings unless one is named"
    option(traffic, "--since", "TIME", text)
    flag(traffic, "--all", "read all recordings")
    flag(traffic, "--json", "print one JSON object per line")
    flag(traffic, "--lint", "print lint findings (exit code 1 if there are errors)")
    text = "with --lint: also write the findings about definitions and single messages for code scanning"
    option(traffic, "--report", "sarif=FILE", text, type=report)
    flag(traffic, "--stats", "print calls, errors and latencies per tool")
    text = (
        "print the N slowest calls (default: 10), without handshakes and lists unless --filter selects them"
    )
    option(traffic, "--slowest", "N", text, nargs="?", const=10, type=count)
    flag(traffic, "--follow", "print new entries while the recording is live")
    formats = ("jsonl", "md", "har", "html", *names("export"))
    option(traffic, "--export", None, "export the entries in this format", choices=formats)
    option(traffic, "-o --output", "FILE", "file for --export (default: stdout)")
    text = "with --export: replace values with placeholders such as <text, 12 characters>, keep names"
    flag(traffic, "--redact", text)
    option(traffic, "--without", "PART,…", f"with --export md or html: leave out {_PARTS}")
    fill_addon_flags(traffic, "traffic")


_PARTS = (
    "parts, separated by commas: conversation, reasoning, system, waterfall, messages, values (arguments and "
    "results), findings, notes, attachments"
)


def _fill_sessions(parser: argparse.ArgumentParser) -> None:
    flag(parser, "--json", PER_LINE)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")

    def add(name: str, about: str, *, json: str = "print the result as a JSON object") -> "Any":
        action = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        # If this option is missing after the action, it must not override the same option before it.
        flag(action, "--json", json, default=argparse.SUPPRESS)
        return action

    listing = add("list", "list sessions, most recent first", json=PER_LINE)
    option(listing, "text", "TEXT", "only titles that contain all words of TEXT", nargs="?", default="")
    flag(listing, "--deleted", "list deleted sessions instead")
    option(listing, "--limit", "N", "maximum number of sessions (default: 200)", type=count, default=200)
    search = add("search", "search the messages of all sessions", json=PER_LINE)
    option(search, "text", "TEXT", "words to find (all of them in one message)")
    option(search, "--limit", "N", "maximum number of matches (default: 100)", type=count, default=100)
    option(add("show", "print a session as Markdown or JSON", json="print JSON"), "session", "ID", ID)
    rename = add("rename", "rename a session")
    option(rename, "session", "ID", ID)
    option(rename, "title", "TITLE", "the new title")
    delete = add("delete", "delete sessions (they can be restored for 30 days)", json=PER_LINE)
    option(delete, "sessions", "ID", ID, nargs="+")
    option(add("restore", "restore a deleted session"), "session", "ID", ID)
    export = add("export", "export a session to a file or stdout", json=WRITTEN)
    option(export, "session", "ID", ID)
    text = "format (default: from the file name, otherwise markdown)"
    option(export, "--as", None, text, dest="kind", choices=("markdown", "json", "html"))
    option(export, "--output -o", "FILE", "output file (default: stdout)")
    text = "replace texts and values with placeholders such as <text, 12 characters>, keep names"
    flag(export, "--redact", text)
    option(export, "--without", "PART,…", f"Markdown and HTML: leave out {_PARTS}")
    taking = add("import", "import a session that was exported as JSON")
    option(taking, "file", "FILE", "the exported session")
    flag(taking, "--keep-system", "also use its system prompt (default: only show it)")
    for action in (export, taking):
        text = "configuration file whose secrets are redacted (default: see mcptui config path)"
        option(action, "--config", "FILE", text, default=argparse.SUPPRESS)


def parse(given: Sequence[str]) -> argparse.Namespace:
    """Parse a command line. For some commands, everything after `--` is kept as a server's command."""
    cut = len(given)
    if "--" in given:
        live = (name for name, shown in every("parser") if shown.get("live"))
        if command_word(given) in (*VERBS, "traffic", "trace", *live):
            cut = list(given).index("--")
    parser = build_parser()
    check_beginning(parser, given)
    args, rest = parser.parse_known_args(given[:cut])
    if "words" in vars(args):  # argparse accepts words only on one side of the options
        args.words += [one for one in rest if not one.startswith("-")]
        rest = [one for one in rest if one.startswith("-")]
    if rest:
        refuse_rest(parser, args, rest)
    args.live_command = list(given[cut + 1 :])
    if cut < len(given) and not args.live_command:
        parser.error("no command after --")
    return args
