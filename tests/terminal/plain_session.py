"""Drives plain mode by a transcript: what it says line by line, and in between what the user types.

Lines that begin with `you:` are typed when the lines before them were written. Placeholders such as `<n>`
stand for a text that varies; `<entry>` and other words are remembered, and can be typed. Lines about servers
and progress may come at any time, so those that are not expected next are skipped. `…` stands for any lines.
"""

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.terminal.pty_app import ROOT, TerminalApp
from tests.trusted import trusting

TRANSCRIPTS = Path(__file__).parent / "transcripts"
AT_ANY_TIME = ("server:", "progress:")
YOU = "you: "
SECONDS = 30.0


class PipedPlain:
    """Plain mode with pipes. `place` is the number of lines that a transcript has followed."""

    place = 0

    def __init__(self, *arguments: str, env: Mapping[str, str]) -> None:
        self.raw = bytearray()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tui", "--plain", *trusting(arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self._stdin, self._output = self.process.stdin, self.process.stdout.fileno()
        self._opened = self.process.stdout

    def __enter__(self) -> "PipedPlain":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._stdin.close()
        self._opened.close()

    def type(self, line: str) -> None:
        self._stdin.write(line.encode() + b"\n")
        self._stdin.flush()

    def pump(self) -> None:
        if select.select([self._output], [], [], 0.05)[0]:
            self.raw += os.read(self._output, 65536)

    def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < deadline, self.raw.decode()
            self.pump()

    def stops_reading(self) -> None:
        """Close the other end of its output."""
        self._opened.close()

    def ended(self) -> int:
        """Close stdin and return the exit code."""
        self._stdin.close()
        deadline = time.monotonic() + SECONDS
        while piece := os.read(self._output, 65536):
            self.raw += piece
            assert time.monotonic() < deadline
        return self.process.wait(SECONDS)


class TerminalPlain(TerminalApp):
    """Plain mode in a terminal."""

    place = 0

    def __init__(self, *arguments: str, env: Mapping[str, str]) -> None:
        words = [sys.executable, "-m", "tui", "--plain", *trusting(arguments)]
        super().__init__(words, env=env, draws=False, forks=self.forks)

    def type(self, line: str) -> None:
        self.send(line + "\r")

    def pump(self, seconds: float = 0.05) -> None:
        super().pump(seconds)


Session = PipedPlain | TerminalPlain


def lines_of(session: Session) -> list[str]:
    """Return the lines that were written so far; the last one may not be complete."""
    return session.raw.decode(errors="replace").replace("\r\n", "\n").replace("\a", "").split("\n")


def follow(session: Session, name: str, **given: object) -> Mapping[str, str]:
    """Follow a transcript to its end, and return what its placeholders stood for; some are `given`."""
    known = {word: str(value) for word, value in given.items()}
    place, skips = session.place, False
    for expected in (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        typed = expected.startswith(YOU)
        if expected == "…":
            skips = True
            continue
        line = expected
        for word, value in known.items():
            line = line.replace(f"<{word}>", value)
        if typed:
            prompted(session)
            session.type(line.removeprefix(YOU))
        if line != YOU:  # an empty line is not repeated
            place, skips = _found(session, place, line, known, skips=skips), False
    session.place = place
    return known


def prompted(session: Session) -> None:
    """Wait until a terminal shows a prompt. A pipe takes a line at any time."""
    deadline = time.monotonic() + SECONDS
    while isinstance(session, TerminalPlain) and lines_of(session)[-1] != YOU:
        session.pump()
        assert time.monotonic() < deadline, "\n".join(lines_of(session))


def _found(session: Session, place: int, expected: str, known: dict[str, str], *, skips: bool) -> int:
    """Wait for a line, and return the place after it."""
    pattern = re.compile(_pattern(expected))
    deadline = time.monotonic() + SECONDS
    while True:
        lines = lines_of(session)
        while place < len(lines) - 1:
            line = lines[place]
            place += 1
            if found := pattern.fullmatch(line):
                known.update({word: value for word, value in found.groupdict().items() if len(word) > 1})
                return place
            is_prompt = line in (YOU, YOU.rstrip(), "")  # interrupted, perhaps after its line
            is_skipped = skips or line.startswith(AT_ANY_TIME) or is_prompt
            assert is_skipped, f"expected: {expected}\nwritten:  {line}\n\n" + "\n".join(lines)
        assert time.monotonic() < deadline, f"never written: {expected}\n\n" + "\n".join(lines)
        session.pump()


def _pattern(expected: str) -> str:
    parts: Sequence[str] = re.split(r"<(\w+)>", expected)
    found, seen = "", set[str]()
    for number, part in enumerate(parts):
        if number % 2 == 0:
            found += re.escape(part)
        elif len(part) == 1 or part in seen:
            found += r".+?"
        else:
            seen.add(part)
            found += rf"(?P<{part}>\S+?)"
    return found
