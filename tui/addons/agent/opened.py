"""Recordings that stay open between calls, and are read on: columns, findings, entries. For one thread."""

import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tui.addons.agent.answer import plain
from tui.commands.recordings import is_export, open_entries
from tui.commands.traffic_selection import Selection, query_of
from tui.core.errors import UsageError
from tui.core.files import stamp_of
from tui.core.jsonrpc.reader import indented, json_text, json_value, nests_deeper
from tui.core.secrets.redact import Redactor
from tui.core.text import clean
from tui.core.traffic import BODY_LOST_TEXT, Direction, Entry, Finding, Kind
from tui.core.units import exact
from tui.storage.files.sqlite_file import on_error
from tui.traffic.record.open_recording import readable_body, whole_entry

if TYPE_CHECKING:
    from tui.traffic.lint.lint import Linter

MOST_OPEN = 3
MOST_BODY = 4 * 1024 * 1024
"""Maximum bytes of a body that is read."""

LINTED_AT_ONCE = 1_000
"""Entries that are linted before another question is answered: about 30 ms."""

LINT_SECONDS = 1.0
MOST_INDENTED, MOST_LEVELS = 256 * 1024, 40
"""Maximum bytes and levels of a message that is indented."""

MOST_FINDINGS = 50_000
"""Maximum findings that are kept by entry; those of later entries are only counted."""


class OpenTraffic:
    """One recording. `name` is its name, `selection` all of its entries. `redact` removes secrets.

    `stamp` tells whether its file was replaced.
    """

    def __init__(self, path: Path, stack: ExitStack, redactor: Redactor) -> None:
        """Open a recording; raises StorageError. `stack` closes it."""
        self.name = plain(path.stem)
        self._recording = stack.enter_context(open_entries(path))
        self.selection = stack.enter_context(closing(Selection(self._recording, query_of(None))))
        self.columns = self.selection.columns
        self.reader = self._recording.reader
        self._stack, self._redactor, self.redact = stack, redactor, redactor.redact
        self._shown: tuple[object, str] = None, ""
        self._linter: Linter | None = None
        self._linted, self._deadline = 0, 0.0
        self.stamp: object = None
        self._found: dict[int, Sequence[Finding]] = {}

    def begin(self) -> None:
        """Read what was recorded since, for another answer."""
        self.selection.read_on()
        self._deadline = time.monotonic() + LINT_SECONDS

    def select(self, text: str, within: str = "") -> "closing[Selection]":
        """Return the entries that match a filter, to be closed. Raises UsageError if it is invalid."""
        query = query_of(text, "filter")
        if within:
            query = query_of(within).within(query)
        if "lint:" in text.lower():
            self.lint()
        return closing(Selection(self._recording, query, columns=self.columns))

    def entry(self, seq: int, most: int = MOST_BODY) -> Entry:
        """Return an entry with its body. Raises UsageError that says which entries there are."""
        found = whole_entry(self.reader, seq, most)
        if found is None:
            columns = self.columns
            there = f"{exact(columns.seq(0))} to {exact(columns.last)}" if len(columns) else "none"
            raise UsageError(f"no entry {exact(seq)} in {self.name}", next_step=f"Its entries are {there}.")
        return found._replace(body=readable_body(found, found.body)[0])

    def text_of(self, entry: Entry, *, is_indented: bool = True) -> str:
        """Return the message of an entry and its details, redacted before anything is cut."""
        key = entry.seq, self._redactor.known, is_indented
        if self._shown[0] != key:
            body = _indented(entry.body) if is_indented else entry.body.decode("utf-8", "replace")
            said = [BODY_LOST_TEXT if entry.is_body_lost else body]
            if entry.detail and (entry.kind is not Kind.EVENT or not entry.body):
                said.append(f"Details: {json_text(dict(entry.detail))}")
            is_cut = bool(entry.sha256) or len(entry.body) >= MOST_BODY
            redact = self._redactor.redact_cut if is_cut else self.redact
            self._shown = key, clean(redact("\n".join(filter(None, said))))
        return self._shown[1]

    def partner(self, seq: int) -> int:
        """Return the seq of the response of a request, or of the request of a response; 0 without one."""
        index = self.columns.index(seq)
        place = self.columns.partner(index) if index >= 0 else -1
        return self.columns.seq(place) if place >= 0 else 0

    def lint(self) -> None:
        """Lint what is new, as far as that takes no longer than anyone waits for an answer."""
        while self._linted < self.columns.last and self.lint_some() and time.monotonic() < self._deadline:
            pass

    @property
    def lint_note(self) -> str:
        """How far the linter has come, "" if it has read everything."""
        if self._linted >= self.columns.last:
            return ""
        return f" The linter has read {exact(self._linted)} of {exact(self.columns.last)} entries so far."

    def lint_some(self) -> bool:
        """Lint a part of what is new; return whether more is left. Other work may come between two parts."""
        from tui.runtime.recording import model_judge
        from tui.traffic.lint.lint import Linter
        from tui.traffic.lint.lint_thread import lint_entries

        if self._linter is None:
            self._linter = Linter(self._stack.enter_context(closing(model_judge())))
        new: list[Finding] = []
        seen = 0
        for entry, found in islice(lint_entries(self._linter, self.reader, self._linted), LINTED_AT_ONCE):
            seen, self._linted = seen + 1, entry.seq
            if found and len(self._found) < MOST_FINDINGS:
                self._found[entry.seq] = tuple(found)
            new += found
        self.selection.read_on()  # a live recording has grown meanwhile
        self.columns.set_severities((one.severity, (one.seq,)) for one in new)
        if seen < LINTED_AT_ONCE:
            self._linted = max(self._linted, self.columns.last)  # the last ones may not be readable
        return seen == LINTED_AT_ONCE

    def findings(self) -> Iterator[Finding]:
        for found in self._found.values():
            yield from found

    def findings_of(self, seq: int) -> Sequence[Finding]:
        """Return the findings of an entry, linted as far as it is."""
        self.lint()
        return self._found.get(seq, ())

    def revision(self, source: str) -> str:
        """Return the protocol revision that a server speaks, "" if it is not known."""
        self.lint()
        return self._linter.revision(source) if self._linter is not None else ""

    def seqs(self, kind: Kind, source: str, first: int, last: int) -> list[int]:
        """Return the entries of a kind and a source from `first` to `last`."""
        columns = self.columns
        number = columns.sources.texts.index(source) if source in columns.sources.texts else -1
        places = range(columns.position(first), columns.position(last + 1))
        return [columns.seq(at) for at in places if columns.kind[at] == kind and columns.source[at] == number]

    def texts(self, seqs: Sequence[int], most: int = 1000) -> list[str]:
        """Return the starts of the bodies of entries, such as lines on stderr."""
        found = [one for one in (self.reader.entry(seq, most) for seq in seqs) if one is not None]
        return [self._redactor.redact_cut(one.body.decode("utf-8", "replace")) for one in found]

    def close(self) -> None:
        self._stack.close()


