"""The reference: runs between a host and a server and records every byte before passing it on.

reference_tee.py FOLDER COMMAND ARGS...   writes FOLDER/PID.in (to the server) and FOLDER/PID.out
"""

import os
import subprocess
import sys
import threading


def copy(source: int, target: int, path: str) -> None:
    with open(path, "wb", 0) as file:
        while data := os.read(source, 65536):
            file.write(data)
            try:
                while data:
                    data = data[os.write(target, data) :]
            except BrokenPipeError:
                break
    os.close(target)


folder, *command = sys.argv[1:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
ways = [(0, server.stdin.fileno(), "in"), (server.stdout.fileno(), 1, "out")]
threads = [
    threading.Thread(target=copy, args=(source, target, f"{folder}/{os.getpid()}.{name}"), daemon=True)
    for source, target, name in ways
]
for thread in threads:
    thread.start()
threads[1].join()
code = server.wait()
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
