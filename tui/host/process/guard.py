"""The shell that outlives a killed mcptui and ends its servers; see `watchdog` and the tap.

Standard library only, and little of it, because a tap must start fast.
"""

import os
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "watchdog_process.py")
    python = [sys.executable, "-I", "-S", script, owner]
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
