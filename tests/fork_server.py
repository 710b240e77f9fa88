"""A process that has the modules of mcptui loaded and forks itself for each program.

    fork_server.py SOCKET

Loading the modules is most of the cost of starting a program. A request is a connection to SOCKET. The client
sends the interpreter's arguments (`-m MODULE …` or `SCRIPT …`), the environment, the folder, optionally the
umask, whether stdin is the controlling terminal, and the descriptors of stdin, stdout and stderr. The
response is the process id, then the exit status once the program has ended. If the client closes the
connection, the program is killed. The process ends when its stdin is closed.

With the arguments `fork_server SOCKET INTERPRETER`, the fork is itself such a process with its own socket.
Each pytest worker has one, and the modules are loaded once for all of them, at the first request. Its
programs have INTERPRETER as `sys.executable`, so that the Python programs they start are forks too.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import io
import marshal
import os
import pkgutil
import runpy
import select
import selectors
import signal
import socket
import sys
import termios
import threading
import time
from typing import Any

MOST_BYTES = 200_000
PACKAGES = ("commands", "ui", "runtime", "host", "model", "storage", "settings", "traffic", "core")

LOADED_WHEN_USED = (
    "openai.resources.chat.completions",
    "mcp.server.extension",
    "mcp.server.mcpserver",
    "mcp.server.stdio",
    "openai.lib._chat_completion_resources",
    "openai.resources.chat.chat",
    "anyio._backends._asyncio",
    "encodings.utf_8_sig",
    "encodings.utf_16_le",
    "curses",
    "linkify_it",
    "markdown_it",
)
METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split")


def load() -> None:
    """Import and compile in advance what programs import and compile."""
    for name in ("tui.cli", "mcp", "openai", *LOADED_WHEN_USED):
        importlib.import_module(name)
    for package in PACKAGES:
        root = importlib.import_module(f"tui.{package}")
        for found in pkgutil.walk_packages(root.__path__, f"tui.{package}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    importlib.import_module("tui.commands.command_line").build_parser()  # makes argparse compile its patterns
    late = importlib.import_module("tui.core.late_compiling")._LatePattern
    for pattern in [found for found in gc.get_objects() if type(found) is late]:
        for method in METHODS:
            getattr(pattern, method)
    importlib.import_module("asyncio").run(_open_app_once())
    sdk_log = importlib.import_module("tui.host.sdk.sdk_log")
    # Done now, because scanning all modules in a fork would copy pages, which takes 5 ms.
    loggers = tuple(sdk_log._loggers_of_loaded_modules())
    sdk_log._loggers_of_loaded_modules = lambda: loggers
    assert threading.active_count() == 1, "other threads would be missing in the forks"
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(30_000, 20, 20)


async def _open_app_once() -> None:
    """Open the full-screen app and close it, so that apps in forks find parsed style sheets and full caches.

    The style sheets are the largest part of opening it. Textual keeps them per app and never changes them.
    """
    style_sheets = importlib.import_module("tests.style_sheets")
    style_sheets.parse_once(setattr)
    fakes = importlib.import_module("tests.ui.fakes")
    runtime = fakes.FakeRuntime(fakes.says("Hello."))
    app = importlib.import_module("tui.ui.app.app").McptuiApp(lambda: runtime, theme="harbor", keys={})
    async with app.run_test(size=(120, 40)) as pilot:
        while app.main.parts is None:
            await pilot.pause()
        await pilot.press("h", "enter")
        await pilot.pause()
    await app.close()
    await runtime.shutdown()


def listen(path: str) -> socket.socket:
    """Return a socket for requests. Its path appears once connections are accepted."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(f"{path}.new")
    listening.listen(64)
    os.rename(f"{path}.new", path)
    return listening


def serve(listening: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Serve requests until stdin is closed; in a forked process, return its request."""
    running: dict[int, socket.socket] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with listening, selectors.DefaultSelector() as selector:
        for ready in (listening, woken, 0):
            selector.register(ready, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == 0:
                    return None
                if key.fileobj == woken:
                    os.read(woken, 1000)
                    _report_ended(running, selector)
                    continue
                if key.fileobj == listening:
                    selector.register(listening.accept()[0], selectors.EVENT_READ)
                    continue
                asked = key.fileobj
                assert isinstance(asked, socket.socket)
                data, descriptors = _request(asked)
                if not data:
                    _kill(asked, running)
                    selector.unregister(asked)
                    asked.close()
                elif (pid := os.fork()) == 0:
                    os.close(wake)
                    _forget(selector)
                    return marshal.loads(data), descriptors
                else:
                    running[pid] = asked
                    _answer(asked, str(pid))
                    for descriptor in descriptors:
                        os.close(descriptor)


def _forget(selector: selectors.BaseSelector) -> None:
    """In a fork, close the parent's descriptors and reset its signal handling."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for ready in [key.fileobj for key in selector.get_map().values() if key.fileobj != 0]:
        os.close(ready) if isinstance(ready, int) else ready.close()


def _request(asked: socket.socket) -> tuple[bytes, list[int]]:
    try:
        data, descriptors, _, _ = socket.recv_fds(asked, MOST_BYTES, 3)
    except ConnectionError:
        return b"", []
    return data, descriptors


def _kill(asked: socket.socket, running: dict[int, socket.socket]) -> None:
    """Kill the program of a client that has disconnected, if it is still running."""
    for pid in [pid for pid, other in running.items() if other is asked]:
        del running[pid]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _report_ended(running: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            if (asked := running.pop(pid, None)) is not None:
                _answer(asked, str(os.waitstatus_to_exitcode(status)))


def _answer(asked: socket.socket, text: str) -> None:
    """Send an answer. After a cancelled test, nothing reads it."""
    with contextlib.suppress(OSError):
        asked.sendall(text.encode())


def become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Give this process the session, environment, folder and standard streams of the requested program."""
    os.setsid()
    if request.get("on_terminal"):
        fcntl.ioctl(descriptors[0], termios.TIOCSCTTY, 0)
    os.chdir(request["folder"])
    if "umask" in request:
        os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    written = open(1, "wb", buffering=0 if unbuffered else -1, closefd=False)
    sys.stdout = io.TextIOWrapper(written, write_through=unbuffered)
    sys.stderr = io.TextIOWrapper(
        open(2, "wb", closefd=False), errors="backslashreplace", line_buffering=True
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr


def run(arguments: list[str]) -> int:
    """Run a module or script like the interpreter, and return the exit status."""
    try:
        match arguments:
            case ["-m", module, *rest]:
                sys.argv = [module, *rest]
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            case [script, *rest]:
                sys.argv = [script, *rest]
                sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
                runpy.run_path(script, run_name="__main__")
    except SystemExit as left:
        if left.code is None or isinstance(left.code, int):
            return left.code or 0
        print(left.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def leave(status: int) -> None:
    """Exit like the interpreter, but without cleaning up thousands of modules."""
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        status = 120
    os._exit(status)


def main(path: str) -> None:
    """Load the modules at the first request; then serve, and run the requested program in each fork."""
    listening = listen(path)
    if 0 in select.select([listening, 0], [], [])[0]:
        return
    load()
    while (found := serve(listening)) is not None:
        become(*found)
        match found[0]["arguments"]:
            case ["fork_server", path, interpreter]:
                sys.executable = interpreter
                listening = listen(path)
            case arguments:
                leave(run(arguments))


if __name__ == "__main__":
    main(sys.argv[1])
