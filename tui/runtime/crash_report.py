"""Reports for an issue, also of an internal error: private text files for the user to read, keep and send.

That of an error contains the traceback without values of variables, versions, the names of the open screens,
the states of the servers, and the end of the log. Secrets are redacted, and what came from servers or models
is cleaned and bounded.
"""

import os
import platform
import shlex
import shutil
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import TextIO

import tui
from tui.core.errors import reason_of
from tui.core.files import atomic_write, make_folder, open_file
from tui.core.secrets.commands_and_urls import masked, places_in_urls, secrets_in_environment
from tui.core.secrets.redact import Redactor
from tui.core.text import clean, clean_line, truncated
from tui.core.units import file_stamp
from tui.settings.locations import state_dir

VARIABLE = "MCPTUI_TRACEBACK"
"""Environment variable that also prints the report."""

EXIT_CODE = 70
"""Exit code for an internal error (`EX_SOFTWARE` of sysexits.h): 1 has other meanings."""

MOST_REPORTS = 20
LOG_LINES, LOG_BYTES = 50, 64 * 1024
MESSAGE_CHARS = 1000
"""Maximum characters of one exception message, which may quote a whole result."""

TRACEBACK_CHARS = 64 * 1024
TITLE_CHARS = 200
_PACKAGES = ("textual", "mcp", "openai", "pydantic")

_HEAD = """\
mcptui crash report

Please read this file before you send it. It contains no values of variables. Known secrets are replaced by
[redacted:NAME], but error messages may quote your text.
"""


def report_crash(
    error: BaseException,
    *,
    during: str,
    env: Mapping[str, str],
    stream: TextIO,
    redactor: Redactor | None = None,
    config: str | None = None,
    ended: str = "",
    servers: Sequence[str] = (),
) -> None:
    """Save the report of an internal error, and write one line to `stream` that names its file.

    The report itself is written to `stream` if it cannot be saved, or if the environment requests it.
    `during` is the command, or the screens by name. `redactor` removes the secrets of the run; those of `env`
    and the configuration are added. `config` is the file that the command line names. `ended` says what else
    happened, or is "". `servers` are lines about the servers of the run.
    """
    redactor = with_all_secrets(redactor, env, config)
    text = report(error, during=during, env=env, redactor=redactor, servers=servers)
    try:
        place = f"Report: {save_report(text)}"
    except OSError as problem:
        place = f"The report above could not be saved: {reason_of(problem)}."
        stream.write(text)
    else:
        if env.get(VARIABLE, "") not in ("", "0"):
            stream.write(text)
    found = traceback.TracebackException(type(error), error, None, max_group_width=3)
    _shorten(found, set())
    last_line = list(found.format_exception_only())[-1].strip()
    what = clean_line(_redacted(last_line, redactor), TITLE_CHARS).rstrip(".")
    stream.write(" ".join(filter(None, (f"mcptui: Internal error: {what}.", ended, place))) + "\n")
    stream.flush()


def report_command(
    error: BaseException, arguments: Sequence[str], env: Mapping[str, str], stream: TextIO
) -> int:
    """Report an internal error of a command with these arguments, and return its exit code."""
    given = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    named = [value for option, value in pairwise(given) if option == "--config"]
    named += [one.partition("=")[2] for one in given if one.startswith("--config=")]
    shown = command_shown(given)
    report_crash(error, during=shown, env=env, stream=stream, config=named[0] if named else None)
    return EXIT_CODE


def report(
    error: BaseException,
    *,
    during: str,
    env: Mapping[str, str],
    redactor: Redactor,
    servers: Sequence[str] = (),
) -> str:
    """Return the text of the report."""
    log = _end_of_log(state_dir() / "mcptui.log")
    parts = [("", [*_trace(error)]), ("Servers", servers), (f"Last {LOG_LINES} lines of the log", log)]
    return issue_report(_HEAD, parts, during=during, env=env, redactor=redactor)


