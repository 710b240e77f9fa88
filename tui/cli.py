"""The command line: parse it, import only what the command needs, return an exit code."""

import errno
import gc
import io
import os
import sys
from collections.abc import Sequence
from types import SimpleNamespace

import tui

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    import argparse
    from pathlib import Path
    from typing import Any, TextIO

    from tui.runtime.runtime import Runtime
    from tui.settings.config_file import QuickUi


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors that only occur when writing."""


_COMMANDS = {
    "run": "tui.commands.run:run",
    "config": "tui.commands.config.config:config",
    "traffic": "tui.commands.traffic:traffic",
    "trace": "tui.commands.traffic:traffic",
    "call": "tui.commands.call.request:call",
    "read": "tui.commands.call.request:call",
    "prompt": "tui.commands.call.request:call",
    "list": "tui.commands.call.request:call",
    "servers": "tui.commands.servers:servers",
    "login": "tui.commands.sign_in:sign_in",
    "logout": "tui.commands.sign_in:sign_in",
    "add": "tui.commands.add:add",
    "remove": "tui.commands.add:remove",
    "decisions": "tui.commands.permission.decisions:decisions",
    "sessions": "tui.commands.sessions:sessions",
    "tap": "tui.commands.tap.tap:tap",
    "completion": "tui.commands.generated:completion",
    "man": "tui.commands.generated:man",
}
"""Module and function of each command of the house."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    given = sys.argv[1:] if argv is None else list(argv)
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _replace_closed_streams()
    stderr = sys.stderr
    sys.stderr = _Messages(stderr)
    try:
        return _run(given)
    finally:
        sys.stderr = stderr


def _replace_closed_streams() -> None:
    """Open the null device for each standard stream that was closed before startup.

    Otherwise, the next file or socket would get its number, and what is read or written there, also by
    programs that we start, would reach that. Writing to a closed stdout stays an error.
    """
    for number, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)
    if sys.stdout is None:
        sys.stdout = _ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)


def _run(given: Sequence[str]) -> int:
    try:
        try:
            if given[:1] == ["tap"]:  # must start fast: does not load other commands
                from tui.commands.tap.tap import parse_tap, tap

                return tap(parse_tap(given[1:]))
            if given == ["--version"]:  # loading argparse takes longer than everything else
                print(f"mcptui {tui.__version__}")
                return 0
            return dispatch(_parsed(given))
        finally:
            sys.stdout.flush()  # the interpreter would flush too late to report a failure
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has closed the pipe, so nothing can be reported.
        _discard_output()
        return 141
    except Exception as error:
        if not isinstance(error, OSError) or not _is_of_output(error):
            from tui.runtime.crash_report import report_command

            return report_command(error, given, os.environ, sys.stderr)
        from tui.core.errors import reason_of

        _discard_output()
        print(f"mcptui: cannot write to stdout: {reason_of(error)}", file=sys.stderr)
        return 2


class _Messages:
    """Wraps stderr. Drops what cannot be written, so that output and exit code are unaffected."""

    def __init__(self, stream: "TextIO") -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            self._discard()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self._discard()

    def _discard(self) -> None:
        """Discard buffered and all further output."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._stream, name)


class _ClosedOutput(io.TextIOBase):
    """Replaces a stdout that was closed before startup: every write fails."""

    @property
    def buffer(self) -> "_ClosedOutput":
        return self

    def write(self, text: "str | bytes") -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _is_of_output(error: OSError) -> bool:
    """Return whether writing to stdout failed. Unwritten data is still buffered and fails again."""
    if error.errno in _FULL and error.filename is None:
        return True
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return isinstance(sys.stdout, _ClosedOutput) and error.errno == errno.EBADF


def _discard_output() -> None:
    """Discard buffered output, so that the interpreter can exit."""
    if not isinstance(sys.stdout, _ClosedOutput):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parsed(given: Sequence[str]) -> "argparse.Namespace":
    """Parse the command line. For some commands, everything after `--` is kept as a server's command."""
    if not given:  # the screen must appear at once, and loading argparse takes 5 % of that time
        return SimpleNamespace(command=None, theme=None, lang=None)  # type: ignore[return-value]
    gc.disable()
    try:
        from tui.commands.command_line import parse

        return parse(given)
    finally:
        gc.freeze()  # the objects of the parser stay alive; a collection at exit would take 2 ms of `--help`
        gc.enable()


_ERRORS_AS_JSON = frozenset({"run", "call", "read", "prompt", "list"})
"""Commands whose --json also prints an error as an object."""


def dispatch(args: "argparse.Namespace") -> int:
    """Run the app or a command, and print its error; return the exit code."""
    from tui.core.library_imports import compile_methods_late

    compile_methods_late()
    if args.command is None:
        return _app(args)
    from tui.core.errors import McptuiError

    try:
        return _command(args)
    except McptuiError as error:
        from tui.commands.run_output import print_error

        as_json = args.command in _ERRORS_AS_JSON and args.json
        print_error(error, as_json=as_json)
        return 2


