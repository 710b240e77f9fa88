"""Warns about configured servers and rules that will not work, or not as intended. Starts nothing."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from tui.core.errors import shown_text
from tui.core.jsonrpc.extensions import EXTENSIONS, PREFIX
from tui.core.language.translate import message
from tui.core.permission.rules import Rule, Verdict
from tui.core.programs import command_line, find_program, is_command_line
from tui.core.secrets.secret_names import is_secret_header
from tui.core.servers import EraChoice, ServerSpec, Transport
from tui.core.text import clean_line
from tui.core.web import is_loopback
from tui.settings.foreign.entry import runs_shell
from tui.settings.foreign_settings import unused_settings
from tui.settings.keymap import ActionKeys, check_keys
from tui.settings.load import Loaded
from tui.settings.locations import themes_dir
from tui.settings.problems import Problem, did_you_mean
from tui.settings.references import KEYCHAIN
from tui.settings.specs import approval_rules, server_specs
from tui.settings.themes import all_themes, load_theme

BUILT_IN = "mcptui"
"""The name under which rules match mcptui's own tools."""

_AUTHORIZATION = "authorization"

_SET_BY_US = frozenset({"accept", "content-type"})
_SENT = ("application/json", "text/event-stream", "*/*")
"""How values begin that say what mcptui sends anyway."""

_SAY_FOLDER = message('set `cwd = "${PWD}"`')
_LAUNCHERS = frozenset({"npx", "uvx", "bunx", "pipx"})
_FILES = frozenset(
    ".py .js .mjs .cjs .ts .sh .rb .jar .json .jsonl .toml .yaml .yml .env .db .sqlite .sqlite3 .csv .md"
    " .txt .log .pem .key".split()
)
"""Suffixes that hardly anything but a file name has."""

_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\[^\\]")

Warnings = Iterator[tuple[str, str, str]]
"""Key of the server's table, what is wrong, what to do."""


def all_problems(loaded: Loaded, actions: Mapping[str, ActionKeys], *, trust: bool) -> list[Problem]:
    """Return all problems of a file, of its keys, theme, servers and rules, and of other themes.

    `actions` are those that can have keys. With `trust`, a file that is not the user's own applies.
    """
    ui = loaded.settings.ui
    _, keys = check_keys(ui.keys, actions) if ui.keys else ({}, ())
    _, chosen = load_theme(ui.theme, themes_dir())
    found = [*loaded.problems, *map(loaded.located, keys), *([loaded.located(chosen)] if chosen else [])]
    found += [*server_warnings(loaded), *rule_warnings(loaded)]
    if loaded.source and not trust:
        found += unused_settings(loaded)
    found.sort(key=lambda problem: problem.line)
    # A damaged theme that is not in use is only a warning.
    _, damaged = all_themes(themes_dir())
    return [*found, *(replace(problem, warning=True) for problem in damaged if problem != chosen)]


def server_warnings(loaded: Loaded, *, created: str = "") -> list[Problem]:
    """Return warnings about settings of enabled servers that will not work. Reads the content of no file.

    What is in the folder `created` will exist.
    """
    if not loaded.names_servers:
        return []
    found: list[Problem] = []
    known: dict[tuple[str, str], str] = {}
    for spec in server_specs(loaded):
        warnings = url_warnings(spec) if spec.url else command_warnings(spec)
        if created and spec.cwd == created:
            warnings = (one for one in warnings if one[0] not in ("cwd", "command") or created not in one[1])
        for key, told, step in (*warnings, *common_warnings(spec), *_client_warnings(spec, loaded)):
            keys = ("servers", spec.name, *(key.split(".", 1) if key else ()))
            found.append(loaded.located(Problem(told, keys, step, warning=True)))
        twin = known.setdefault((spec.digest(), spec.act_as), spec.name)
        if twin != spec.name:
            told = message("is the same server as {twin}", twin=shown_text(twin, 64))
            found.append(loaded.located(Problem(told, ("servers", spec.name), warning=True)))
    return found


