"""An interpreter whose programs are forks of `fork_server.py`; see `programs.ForkServer`.

It is copied next to the fork server's socket as an executable, with the real interpreter in its first line.
Its process represents the program: the parent may signal, kill or wait for it. The program ends with it but
runs in its own session. Few modules are imported, to keep the start cheap: `signal` with its enums and
`array` would be half of its cost.
"""

import _signal as signal
import _socket
import marshal
import os
import sys

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(path: str, arguments: list[str]) -> int:
    """Start the program on our standard streams and wait for it; return its exit status."""
    answer = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    answer.connect(path)
    request = {
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "umask": os.umask(0),
    }
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
    ignored = [number for number in FORWARDED if signal.getsignal(number) == signal.SIG_IGN]
    for number in FORWARDED:
        if number not in ignored:
            signal.signal(number, lambda number, _: os.kill(pid, number))
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    answer.sendmsg([marshal.dumps(request)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    pid = int(answer.recv(100))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):  # so that the streams are closed when the program ends
        os.dup2(nothing, number)
    return int(answer.recv(100) or 1)


words = sys.argv[1:]
if words[:1] == ["-P"]:
    words = words[1:]
if words[:1] != ["-m"] and words[0].startswith("-"):
    os.execv(sys.executable, [sys.executable, *words])
status = main(os.path.join(os.path.dirname(os.path.abspath(__file__)), "socket"), words)
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
