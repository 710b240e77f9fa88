"""What plain mode writes: lines that begin with a word, one sentence or line of a text each.

No line depends on its color or place, and no escape sequence is written. Long texts are shown in pages.
"""

import asyncio
import json
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TextIO

from tui.core.language.translate import _, localized, n_
from tui.core.terminal.attention import BELL
from tui.core.text import Cleaner, clean

YOU, MODEL, CALL, RESULT, QUESTION = "you", "model", "call", "result", "question"
SERVER, ERROR, PROGRESS, OWN = "server", "error", "progress", "mcptui"
"""The words that begin lines. They are not translated, so that a search finds them in every transcript."""

PAGE, PAGE_CHARACTERS = 30, 6_000
"""Lines of a page, and the characters after which it ends earlier."""

SPARE = 2
"""Lines that are written beyond the end of a page, rather than waiting alone."""

PROMPT_SECONDS = 0.5
"""Silence after which the prompt is shown again that other lines have interrupted."""

PROGRESS_SECONDS = 5.0
"""Time without a line after which one says what is awaited, and between lines about a progress."""

MAX_LINE = 1_000
"""Maximum characters of a line. A longer one is continued on the next."""

MOST_KEPT = 20_000
"""Maximum lines that wait for `/more`."""

SENTENCE = 40
"""Least characters of a line that ends with a sentence while a text arrives."""

_SENTENCE_END = re.compile(r"[.!?…:;](?=\s)|[。！？；]")
_FENCE = re.compile(r"\s*(```|~~~)")