def issue_report(
    head: str,
    parts: Iterable[tuple[str, Sequence[str]]],
    *,
    during: str,
    env: Mapping[str, str],
    redactor: Redactor,
) -> str:
    """Return a text to attach to an issue: `head`, versions, and `parts` with titles; without secrets."""
    facts = {
        "time": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "during": during,
        "mcptui": tui.__version__,
        "packages": ", ".join(_versions()),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "terminal": _terminal(env),
    }
    lines = [head, *(f"{name:<9} {value}" for name, value in facts.items())]
    for title, part in parts:
        if part:
            lines += ["", *([title, ""] if title else ()), *part]
    text = clean(_redacted("\n".join(lines), redactor))
    home = os.path.expanduser("~").rstrip(os.sep)  # often contains the user's name
    return (text.replace(home + os.sep, "~" + os.sep) if len(home) > 1 else text) + "\n"


def _redacted(text: str, redactor: Redactor) -> str:
    text = redactor.redact_cut(text)
    return masked(text, places_in_urls(text))


def save_report(text: str, kind: str = "crashes") -> Path:
    """Save a report in a new private file and remove the oldest ones of its kind; raises OSError."""
    folder = state_dir() / kind
    make_folder(folder)
    path = folder / f"{file_stamp()}-{os.getpid()}.txt"
    atomic_write(path, [text], errors="replace", links=False)
    for old in sorted(folder.glob("*.txt"))[:-MOST_REPORTS]:
        with suppress(OSError):
            old.unlink()
    return path


def command_shown(arguments: Sequence[str]) -> str:
    """Return a command and its options without values, which may be questions, paths or secrets."""
    shown = ["mcptui"]
    for argument in arguments:
        if argument.startswith("-"):
            shown.append(argument.partition("=")[0])
        elif len(shown) == 1 and argument.isalpha():
            shown.append(argument)
    return clean_line(shlex.join(shown))


def _trace(error: BaseException) -> Iterator[str]:
    found = traceback.TracebackException.from_exception(error, capture_locals=False, limit=-60)
    _shorten(found, set())
    lines = "".join(found.format()).rstrip().split("\n")
    size = 0
    for line in lines:
        size += len(line)
        if size > TRACEBACK_CHARS:
            yield f"… {len(lines):,} lines in total"
            return
        yield line


def _shorten(found: traceback.TracebackException | None, seen: set[int]) -> None:
    if found is None or id(found) in seen:
        return
    seen.add(id(found))
    text = str(getattr(found, "_str", ""))
    if len(text) > MESSAGE_CHARS:
        setattr(found, "_str", f"{truncated(text, MESSAGE_CHARS)} ({len(text):,} characters)")  # noqa: B010
    for other in (found.__cause__, found.__context__, *(found.exceptions or ())):
        _shorten(other, seen)


def with_all_secrets(redactor: Redactor | None, env: Mapping[str, str], config: str | None) -> Redactor:
    """Return a redactor that includes the secrets of the environment and the configuration."""
    known = redactor or Redactor()
    known.add(secrets_in_environment(env))
    with suppress(Exception):  # the configuration itself may be the cause of the crash
        from tui.runtime.model_keys import stored_keys
        from tui.settings.config_file import ConfigFile

        known.add(stored_keys())
        known.add(ConfigFile(config, env).read().secrets)
    return known


def _versions() -> Iterator[str]:
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            yield f"{name} {metadata.version(name)}"


def _terminal(env: Mapping[str, str]) -> str:
    size = shutil.get_terminal_size((0, 0))
    names = (env.get(name, "") for name in ("TERM", "TERM_PROGRAM", "COLORTERM"))
    multiplexer = "tmux" if "TMUX" in env else "screen" if "STY" in env else ""
    on = "" if sys.stdout is not None and sys.stdout.isatty() else "not a terminal"
    about = [on, *names, multiplexer, f"{size.columns}x{size.lines}" if size.columns else ""]
    return clean_line(", ".join(filter(None, about)))


def _end_of_log(path: Path) -> list[str]:
    try:
        with open_file(path, links=False) as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - LOG_BYTES))
            return file.read(LOG_BYTES).decode("utf-8", "replace").rstrip().split("\n")[-LOG_LINES:]
    except OSError:
        return []
