"""A `python` that starts at once: forks of one process that has imported the SDK run its programs.

The import takes a second of processor time, and the commands of a page start a dozen servers.
"""

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STUB = """#!{python} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as forks:
    forks.connect({address!r})
    socket.send_fds(forks, [b"x"], [0, 1, 2])
    forks.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode() + b"\\n")
    forks.recv(1)  # until the fork ends
"""


@contextmanager
def forking_python() -> Iterator[str]:
    """Yield a folder for PATH, with a `python` that runs a program in a fork."""
    with tempfile.TemporaryDirectory() as name:  # short, as the address of a socket must be
        address, stub = f"{name}/forks", Path(name, "python")
        stub.write_text(STUB.format(python=sys.executable, address=address), encoding="utf-8")
        stub.chmod(0o700)
        command = [sys.executable, __file__, address]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as forks:
            try:
                assert forks.stdout is not None and forks.stdout.readline() == b"ready\n"
                yield name
            finally:
                forks.kill()


def serve(address: str) -> None:
    """Run the program of each connection in a fork."""
    import mcp.server.mcpserver  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that nobody has to wait for a fork
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            listener.close()
            run(connection)
            return
        connection.close()


def run(connection: socket.socket) -> None:
    """Run a program with the streams, folder and environment of the stub, which waits for its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    words, folder, env = json.loads(connection.makefile("rb").readline())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = words
    runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    serve(sys.argv[1])