class Transcript:
    """Writes lines to `out`, in the order in which things happen.

    `rings`: a bell sounds when an answer is complete or something is asked, if `out` is a terminal.
    `at_prompt`: a prompt is shown, and the user may be typing; `typed` returns what, as far as it is known.
    `last` is when the last line was written.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._rests = {kind: deque[tuple[str, str]]() for kind in (QUESTION, MODEL, OWN)}
        self._room = _Room()
        self._again: asyncio.TimerHandle | None = None
        self.is_terminal = out.isatty()
        self.rings = True
        self.at_prompt = False
        self.typed: Callable[[], str] = str
        self.last = time.monotonic()

    def say(self, word: str, text: str) -> None:
        """Write a text of any content. Each line begins with the word."""
        for line in _lines(text):
            self._write(word, line)
        self._out.flush()

    def say_long(self, word: str, *texts: str) -> None:
        """Write the first page of a text. The rest waits for `more`, in place of what waited before."""
        self.say_pages((word, line) for text in texts for line in _lines(text))

    def say_pages(self, lines: Iterable[tuple[str, str]], kind: str = OWN) -> None:
        """Write the first page of lines, which are clean. The rest waits, in place of that of this kind.

        The rest of a question stays until `forget`, so that nobody can accept what was not shown.
        """
        rest = self._newest(kind)
        if kind != QUESTION:
            rest.clear()
        found = deque(islice(lines, MOST_KEPT + 1))
        if len(found) > MOST_KEPT:
            found[-1] = (OWN, _("The rest is not shown."))
        self._page(found)
        rest.extend(found)
        self._tell_rest(kind)

    def begin_turn(self) -> None:
        """Begin a page for an answer. What waits of the one before stays until another text is as long."""
        if self._rests[MODEL]:
            self._rests[OWN], self._rests[MODEL] = self._rests[MODEL], deque()
        self._room = _Room()

    def begin_step(self) -> None:
        """Begin a page for what the model writes next, unless something before it waits."""
        if not self._rests[MODEL]:
            self._room = _Room()

    def add(self, text: str) -> None:
        """Write a line of an answer while its page has room. On a terminal, what follows waits for `more`.

        A pipe gets all of it: nobody has to listen to it, and a script wants the whole answer.
        """
        for line in _lines(text):
            if not self.is_terminal or self._room.takes(line):
                self._write(MODEL, line)
                continue
            self._newest(MODEL).append((MODEL, line))
            if len(self._rests[MODEL]) == SPARE + 1:
                self._write(OWN, _("The answer goes on. /more shows the next page."))
        self._out.flush()

    def end_step(self) -> None:
        """Say how much of an answer waits, or write it if that is little."""
        if len(rest := self._rests[MODEL]) <= SPARE:
            self._page(rest)
        self._tell_rest(MODEL)

    def more(self) -> bool:
        """Write the next page of the text that was written last; return whether there was one."""
        kind = next((kind for kind in reversed(self._rests) if self._rests[kind]), "")
        if kind:
            lines = self._page(self._rests[kind])
            if kind == MODEL:
                self._room = _Room(PAGE - lines)
            self._tell_rest(kind)
        return bool(kind)

    def _newest(self, kind: str) -> deque[tuple[str, str]]:
        """Return what waits of a text, which `more` shows before other texts from now on."""
        self._rests[kind] = rest = self._rests.pop(kind)
        return rest

    def _page(self, rest: deque[tuple[str, str]]) -> int:
        """Write a page, and return the number of its lines."""
        before, room = len(rest), _Room(PAGE if len(rest) > PAGE + SPARE else PAGE + SPARE)
        while rest and room.takes(rest[0][1]):
            self._write(*rest.popleft())
        return before - len(rest)

    def _tell_rest(self, kind: str) -> None:
        if number := len(self._rests[kind]):
            text = n_("{n} more line. /more shows it.", "{n} more lines. /more shows the next page.", number)
            self._write(QUESTION if kind == QUESTION else OWN, text)
        self._out.flush()

    @property
    def waiting(self) -> int:
        """The number of lines that wait for `more`."""
        return sum(map(len, self._rests.values()))

    @property
    def unread(self) -> int:
        """The number of those that belong to a question."""
        return len(self._rests[QUESTION])

    @property
    def is_quiet(self) -> bool:
        """Whether the last line is old enough for one about a progress."""
        return time.monotonic() - self.last >= PROGRESS_SECONDS

    def forget(self) -> None:
        """Drop what waits of a question."""
        self._rests[QUESTION].clear()

    def prompt(self) -> None:
        """Show that a line is expected, on a terminal."""
        self.answered()
        if self.is_terminal and not self.at_prompt:
            self._out.write(f"{YOU}: {self.typed()}")
            self._out.flush()
            self.at_prompt = True

    def answered(self) -> None:
        """Show no prompt again that was interrupted: its line was typed."""
        self.last = time.monotonic()
        if self._again is not None:
            self._again.cancel()
            self._again = None

    def end(self, *, typed: bool = False) -> None:
        """End the line of a prompt that got no answer; with `typed`, that of a key which is shown as `^C`."""
        self.answered()
        if self.at_prompt or (typed and self.is_terminal):
            self._out.write("\n")
            self._out.flush()
            self.at_prompt = False

    def ring(self) -> None:
        if self.rings and self.is_terminal:
            self._out.write(BELL)
            self._out.flush()

    def _write(self, word: str, line: str) -> None:
        if self.at_prompt or self._again is not None:
            self._interrupt()
        self._out.write(f"{word}: {line}\n")
        self.last = time.monotonic()

    def _interrupt(self) -> None:
        """End the line of the prompt. It is shown once more when no line has followed for a while."""
        again = self._again is not None or self.at_prompt
        self.end()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # nothing is read any more
            return
        if again:
            self._again = loop.call_later(PROMPT_SECONDS, self.prompt)


def json_lines(value: Any, place: str = "") -> Iterator[str]:
    """Yield a JSON value as lines that can be read alone: the place of each value, and the value."""
    if isinstance(value, Mapping) and value:
        for name, one in value.items():
            yield from json_lines(one, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list) and value:
        for number, one in enumerate(value):
            yield from json_lines(one, f"{place}[{number}]")
    else:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
        yield from (f"{place}: {line}" if place else line for line in text.split("\n"))


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text in the user's language, cleaned and bounded, without empty ones."""
    for line in clean(localized(text)).split("\n"):
        line = line.rstrip().expandtabs(4)
        while len(line) > MAX_LINE:
            cut = line.rfind(" ", MAX_LINE // 2, MAX_LINE) + 1 or MAX_LINE
            yield line[:cut].rstrip()
            line = line[cut:]
        if line:
            yield line


class _Room:
    """The room that is left on a page."""

    def __init__(self, lines: int = PAGE) -> None:
        self._lines, self._characters = lines, PAGE_CHARACTERS

    def takes(self, line: str) -> bool:
        """Return whether there is room for a line, and use it."""
        if self._lines <= 0 or self._characters <= 0:
            return False
        self._lines, self._characters = self._lines - 1, self._characters - len(line)
        return True


class Stream:
    """An answer that arrives in pieces: written as soon as a line or a sentence is complete."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._cleaner = Cleaner()
        self._text = ""
        self._in_code = self._has_text = False

    def feed(self, piece: str) -> None:
        self._has_text = True
        self._text += self._cleaner.feed(piece)
        while end := self._end():
            self._say(self._text[:end])
            self._text = self._text[end:]

    def end(self) -> None:
        """Write what is left."""
        if not self._has_text:
            return
        self._text += self._cleaner.end()
        for line in self._text.split("\n"):
            self._say(line)
        self._text, self._in_code, self._has_text = "", False, False
        self._transcript.end_step()

    def _end(self) -> int:
        """Return where the first complete part ends, 0 if there is none."""
        newline = self._text.find("\n") + 1
        if not self._in_code and (
            found := _SENTENCE_END.search(self._text, SENTENCE - 1, newline or len(self._text))
        ):
            return found.end()
        return newline

    def _say(self, line: str) -> None:
        if _FENCE.match(line):
            self._in_code = not self._in_code
        if line := line if self._in_code else line.strip():
            self._transcript.add(line)
