"""Searches for regular expressions in a process of its own, which can be ended in the middle of a match.

Python's `re` lets no other thread run while it matches (measured: `[a-z]+@` takes 0.28 s on 16 kB of
letters, and four times as long on twice as many). In this process the screen would stand still, and nothing
could break it off. The process starts with the first search and ends with `close`; what it does is in
`tui.storage.recordings.regex_worker`.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from tui.core.text import composed
from tui.core.traffic import BodyTerm
from tui.storage.recordings.regex_worker import READY

RUN_SECONDS = 1.0
"""Bodies that take longer together are searched again one by one, to know which of them it is."""

BODY_SECONDS, LEAST_SECONDS = 20.0, 1.0
"""How long one body may take. Each one that took longer halves it for the next, down to the least."""

WINDOW, STEP = 1024, 512
"""Where no process can be started, bodies are searched here in pieces of so many characters, so far apart:
the interpreter is held for about a millisecond each."""

_KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What Python itself may need to start. Nothing else: there are keys among the rest."""


class RegexProcess:
    """Searches runs of bodies. Used by one thread at a time; `interrupt` by any.

    Args:
        stop: set, before `interrupt` is called, to break off.
        python: the interpreter that is started; None for the one that runs this.
        body_seconds: how long one body may take at first.
    """

    def __init__(self, stop: Event, *, python: str | None = None, body_seconds: float = BODY_SECONDS) -> None:
        self._stop = stop
        self._python = sys.executable if python is None else python
        self._body_seconds = body_seconds
        self._worker: _Worker | None = None
        self._busy: _Worker | None = None
        self._terms: Sequence[BodyTerm] = ()
        self._given_up: set[int] = set()
        self._refused = ""

    @property
    def pid(self) -> int | None:
        """Process id, while there is a process."""
        return self._worker.process.pid if self._worker is not None else None

    @property
    def problem(self) -> str:
        """Why not every body was searched whole for the last terms, or ""."""
        said = [self._refused] if self._refused else []
        if self._given_up:
            count = len(self._given_up)
            which = "entry" if count == 1 else f"{count} entries, the first is"
            said.append(f"not searched, the regular expression takes too long: {which} {min(self._given_up)}")
        return "; ".join(said)

    def search(self, terms: Sequence[BodyTerm], seqs: Sequence[int], run: Sequence[bytes]) -> list[list[int]]:
        """Return for each term the seqs of the bodies that have it; none of them if it was broken off.

        Args:
            terms: regular expressions.
            seqs: of the bodies.
            run: the bodies, UTF-8.
        """
        if terms != self._terms:
            self._terms = terms
            self._given_up.clear()
        bodies = [pair for pair in zip(seqs, run, strict=True) if pair[0] not in self._given_up]
        found: list[list[int]] = [[] for _ in terms]
        if bodies and not self._add(bodies, found) and len(bodies) > 1:
            for body in bodies:
                self._add([body], found)
        return found

    def interrupt(self) -> None:
        """End the process if it searches."""
        if (worker := self._busy) is not None:
            worker.kill()

    def close(self) -> None:
        """End the process, if there is one; it is gone on return."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    # ---- one request ---------------------------------------------------------------------------------

    def _add(self, bodies: Sequence[tuple[int, bytes]], found: Sequence[list[int]]) -> bool:
        """Add what is found in bodies, all or nothing; False if they took too long."""
        places = self._places([body for _, body in bodies])
        if places is not None:
            for seqs, each in zip(found, places, strict=True):
                seqs.extend(bodies[place][0] for place in each)
            return True
        if self._stop.is_set():
            return True
        if len(bodies) == 1:
            self._given_up.add(bodies[0][0])
        return False

    def _places(self, run: Sequence[bytes]) -> list[list[int]] | None:
        """Return for each term the places of the bodies that have it; None if nobody knows."""
        if not self._refused:
            try:
                return self._asked(run)
            except OSError as error:
                reason = error.strerror or str(error)
                self._refused = f"searched only in pieces, no process could be started ({reason})"
        return [
            [place for place, body in enumerate(run) if _is_in_pieces(pattern, body, self._stop)]
            for pattern in [_compiled(term) for term in self._terms]
        ]

    def _asked(self, run: Sequence[bytes]) -> list[list[int]] | None:
        head = {
            "terms": [(composed(term.needle), term.fold) for term in self._terms],
            "sizes": [len(body) for body in run],
            "seconds": RUN_SECONDS if len(run) > 1 else self._patience(),
        }
        request = b"".join((json.dumps(head).encode(), b"\n", *run))
        while not self._stop.is_set():
            worker = self._busy = self._living()
            # Looked at once more: who interrupts sets `stop` before it looks at `_busy`.
            answer = b"" if self._stop.is_set() else worker.ask(request)
            self._busy = None
            if answer:
                found: list[list[int]] = json.loads(answer)
                return found
            self._worker = None
            worker.end()
            if not worker.is_killed and not self._stop.is_set():
                if not worker.is_ready:
                    raise OSError("it ended at once")
                return None
        return None

    def _living(self) -> "_Worker":
        """Return the process; a new one if there is none, or if somebody ended it."""
        if self._worker is not None and self._worker.process.poll() is not None:
            self.close()
        self._worker = self._worker or _Worker(self._python)
        return self._worker

    def _patience(self) -> float:
        """Return how many seconds the next body may take by itself."""
        least = min(LEAST_SECONDS, self._body_seconds)
        return max(least, self._body_seconds / 2.0 ** min(len(self._given_up), 30))


class _Worker:
    """The process.

    Attributes:
        process: as `subprocess` knows it.
        is_ready: whether it came so far as to take requests.
        is_killed: whether `kill` was called.
    """

    def __init__(self, python: str) -> None:
        """Start it: no shell, no secrets, no descriptors of ours, not in the way of ctrl-c.

        Raises:
            OSError: it cannot be started.
        """
        if not python:
            raise OSError("no Python is known")
        self.is_ready = self.is_killed = False
        self.process = subprocess.Popen(
            [python, "-I", "-S", str(Path(__file__).with_name("regex_worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
            start_new_session=True,
        )

    def ask(self, request: bytes) -> bytes:
        """Return the answer, b"" if the process ended before."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            if not self.is_ready:
                self.is_ready = self.process.stdout.readline() == READY
                if not self.is_ready:
                    return b""
            self.process.stdin.write(request)
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except OSError:  # it ended while it was asked
            return b""
        return answer if answer.endswith(b"\n") else b""

    def kill(self) -> None:
        """End it; any thread may."""
        self.is_killed = True
        self.process.kill()

    def end(self) -> None:
        """End it, and leave nothing of it."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was still to be written has nowhere to go
                    pipe.close()


def _compiled(term: BodyTerm) -> re.Pattern[str]:
    return re.compile(composed(term.needle), re.IGNORECASE if term.fold else re.NOFLAG)


def _is_in_pieces(pattern: re.Pattern[str], body: bytes, stop: Event) -> bool:
    """Whether a piece of a body matches; a longer match may be missed, and "$" is the end of any piece."""
    text = body.decode("utf-8", "surrogatepass")
    for start in range(0, max(len(text) - WINDOW + STEP, 1), STEP):
        if stop.is_set():
            return False
        if pattern.search(text, start, start + WINDOW):
            return True
    return False