def _command(args: "argparse.Namespace") -> int:
    from tui.core.addons import brought, load
    from tui.core.library_imports import collector_paused

    if vars(args).get("wide"):
        from tui.commands.streams import print_wide

        print_wide()
    found = _COMMANDS.get(args.command)
    with collector_paused():
        run_command = brought("command", args.command) if found is None else load(found)
        gc.freeze()  # imported objects stay alive
    match args.command:
        case "config":
            return int(run_command(args, load("tui.ui.keys.bindings:own_keys")))
        case "traffic" | "trace":
            if _plain_switch(args):  # no screen, so the entries are printed
                return int(run_command(args))
            return int(run_command(args, lambda path: _traffic_screen(args, path)))
        case _:
            return int(run_command(args))


def _traffic_screen(args: "argparse.Namespace", path: "Path") -> int:
    gc.disable()
    from tui.runtime.recording_file import RecordingFile

    recorded = RecordingFile(path)
    recorded.start()

    def painted() -> None:
        gc.freeze()  # the objects created so far stay alive
        gc.enable()
        recorded.painted()

    async def save_theme(name: str) -> None:
        import asyncio

        from tui.settings.save import set_value

        file = ConfigFile(vars(args).get("config"), os.environ)
        await asyncio.to_thread(file.change, lambda document: set_value(document, name, "ui", "theme"))

    try:
        from tui.settings.config_file import ConfigFile
        from tui.ui.app.terminal import run_traffic

        if (quick := _quick_ui(args)) is None:
            return 2
        return run_traffic(
            recorded.recording,
            theme=quick.theme,
            keys=quick.keys,
            save_theme=save_theme,
            painted=painted,
            ambiguous_width=quick.ambiguous_width,
        )
    finally:
        recorded.close()
        gc.enable()


def _quick_ui(args: "argparse.Namespace") -> "QuickUi | None":
    """Use the configured language, or that of `--lang`; return `[ui]`, with `--theme`.

    None if one of these is unknown.
    """
    from tui.locale.catalogs import LANGUAGES, known_language, language_of, use_language
    from tui.settings.config_file import quick_ui

    given = vars(args)
    language = given.get("lang") or ""
    if language and not known_language(language):
        print(f"mcptui: language “{language}” not found. Known: {', '.join(LANGUAGES)}", file=sys.stderr)
        return None
    if theme := given.get("theme"):
        from tui.settings.locations import themes_dir
        from tui.settings.themes import load_theme

        _, problem = load_theme(theme, themes_dir(), "--theme")
        if problem is not None and problem.path == "--theme":  # it is missing; the problem lists the others
            print(f"mcptui: {problem}", file=sys.stderr)
            return None
    quick = quick_ui(given.get("config"), os.environ, trust=bool(given.get("trust_config")))
    if note := use_language(language_of(language or quick.language, os.environ)):
        print(f"mcptui: {note}", file=sys.stderr)
    return quick._replace(theme=theme or quick.theme)


def _plain_switch(args: "argparse.Namespace") -> str:
    """Return what turns on lines of text in place of the screen, or ""."""
    if vars(args).get("plain"):
        return "--plain"
    if os.environ.get("MCPTUI_PLAIN", "") not in ("", "0"):
        return "MCPTUI_PLAIN"
    return "TERM=dumb" if os.environ.get("TERM") == "dumb" and sys.stdin.isatty() else ""


def _app(args: "argparse.Namespace") -> int:
    if switch := _plain_switch(args):
        from tui.core.addons import not_installed, service

        if (start := service("plain mode")) is not None:
            return 2 if _quick_ui(args) is None else int(start(args, switch))
        print(f"mcptui: {not_installed('plain', switch)}", file=sys.stderr)
        return 2
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        step = 'Without one, use: mcptui run "your question"'
        print(f"mcptui: stdin and stdout must be a terminal. {step}", file=sys.stderr)
        return 2
    try:
        os.getcwd()
    except OSError:
        print("mcptui: the current directory was deleted. Start mcptui in another one", file=sys.stderr)
        return 2
    gc.disable()  # imported modules stay alive; the app enables it again once loaded
    if (quick := _quick_ui(args)) is None:
        gc.enable()
        return 2
    from tui.ui.app.terminal import run_app

    def make_runtime() -> "Runtime":
        from tui.runtime.options import Options
        from tui.runtime.runtime import Runtime

        return Runtime(Options.from_args(args), os.environ)

    return run_app(make_runtime, theme=quick.theme, keys=quick.keys, ambiguous_width=quick.ambiguous_width)
