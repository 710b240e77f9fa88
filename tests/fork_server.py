"""A process that has the modules of mcptui loaded and forks itself for each program: `fork_server.py FD`.

Loading the modules is most of what a program costs. A request on the socket FD is JSON with the arguments of
the interpreter (`-m MODULE …` or `SCRIPT …`), the environment, the folder, and whether stdin is its terminal,
and the descriptors of a socket for the answer, stdin, stdout and stderr. The answer is the process id, and
the exit status once it has ended.
"""

import contextlib
import fcntl
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import termios
import time
from typing import Any

MOST_BYTES = 200_000
PACKAGES = ("commands", "ui", "runtime", "host", "model", "storage", "settings", "traffic", "core")

LOADED_WHEN_USED = (
    "openai.resources.chat.completions",
    "openai.lib._chat_completion_resources",
    "anyio._backends._asyncio",
    "encodings.utf_8_sig",
)


def load() -> None:
    """Import what programs import, so that each of them has it at once."""
    for name in ("tui.cli", "mcp", "openai", *LOADED_WHEN_USED):
        importlib.import_module(name)
    for package in PACKAGES:
        root = importlib.import_module(f"tui.{package}")
        for found in pkgutil.walk_packages(root.__path__, f"tui.{package}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    gc.collect()
    gc.freeze()


def serve(control: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Answer requests until the other end is closed; return a request only in the process forked for it."""
    answers: dict[int, socket.socket] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == woken:
                    os.read(woken, 1000)
                    _tell_of_ended(answers)
                    continue
                data, descriptors, _, _ = socket.recv_fds(control, MOST_BYTES, 4)
                if not data:
                    return None
                if (pid := os.fork()) == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for descriptor in (woken, wake, control.detach()):
                        os.close(descriptor)
                    for other in answers.values():
                        other.close()
                    os.close(descriptors[0])
                    return json.loads(data), descriptors[1:]
                answers[pid] = socket.socket(fileno=descriptors[0])
                _answer(answers[pid], f"{pid} ")
                for descriptor in descriptors[1:]:
                    os.close(descriptor)


def _tell_of_ended(answers: dict[int, socket.socket]) -> None:
    while answers:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with answers.pop(pid) as answer:
            _answer(answer, str(os.waitstatus_to_exitcode(status)))


def _answer(answer: socket.socket, text: str) -> None:
    """Tell whoever asked; a test that was cancelled no longer listens."""
    with contextlib.suppress(OSError):
        answer.sendall(text.encode())


def become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Make this process what a new one would be: its session, environment, folder and standard streams."""
    os.setsid()
    if request["on_terminal"]:
        fcntl.ioctl(descriptors[0], termios.TIOCSCTTY, 0)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False))
    sys.stderr = io.TextIOWrapper(
        open(2, "wb", closefd=False), errors="backslashreplace", line_buffering=True
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr


if __name__ == "__main__":
    listening = socket.socket(fileno=int(sys.argv[1]))
    load()
    if (found := serve(listening)) is not None:
        become(*found)
        match found[0]["arguments"]:
            case ["-m", module, *arguments]:
                sys.argv = [module, *arguments]
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            case [script, *arguments]:
                sys.argv = [script, *arguments]
                runpy.run_path(script, run_name="__main__")