def command_warnings(spec: ServerSpec) -> Warnings:
    """Yield what will not work with the command of a server."""
    yield from _program_warnings(spec)
    yield from _tilde_warnings(spec)
    if spec.headers:
        yield ("headers", message("are not used by a server with a `command`"), message("use `env`"))
    if spec.folder:
        yield from _folder_warnings(spec)
    if spec.cwd is not None and not os.path.isdir(spec.cwd):
        yield (
            "cwd",
            message("directory {path} not found", path=clean_line(spec.cwd, 200)),
            message("check the path"),
        )
    if spec.command == "npx" and not {"-y", "--yes"} & set(spec.args):
        told = message("npx can ask before it downloads, and cannot be answered")
        yield "args", told, message("add `-y` as the first argument")
    words = " ".join((os.path.basename(spec.command), *spec.args)).lower()
    is_mcp = any(name in words for name in ("modelcontextprotocol", "mcp-server", "mcp_server"))
    if spec.transport is Transport.LINES and is_mcp:
        step = message('remove `transport = "lines"`, unless it sends a line of type "hello"')
        yield "transport", message("looks like an MCP server, which does not speak the line dialect"), step
    if spec.transport is Transport.LINES and spec.era is not EraChoice.AUTO:
        yield (
            "era",
            message("has no effect, because the line dialect has no protocol era"),
            message("remove it"),
        )


def _program_warnings(spec: ServerSpec) -> Warnings:
    program = shown_text(spec.command, 80)
    if find_program(spec.command) is None and is_command_line(spec.command):
        first, *rest = (clean_line(word, 60) for word in command_line(spec.command))
        listed = ", ".join(f'"{word}"' for word in rest[:12])
        step = message('write `command = "{first}"` and `args = [{rest}]`', first=first, rest=listed)
        yield "command", message("{program} is a command line, not a program", program=program), step
    elif spec.folder and os.sep in spec.command and not os.path.isabs(spec.command):
        yield (
            "command",
            message("{program} is relative, and the server starts in an empty folder", program=program),
            _instead(spec.command),
        )
    elif _is_windows(spec.command):
        yield (
            "command",
            message("{program} is a path of Windows", program=program),
            message("use the program of this computer"),
        )
    elif os.sep in spec.command:
        place = os.path.join(spec.cwd or "", spec.command)
        if not os.path.isfile(place):
            missing = message("file {path} not found", path=clean_line(place, 200))
            yield "command", missing, message("check the path")
        elif not os.access(place, os.X_OK):
            plain = message("{name} is not executable", name=clean_line(place, 200))
            yield "command", plain, message("put its interpreter first")
    elif find_program(spec.command) is None:
        yield (
            "command",
            message("command {shown} not found on PATH", shown=program),
            message("install it, or use its path"),
        )


def _tilde_warnings(spec: ServerSpec) -> Warnings:
    """Warn about a ~ that a shell would replace. Some servers do it themselves."""
    words = [("args", word) for word in spec.args]
    if runs_shell(spec.command, list(spec.args)):
        words = []
    for key, word in (*words, *((f"env.{name}", value) for name, value in spec.env.items())):
        value = word.partition("=")[2] if word.startswith("-") else word
        if value == "~" or value.startswith("~/"):
            shown = shown_text(word, 80)
            step = message('write "{path}"', path=clean_line(word.replace("~", "${HOME}", 1), 80))
            yield (
                key,
                message("the ~ in {shown} is passed on as it is, because no shell is involved", shown=shown),
                step,
            )


