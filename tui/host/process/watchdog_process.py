"""Ends the servers of a killed host.

Run as a script by the shell that `tui.host.process.watchdog` starts, once the host is gone: OWNER GROUP...
Servers that behave exit because their input ended too. The rest get SIGTERM and SIGKILL. Imports only the
standard library.
"""

import os
import signal
import sys
import time

LEAVE_SECONDS = 0.5
TERM_SECONDS = 1.5
LOOK_SECONDS = 0.05


def main(owner: str, groups: set[int]) -> None:
    """End process groups, and the processes whose environment has the mark of `owner`."""
    mark = f"\0MCPTUI_OWNER={owner}/".encode()
    if not _gone(groups, mark, LEAVE_SECONDS):
        _signal(groups, mark, signal.SIGTERM)
        if not _gone(groups, mark, TERM_SECONDS):
            _signal(groups, mark, signal.SIGKILL)


def _gone(groups: set[int], mark: bytes, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(map(_group_lives, groups)) or _marked(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except PermissionError:  # macOS raises it for zombies; elsewhere the group is no longer ours
        return False
    except ProcessLookupError:
        return False
    return True


def _signal(groups: set[int], mark: bytes, number: int) -> None:
    for group in groups:
        try:
            os.killpg(group, number)
        except OSError:
            continue
    for pid in _marked(mark):
        try:
            os.kill(pid, number)
        except OSError:
            continue


def _marked(mark: bytes) -> list[int]:
    """Return the processes that carry the owner's mark; none where there is no /proc."""
    try:
        entries = [entry for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return []
    found = []
    for entry in entries:
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if mark in b"\0" + file.read():
                    found.append(int(entry))
        except OSError:
            continue
    return found


if __name__ == "__main__":
    main(sys.argv[1], set(map(int, sys.argv[2:])))
