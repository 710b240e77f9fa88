"""The shell that outlives a killed mcptui and ends its servers; see `watchdog` and the tap.

Once the host is gone, the shell runs this file as a script: OWNER [=PID...] [GROUP...]. Servers that behave
exit because their input ended too. The rest get SIGTERM and SIGKILL. Standard library only, and little of it,
because a tap must start fast.
"""

import os
import signal
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_GUARD = """
trap "" INT HUP
cd /
groups=
while read -r word; do
  [ "$word" = bye ] && exit
  group=${word#?}
  case $group in "" | *[!0-9]*) continue ;; esac
  case $word in
    +*) case " $groups " in *" $group "*) ;; *) groups="$groups $group" ;; esac ;;
    -*)
      others=
      for other in $groups; do [ "$other" = "$group" ] || others="$others $other"; done
      groups=$others
      ;;
  esac
done
"$@" $groups || for group in $groups; do kill -s KILL -- "-$group"; done
"""
"""Reads lines: `+PGID` and `-PGID` name the live process groups, `bye` ends it. When they end without that
word, the host was killed, and the command in its arguments ends the groups.

A shell starts in 1 ms, Python in 10, and takes a fifth of the memory. Python takes over only after a kill. If
it cannot, since mcptui was removed meanwhile, the groups are killed at once.
"""

OWNER_VARIABLE = "MCPTUI_OWNER"
"""Set in every server's environment: `owner/number`, inherited by whatever the server starts."""


def guard_command(owner: str, *processes: int) -> list[str]:
    """Return the command that guards the servers of a host with this mark, and these processes."""
    python = [sys.executable, "-I", "-S", os.path.abspath(__file__), owner]
    return ["/bin/sh", "-c", _GUARD, "sh", *python, *(f"={process}" for process in processes)]


class TapGuard:
    """Ends the server of a tap, and what it started, after the tap was killed.

    The server stays in the process group of the tap and its host, so it is guarded by its id.
    """

    def __init__(self, environment: "Mapping[str, str]") -> None:
        """Use the mark that the environment already has: the mcptui that set it ends what has it."""
        self._mark = "" if OWNER_VARIABLE in environment else f"tap-{os.getpid()}-{time.time_ns():x}"
        self._pipe = -1
        self.environment: Mapping[str, str] = environment
        if self._mark:
            self.environment = {**environment, OWNER_VARIABLE: f"{self._mark}/tap"}

    def start(self, server: int) -> None:
        """Start the guard, in about a millisecond. Never raises: without a guard, a tap still works."""
        if not sys.executable:
            return
        read, self._pipe = os.pipe()
        try:
            nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
            os.posix_spawn(
                "/bin/sh",
                guard_command(self._mark, server),
                {},
                file_actions=[(os.POSIX_SPAWN_DUP2, read, 0), *nowhere],
                setsid=True,
            )
        except (OSError, NotImplementedError):  # no process left, or a platform without setsid here
            os.close(self._pipe)
            self._pipe = -1
        finally:
            os.close(read)

    def end(self) -> None:
        """End the guard: the server has exited. What it left behind stays, as without a tap."""
        if self._pipe >= 0:
            with suppress(OSError):
                os.write(self._pipe, b"bye\n")
            os.close(self._pipe)
            self._pipe = -1


LEAVE_SECONDS = 0.5
TERM_SECONDS = 1.5
LOOK_SECONDS = 0.05


def end_servers(owner: str, processes: set[int], groups: set[int]) -> None:
    """End processes, process groups, and the processes whose environment has the mark of `owner`."""
    mark = f"\0{OWNER_VARIABLE}={owner}/".encode() if owner else b""
    if not _gone(processes, groups, mark, LEAVE_SECONDS):
        _signal(processes, groups, mark, signal.SIGTERM)
        if not _gone(processes, groups, mark, TERM_SECONDS):
            _signal(processes, groups, mark, signal.SIGKILL)


def _gone(processes: set[int], groups: set[int], mark: bytes, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while _lives(os.kill, processes) or _lives(os.killpg, groups) or marked(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _lives(kill: "Callable[[int, int], None]", numbers: set[int]) -> bool:
    for number in numbers:
        with suppress(OSError):  # it belongs to somebody else, if to anybody; or it is a zombie on macOS
            kill(number, 0)
            return True
    return False


def _signal(processes: set[int], groups: set[int], mark: bytes, number: int) -> None:
    for group in groups:
        with suppress(OSError):
            os.killpg(group, number)
    for pid in processes.union(marked(mark)):
        with suppress(OSError):
            os.kill(pid, number)


def marked(mark: bytes) -> list[int]:
    """Return the processes with a mark, after a NUL, in their environment; none where there is no /proc."""
    if not mark:
        return []
    try:
        entries = [entry for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return []
    found = []
    for entry in entries:
        with suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
            if mark in b"\0" + file.read():
                found.append(int(entry))
    return found


if __name__ == "__main__":
    numbers = sys.argv[2:]
    end_servers(
        sys.argv[1],
        {int(one[1:]) for one in numbers if one.startswith("=")},
        {int(one) for one in numbers if not one.startswith("=")},
    )
