"""Finds in a server's output what crashed: the words of the exception, and the line of its author. Pure.

It reads tracebacks of Python, the boxes that `rich` draws of them, as MCPServer and FastMCP do, stacks of
Node.js, and what these and compilers of TypeScript say about a file that they cannot parse. An SDK wraps the
exception of a tool in one of its own: of exceptions that caused each other, the last one raised outside of
libraries counts.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LAST_LINES = 5
LINE_CHARS = 1_000
MOST_PIECES = 8
"""Maximum lines over which `rich` breaks a path or the words of an exception."""

_PLAIN = re.compile(r"[\s|+]*?((?:Exception Group )?Traceback \(most recent call last)")
_PLAIN_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+)(?:, in (.+))?$')
_BOX = re.compile(r"\s*([╭┌+][─━-]+ Traceback)")
_BOX_END = re.compile(r"\s*[╰└+][─━-]+[╯┘+]\s*$")
_BOX_FRAME = re.compile(r"([^\s❱>].*):(\d+) in (\S.*)$")
_NODE = re.compile(r".{0,200}?(?:Error|Exception)\b")
_NODE_FRAME = re.compile(r"\s+at (?:(\S.*) \()?(?:file://)?(\S[^()]*):(\d+):\d+\)?$")
_NODE_PLACE = re.compile(r"(?:file://)?(/[^:]+|[A-Za-z]:[^:]+):(\d+)$")
_UNPARSED = re.compile(r"(?:Syntax|Indentation|Tab)Error\b")
_COMPILER = re.compile(r"(\S+\.[cm]?[jt]sx?)[:(](\d+)[:,]\d+\)?(?::| -) ((?:ERROR|error)\b.*)")
_LIBRARY = re.compile(
    r"<|node:|.*(?:(?:site|dist)-packages|node_modules|[/\\]lib(?:64)?[/\\]python\d[^/\\]*|[/\\]Lib)[/\\]"
)
_CHAINED = ("The above exception was the direct cause", "During handling of the above", "+-", "Caused by")


IN_USE_LINES = 12
"""Lines of a log in which a failed start says that something is in use."""

_IN_USE = re.compile(
    r"address (?:is )?already in use|EADDRINUSE|\[?Errno (?:98|48|10048|11|35)\b|resource temporarily "
    r"unavailable|EAGAIN|EBUSY|already (?:running|locked|in use)|another (?:instance|process)\b|"
    r"database is locked|(?:could not|cannot|failed to|unable to) (?:acquire|obtain|get) \S*\s*lock|"
    r"\block(?: ?file)? (?:is held|exists|already)|BlockingIOError|LockException|Timeout: The file lock|"
    r"exists\b.*\.(?:lock|lck|pid)\b",
    re.IGNORECASE,
)
"""What programs say when something that the old process uses is in use: a port, a lock, a database."""

_MAY_BE_USED = re.compile(
    r"\b(?:already|exists?|in use|busy|taken|(?:un)?lock\w*|pid ?file|ports?|address|bind\w*|listen\w*)\b",
    re.IGNORECASE,
)

USELESS_CODES = (2, 126, 127)
"""Exit codes of programs that a shell cannot start, and of those that get wrong arguments or no file."""

_PLACE = re.compile(r"\.[A-Za-z]{1,5}[:(]\d|\bline \d")


class Frame(NamedTuple):
    """A line of code that was running."""

    file: str
    line: str
    name: str

    @property
    def is_library(self) -> bool:
        return _LIBRARY.match(self.file) is not None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f" in {self.name}" if self.name else "")


class Raised(NamedTuple):
    """An exception with its frames, the innermost last, and its lines: from `start`, before `end`."""

    words: str
    frames: Sequence[Frame]
    start: int
    end: int

    @property
    def own(self) -> Frame | None:
        """The innermost frame outside of libraries."""
        return next((one for one in reversed(self.frames) if not one.is_library), None)

    @property
    def is_own(self) -> bool:
        """Whether it was raised outside of libraries."""
        return bool(self.frames) and not self.frames[-1].is_library


def last_words(lines: Sequence[str]) -> list[str]:
    """Return the last lines of an output; if it has a crash, its words and place, and what follows it."""
    lines = [line[:LINE_CHARS].rstrip() for line in lines]
    if (crash := last_crash(lines)) is None:
        return list(filter(None, lines))[-LAST_LINES:]
    place = [f"at {crash.own}"] if crash.own is not None else []
    return [crash.words, *place, *list(filter(None, lines[crash.end :]))[-LAST_LINES + 2 :]]


def last_crash(lines: Sequence[str]) -> Raised | None:
    """Return what crashed last in an output: of exceptions that caused each other, that of the author.

    Its `end` is that of the last one.
    """
    chain: list[Raised] = []
    for one in _raised(lines):
        chain = [*chain, one] if chain and _is_chained(lines[chain[-1].end : one.start]) else [one]
    if not chain:
        return None
    own = [one for one in chain if one.is_own][-1:] or [one for one in chain if one.own is not None]
    return (own or chain)[0]._replace(end=chain[-1].end)


def _is_chained(between: Sequence[str]) -> bool:
    """Return whether the lines between two exceptions say that one caused the other, or is part of it."""
    said = " ".join(" ".join(between[:MOST_PIECES]).split()).lstrip("| ")
    return said.startswith(_CHAINED) or not said


def _raised(lines: Sequence[str]) -> Iterator[Raised]:
    """Yield the exceptions in their order."""
    at = 0
    while at < len(lines):
        found = (
            _boxed(lines, at)
            or _plain(lines, at)
            or _unparsed(lines, at)
            or _of_node(lines, at)
            or _uncompiled(lines, at)
        )
        if found is not None and found.words:
            yield found
        at = max(at + 1, found.end if found is not None else 0)


def _plain(lines: Sequence[str], start: int) -> Raised | None:
    if (head := _PLAIN.match(lines[start])) is None:
        return None
    frames: list[Frame] = []
    for at in range(start + 1, len(lines)):
        line = lines[at][head.start(1) :]
        if line and not line[0].isspace():
            return Raised(line, frames, start, at + 1)
        if found := _PLAIN_FRAME.match(line):
            frames.append(Frame(found[1], found[2], found[3] or ""))
    return Raised("", frames, start, len(lines))


def _unparsed(lines: Sequence[str], start: int) -> Raised | None:
    """Return the error of a file that Python or Node.js cannot parse: its place, the line, and the words."""
    if (head := _PLAIN_FRAME.match(lines[start])) is None and (
        head := _NODE_PLACE.match(lines[start])
    ) is None:
        return None
    for at in range(start + 1, min(start + MOST_PIECES, len(lines))):
        if _UNPARSED.match(lines[at]):
            return Raised(lines[at], [Frame(head[1], head[2], "")], start, at + 1)
    return None


def _uncompiled(lines: Sequence[str], start: int) -> Raised | None:
    """Return the error of a compiler of TypeScript: `a.ts:12:3: ERROR: …`, `a.ts(12,3): error …`."""
    if (found := _COMPILER.match(lines[start])) is None:
        return None
    return Raised(found[3], [Frame(found[1], found[2], "")], start, start + 1)


def _boxed(lines: Sequence[str], start: int) -> Raised | None:
    if (head := _BOX.match(lines[start])) is None:
        return None
    indent, width = head.start(1), len(lines[start]) - head.start(1)
    frames: list[Frame] = []
    header: list[str] = []
    for at in range(start + 1, len(lines)):
        if is_end := _BOX_END.match(lines[at]):
            header.append("")
        else:
            header.append(lines[at][indent + 2 : indent + width - 2].rstrip())
        if header[-1]:
            continue
        if found := _BOX_FRAME.match(_joined(header[:MOST_PIECES], width - 4)):
            frames.append(Frame(found[1], found[2], found[3].rstrip()))
        header.clear()
        if is_end:
            words: list[str] = []
            for line in lines[at + 1 : at + 1 + MOST_PIECES]:
                text = line[indent:]
                if line[:indent].strip() or not text or text[0].isspace() or text.startswith(_CHAINED):
                    break
                words.append(text)
            return Raised(_joined(words, width), frames, start, at + 1 + len(words))
    return Raised("", frames, start, len(lines))


def _joined(pieces: Sequence[str], width: int) -> str:
    """Return the text that was broken into pieces: at words, or a long word where the line was full."""
    text = ""
    for piece in pieces:
        text += piece if piece[:1] == " " else f"{piece} " if len(piece) < width or " " in piece else piece
    return text.strip()


def _of_node(lines: Sequence[str], start: int) -> Raised | None:
    if not _NODE.match(lines[start]):
        return None
    frames: list[Frame] = []
    at = start + 1
    while at < len(lines) and (found := _NODE_FRAME.match(lines[at])):
        frames.insert(0, Frame(found[2], found[3], found[1] or ""))
        at += 1
    return Raised(lines[start], frames, start, at) if frames else None


def says_no_place(log: Sequence[str]) -> bool:
    """Whether a log does not say where in its code a process failed."""
    return last_crash(log) is None and not any(map(_PLACE.search, log))


def may_be_in_use(code: int | None, log: Sequence[str]) -> bool:
    """Whether a process that has exited fails for no known cause, and speaks of what may be in use."""
    is_spoken_of = any(map(_MAY_BE_USED.search, log[-IN_USE_LINES:]))
    return code not in (None, *USELESS_CODES) and is_spoken_of and says_no_place(log)


def says_in_use(log: Sequence[str]) -> bool:
    """Whether a process says in its crash, or else at the end of its log, that something is in use."""
    crash = last_crash(log)
    return any(map(_IN_USE.search, log[-IN_USE_LINES:] if crash is None else (crash.words,)))