def _folder_warnings(spec: ServerSpec) -> Warnings:
    here = Path.cwd()
    is_python = os.path.basename(spec.command).startswith("python")
    is_package = os.path.basename(spec.command) in _LAUNCHERS
    words = zip((spec.command, *spec.args), spec.args, spec.shown_command[1:], strict=False)
    for before, word, shown in words:
        shown = clean_line(shown, 80)
        value = word.partition("=")[2] if word.startswith("-") else word
        if is_python and before == "-m":
            found = here / word.partition(".")[0]
            if os.path.isdir(found) or os.path.isfile(f"{found}.py"):
                yield (
                    "args",
                    message(
                        "module {shown} of this folder is not found, "
                        "and the server starts in an empty folder",
                        shown=shown,
                    ),
                    _SAY_FOLDER,
                )
        elif is_package and not word.startswith("-"):
            is_package = False  # the package itself, even if a file of that name exists
        elif _is_windows(value):
            yield (
                "args",
                message("{shown} is a path of Windows", shown=shown),
                message("use a path of this computer"),
            )
        elif is_relative(value, here):
            yield (
                "args",
                message("{shown} is relative, and the server starts in an empty folder", shown=shown),
                _instead(value),
            )


def is_relative(word: str, here: Path) -> bool:
    """Return whether a word means a relative path: it looks like one, or the file exists in `here`."""
    if not word or "\0" in word or "://" in word or os.path.isabs(word) or word[0] in "@~$-":
        return False
    if word in (".", "..") or word.startswith(("./", "../")):
        return True
    return os.path.splitext(word)[1].lower() in _FILES or os.path.lexists(here / word[:4096])


def _is_windows(word: str) -> bool:
    return os.name != "nt" and _WINDOWS.match(word) is not None


def _instead(path: str) -> str:
    rest = clean_line(os.path.normpath(path), 80)
    return message(
        'write "${{PWD}}{path}", or set `cwd = "${{PWD}}"`', path="" if rest == "." else f"/{rest}"
    )


def url_warnings(spec: ServerSpec) -> Warnings:
    """Yield what will not work with the URL and the headers of a server."""
    parts = urlsplit(spec.url or "")
    for key, value in (("args", spec.args), ("env", spec.env), ("cwd", spec.cwd)):
        if value:
            yield key, message("is not used by a server with a `url`"), message("remove it")
    if parts.fragment:
        yield "url", message("has a fragment (#) that is never sent"), message("remove it")
    if parts.password is not None:
        yield (
            "url",
            message("contains a password"),
            message('use `headers = { Authorization = "Basic ${VAR}" }`'),
        )
    last = parts.path.rstrip("/").rpartition("/")[2].lower()
    if spec.transport is Transport.HTTP and not spec.sse_fallback and last == "sse":
        step = message('remove `transport`, or use "sse"')
        yield "transport", message("looks like an HTTP+SSE URL, which `http` does not try"), step
    if spec.transport is Transport.SSE and last == "mcp":
        step = message('remove `transport`, or use "http"')
        yield "transport", message("looks like a Streamable HTTP URL, which `sse` does not try"), step
    for name, value in spec.headers.items():
        if name.lower() in _SET_BY_US and not value.strip().lower().startswith(_SENT):
            told = message(
                "{name} is set by mcptui for each request, so this value is not sent",
                name=clean_line(name, 60),
            )
            yield "headers", told, message("remove it")
    names = {name.lower() for name in spec.headers}
    plain = parts.scheme in ("http", "ws") and not is_loopback(parts.hostname or "")
    if plain and any(map(is_secret_header, names)):
        yield "url", message("credentials in headers are sent unencrypted"), message("use https:// or wss://")
    elif plain and parts.scheme == "ws":
        yield "url", message("traffic to another machine is not encrypted"), message("use wss://")
    if _AUTHORIZATION in names and spec.oauth.client_id:
        yield (
            "oauth",
            message("is not used, because an Authorization header is set"),
            message("remove one of them"),
        )


