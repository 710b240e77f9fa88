"""Ends the servers of a killed host.

Run as a script by the shell of `tui.host.process.guard`, once the host is gone: OWNER [=PID...] [GROUP...]
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


def main(owner: str, processes: set[int], groups: set[int]) -> None:
    """End processes, process groups, and the processes whose environment has the mark of `owner`."""
    mark = f"\0MCPTUI_OWNER={owner}/".encode() if owner else b""
    if not _gone(processes, groups, mark, LEAVE_SECONDS):
        _signal(processes, groups, mark, signal.SIGTERM)
        if not _gone(processes, groups, mark, TERM_SECONDS):
            _signal(processes, groups, mark, signal.SIGKILL)


def _gone(processes: set[int], groups: set[int], mark: bytes, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(map(_process_lives, processes)) or any(map(_group_lives, groups)) or _marked(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _process_lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:  # the number belongs to somebody else, if to anybody
        return False
    return True


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except PermissionError:  # macOS raises it for zombies; elsewhere the group is no longer ours
        return False
    except ProcessLookupError:
        return False
    return True


def _signal(processes: set[int], groups: set[int], mark: bytes, number: int) -> None:
    for group in groups:
        try:
            os.killpg(group, number)
        except OSError:
            continue
    for pid in processes.union(_marked(mark)):
        try:
            os.kill(pid, number)
        except OSError:
            continue


def _marked(mark: bytes) -> list[int]:
    """Return the processes that carry the owner's mark; none without a mark, or where there is no /proc."""
    if not mark:
        return []
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
    numbers = sys.argv[2:]
    main(
        sys.argv[1],
        {int(one[1:]) for one in numbers if one.startswith("=")},
        {int(one) for one in numbers if not one.startswith("=")},
    )