def _indented(body: bytes) -> str:
    """Return a message indented, unless that may make it many times longer."""
    if len(body) <= MOST_INDENTED and not nests_deeper(json_value(body), MOST_LEVELS):
        return indented(body)
    return body.decode("utf-8", "replace")


class OpenRecordings:
    """The recordings that were read last."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, OpenTraffic] = OrderedDict()

    def get(self, path: Path, redactor: Redactor) -> OpenTraffic:
        """Return a recording, read to its end. Raises StorageError."""
        # An export is imported as a whole. A recording grows in place, so only another file is opened anew.
        file = stamp_of(path)
        stamp = file if is_export(path) or file is None else file[:2]
        if (found := self._open.get(path)) is not None and found.stamp != stamp:
            self._open.pop(path).close()
            found = None
        if found is None:
            stack = ExitStack()
            with on_error(stack.close):
                found = self._open[path] = OpenTraffic(path, stack, redactor)
            found.stamp = stamp
        self._open.move_to_end(path)
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        found.begin()
        return found

    def lint_ahead(self) -> bool:
        """Lint a part of the recording that was read last; return whether more is left."""
        return bool(self._open) and next(reversed(self._open.values())).lint_some()

    def close(self) -> None:
        for one in self._open.values():
            one.close()
        self._open.clear()


def said_by(entry: Entry) -> str:
    """Return whose text an entry is, as the origin of foreign text."""
    client = "the client of " if entry.direction is Direction.OUT else ""
    return f"{client}{speaker(entry.source)}, entry {entry.seq}"


def speaker(source: str) -> str:
    """Return the server or the model that a source of entries is."""
    name = source.removeprefix("model:")
    return f"the {'model' if name != source else 'server'} {plain(name)}"


OF_MANY = "the servers and models of a recording"
"""The origin of lines about many entries."""