def common_warnings(spec: ServerSpec) -> Warnings:
    """Yield what will not work with the values of any server."""
    for name, value in spec.headers.items():
        if not value.strip() or value.strip().lower() in ("bearer", "basic", "token"):
            yield (
                "headers",
                message("the value of {name} is empty", name=clean_line(name, 60)),
                message("check its variable"),
            )
    secrets = [*spec.headers.values(), *spec.env.values(), spec.oauth.client_secret, spec.oauth.private_key]
    if (provider := spec.oauth.identity_provider) is not None:
        secrets.append(provider.client_secret)
    if any(KEYCHAIN in value for value in secrets) and find_spec("keyring") is None:
        yield "", message("requires the system keychain"), message("install it with `pip install keyring`")
    for name in spec.extensions:
        if name.startswith(PREFIX) and name not in EXTENSIONS:
            step = did_you_mean(name, EXTENSIONS) or message("check its id")
            yield (
                f"extensions.{name}",
                message("has no effect, because mcptui knows no such extension"),
                step,
            )


def _client_warnings(spec: ServerSpec, loaded: Loaded) -> Warnings:
    """Warn of a client that no authorization server knows: with an identity provider, none is registered."""
    ours = spec.oauth.client_metadata_url or loaded.settings.oauth.client_metadata_url
    if spec.oauth.identity_provider is not None and not spec.oauth.client_id and not ours:
        told = message("needs a `client_id` with `identity_provider`, or a `client_metadata_url`")
        yield "oauth", told, message("ask the administrator of the authorization server")


def rule_warnings(loaded: Loaded) -> list[Problem]:
    """Return warnings for rules that match no configured server, or with a misleading wildcard."""
    names = {BUILT_IN, *(spec.name for spec in server_specs(loaded, disabled=True))}
    found = []
    for rule in approval_rules(loaded.settings.approvals).rules:
        keys = ("approvals", rule.origin, rule.number - 1)
        if loaded.readable and not any(_may_name(rule, name) for name in names):
            told = message("no server is named {server}", server=shown_text(rule.server, 60))
            found.append(Problem(told, keys, did_you_mean(rule.server, names - {BUILT_IN}), warning=True))
        if misread := _sign_warning(rule):
            step = message("to match the character itself, write [[] or [?]")
            found.append(Problem(misread, keys, step, warning=True))
    return [loaded.located(one) for one in found]


_CLASS = re.compile(r"\[(!?\]?[^\]]*)\]")
_ONE_SIGN = ("[", "*", "?")
_MOST_IN_CLASS = 3


def _sign_warning(rule: Rule) -> str:
    """Return what a `[` or `?` of a rule means if it looks like a literal character, otherwise ""."""
    for pattern in (rule.server, rule.tool, *(one.pattern for one in rule.conditions)):
        for part in _CLASS.findall(pattern[: pattern.rfind("]") + 1]):
            if _looks_like_text(part):
                shown = clean_line(f"[{part}]", 60)
                return message("{shown} matches one of the characters in the brackets", shown=shown)
        if rule.action is Verdict.ALLOW and "://" in pattern and "?" in pattern.replace("[?]", ""):
            return message("? matches any one character, also in a URL")
    return ""


def _looks_like_text(part: str) -> bool:
    """Return whether text in brackets looks like a list, address or word, not like a set of characters."""
    text = part.removeprefix("!").replace("-", "")
    if text in _ONE_SIGN:
        return False
    is_word = part.isalpha() and len(part) > _MOST_IN_CLASS
    return is_word or len(set(text)) < len(text) or any(sign in text for sign in "\"', /{")


def _may_name(rule: Rule, name: str) -> bool:
    if fnmatchcase(name, rule.server):
        return True
    # `ask` and `deny` match server and tool as one text, so `no*/x` also means what is in `notes`.
    begin, star, _ = rule.server.partition("*")
    is_plain = not any(sign in begin for sign in "?[")
    return rule.action is not Verdict.ALLOW and bool(star) and (not is_plain or f"{name}/".startswith(begin))
