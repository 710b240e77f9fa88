"""An interpreter whose programs are forks of `fork_server.py`, see `programs.ForkServer`.

It is copied beside the socket of the process that forks, executable, with the real interpreter in its first
line. A process of it stands for the program: whoever started it may signal, kill or wait for it. The program
ends with it, but is in a session of its own. Few modules are imported, since a start has to cost nothing:
`signal` with its enums and `array` would be half of it.
"""

import _signal as signal
import _socket
import marshal
import os
import sys

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(path: str, arguments: list[str]) -> int:
    """Have the program started on our standard streams; return its exit status."""
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
    for number in range(3):  # they end with the program
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
