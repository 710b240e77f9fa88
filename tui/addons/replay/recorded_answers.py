"""Recorded responses by request: finds the recorded request that a new one matches. Pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Generic, TypeVar

from tui.addons.replay import eras
from tui.core.jsonrpc.revisions import is_modern
from tui.core.text import start_of

OPENINGS = frozenset({"initialize", "server/discover", "notifications/initialized", "logging/setLevel"})
"""Methods of messages that every client sends once, with its own params."""

MAX_SHOWN = 400
_MARK = re.compile(r"\[redacted:[^\]\s]{1,80}\]")

Recorded = TypeVar("Recorded")


@dataclass(frozen=True, slots=True)
class Question:
    """A request or notification of a client, without `_meta` in its params.

    `meta` is without the progress token; `token` is the progress token as JSON text, b"" for none.
    """

    method: str
    params: Any
    meta: Any
    token: bytes = b""

    @classmethod
    def of(cls, method: str, params: Any) -> "Question":
        if not isinstance(params, dict):
            return cls(method, params or {}, {})
        meta = params.get("_meta")
        rest = {key: value for key, value in params.items() if key != "_meta" and value is not None}
        if rest.get("arguments") == {}:  # the same as no arguments
            del rest["arguments"]
        if not isinstance(meta, dict):
            return cls(method, rest, meta or {})
        token = json.dumps(meta["progressToken"]).encode() if "progressToken" in meta else b""
        return cls(method, rest, {key: value for key, value in meta.items() if key != "progressToken"}, token)

    def key(self) -> str:
        return self.method + "\n" + _canonical(self.params)

    def param(self, name: str) -> Any:
        return self.params.get(name) if isinstance(self.params, dict) else None

    def round_key(self) -> str:
        """Return the key of a further round of a call, independent of the client's input, or ""."""
        if not isinstance(self.params, dict) or "inputResponses" not in self.params:
            return ""
        rest = {key: value for key, value in self.params.items() if key != "inputResponses"}
        return self.method + "\n" + _canonical(rest)

    def exact_key(self) -> str:
        return self.key() + "\n" + _canonical(self.meta)

    @property
    def revision(self) -> str:
        return eras.revision_of(self.meta)

    @property
    def modern(self) -> bool:
        return is_modern(self.revision)

    def shown(self) -> str:
        text = json.dumps(self.params, ensure_ascii=False)
        return text if len(text) <= MAX_SHOWN else start_of(text, MAX_SHOWN - 1) + "…"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def request_of(raw: bytes, method: str) -> Question | None:
    """Return a recorded request, None if its bytes are incomplete or cannot be parsed."""
    try:
        message = json.loads(raw.decode("utf-8", "replace"))
        asked = Question.of(method, message.get("params"))
        asked.exact_key()  # parseable, but nested too deeply to compare
        return asked
    except (ValueError, RecursionError, AttributeError):
        return None


class _RecordedSequence(Generic[Recorded]):
    """Recordings for one key: each is used once, in order, then the last one repeatedly."""

    def __init__(self) -> None:
        self.recorded: list[Recorded] = []
        self.next = 0

    def take(self) -> Recorded:
        found = self.recorded[min(self.next, len(self.recorded) - 1)]
        self.next += 1
        return found


class RecordedAnswers(Generic[Recorded]):
    """Recordings by their requests."""

    def __init__(self) -> None:
        self._exact: dict[str, _RecordedSequence[Recorded]] = {}
        self._same: dict[str, _RecordedSequence[Recorded]] = {}
        self._by_method: dict[str, list[Question]] = {}
        self._redacted: dict[str, list[Question]] = {}
        self._openings: dict[str, _RecordedSequence[Recorded]] = {}
        self._rounds: dict[str, _RecordedSequence[Recorded]] = {}

    def add(self, asked: Question, recorded: Recorded) -> None:
        """Add a recording; call it in the order of recording."""
        self._exact.setdefault(asked.exact_key(), _RecordedSequence()).recorded.append(recorded)
        uses = self._same.setdefault(asked.key(), _RecordedSequence())
        if not uses.recorded:
            self._by_method.setdefault(asked.method, []).append(asked)
            if _MARK.search(asked.key()):
                self._redacted.setdefault(asked.method, []).append(asked)
        uses.recorded.append(recorded)
        if key := asked.round_key():
            self._rounds.setdefault(key, _RecordedSequence()).recorded.append(recorded)
        if asked.method in OPENINGS:
            self._openings.setdefault(asked.method, _RecordedSequence()).recorded.append(recorded)

    def exact(self, asked: Question) -> Recorded | None:
        """Return the recording for the same request by the same client."""
        uses = self._exact.get(asked.exact_key())
        return None if uses is None else uses.take()

    def find(self, asked: Question) -> Recorded | None:
        uses = self._exact.get(asked.exact_key()) or self._same.get(asked.key())
        if uses is None:
            for one in self._redacted.get(asked.method, ()):
                if alike(one.params, asked.params):
                    uses = self._same[one.key()]
                    break
            else:
                uses = self._openings.get(asked.method) or self._rounds.get(asked.round_key())
        return None if uses is None else uses.take()

    def recorded(self, method: str) -> Sequence[Question]:
        return self._by_method.get(method, ())

    def methods(self) -> list[str]:
        return sorted(method for method in self._by_method if not method.startswith("notifications/"))


def alike(recorded: Any, asked: Any) -> bool:
    """Return whether two values are equal; a redacted part of the recorded value matches any text.

    A completely redacted value also matches numbers and any other non-empty value, since its type is unknown.
    """
    if isinstance(recorded, str) and not isinstance(asked, str) and _MARK.fullmatch(recorded):
        return asked not in (None, [], {})
    if isinstance(recorded, str) and isinstance(asked, str):
        if recorded == asked:
            return True
        parts = _MARK.split(recorded)
        return len(parts) > 1 and bool(re.fullmatch(".+".join(map(re.escape, parts)), asked, re.DOTALL))
    if isinstance(recorded, dict) and isinstance(asked, dict):
        return recorded.keys() == asked.keys() and all(alike(recorded[key], asked[key]) for key in recorded)
    if isinstance(recorded, list) and isinstance(asked, list):
        return len(recorded) == len(asked) and all(map(alike, recorded, asked))
    return type(recorded) is type(asked) and bool(recorded == asked)


def nearest(asked: Question, known: Sequence[Question]) -> list[Question]:
    """Return `known` sorted by similarity to `asked`."""
    wanted = asked.shown()
    return sorted(known, key=lambda one: -SequenceMatcher(None, wanted, one.shown()).quick_ratio())
