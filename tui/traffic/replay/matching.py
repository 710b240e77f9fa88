"""Which recorded request is the same as one that comes now: by method and parameters, not by its id. Pure.

In this order: the same parameters and the same `_meta`; the same parameters; the same parameters where the
recording has `[redacted:NAME]` in place of a secret; and for the opening requests, whose parameters say who
the client is, the same method. A request that fits none of these is another one.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Generic, TypeVar

OPENINGS = frozenset({"initialize", "server/discover", "notifications/initialized", "logging/setLevel"})
"""Question once by every client, each in its own words."""

MAX_SHOWN = 400
_MARK = re.compile(r"\[redacted:[^\]\s]{1,80}\]")

Recorded = TypeVar("Recorded")


@dataclass(frozen=True, slots=True)
class Question:
    """A request or notification of a client, without what is different each time.

    Attributes:
        method: its method.
        params: its parameters without `_meta`.
        meta: `_meta` without the progress token.
        token: the progress token as JSON text, b"" for none.
    """

    method: str
    params: Any
    meta: Any
    token: bytes = b""

    @classmethod
    def of(cls, method: str, params: Any) -> "Question":
        """Read the parameters of a message; absent ones are empty ones."""
        if not isinstance(params, dict):
            return cls(method, params or {}, {})
        meta = params.get("_meta")
        rest = {key: value for key, value in params.items() if key != "_meta"}
        if not isinstance(meta, dict):
            return cls(method, rest, meta or {})
        token = json.dumps(meta["progressToken"]).encode() if "progressToken" in meta else b""
        return cls(method, rest, {key: value for key, value in meta.items() if key != "progressToken"}, token)

    def key(self) -> str:
        """Return the method and parameters as one text, the same for the same."""
        return self.method + "\n" + _canonical(self.params)

    def exact_key(self) -> str:
        """Return the same with `_meta`."""
        return self.key() + "\n" + _canonical(self.meta)

    def shown(self) -> str:
        """Return the parameters for a person, at most `MAX_SHOWN` characters."""
        text = json.dumps(self.params, ensure_ascii=False)
        return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def request_of(raw: bytes, method: str) -> Question | None:
    """Return what a recorded request asked, None if its bytes are not all there or cannot be read."""
    try:
        message = json.loads(raw.decode("utf-8", "replace"))
        asked = Question.of(method, message.get("params"))
        asked.exact_key()  # what can be read may be nested too deeply to be compared
        return asked
    except (ValueError, RecursionError, AttributeError):
        return None


class _Uses(Generic[Recorded]):
    """What was recorded for one key: each is given once in order, the last again and again."""

    def __init__(self) -> None:
        self.recorded: list[Recorded] = []
        self.next = 0

    def take(self) -> Recorded:
        found = self.recorded[min(self.next, len(self.recorded) - 1)]
        self.next += 1
        return found


class Book(Generic[Recorded]):
    """What was recorded, found by what is asked."""

    def __init__(self) -> None:
        self._exact: dict[str, _Uses[Recorded]] = {}
        self._same: dict[str, _Uses[Recorded]] = {}
        self._by_method: dict[str, list[Question]] = {}
        self._redacted: dict[str, list[Question]] = {}
        self._openings: dict[str, _Uses[Recorded]] = {}

    def add(self, asked: Question, recorded: Recorded) -> None:
        """Add one that was recorded; in the order of the recording."""
        self._exact.setdefault(asked.exact_key(), _Uses()).recorded.append(recorded)
        uses = self._same.setdefault(asked.key(), _Uses())
        if not uses.recorded:
            self._by_method.setdefault(asked.method, []).append(asked)
            if _MARK.search(asked.key()):
                self._redacted.setdefault(asked.method, []).append(asked)
        uses.recorded.append(recorded)
        if asked.method in OPENINGS:
            self._openings.setdefault(asked.method, _Uses()).recorded.append(recorded)

    def find(self, asked: Question) -> Recorded | None:
        """Return what was recorded for the same request, or None."""
        uses = self._exact.get(asked.exact_key()) or self._same.get(asked.key())
        if uses is None:
            for one in self._redacted.get(asked.method, ()):
                if alike(one.params, asked.params):
                    uses = self._same[one.key()]
                    break
            else:
                uses = self._openings.get(asked.method)
        return None if uses is None else uses.take()

    def recorded(self, method: str) -> Sequence[Question]:
        """Return what was asked with this method, each once."""
        return self._by_method.get(method, ())

    def methods(self) -> list[str]:
        """Return the methods of all requests recorded."""
        return sorted(method for method in self._by_method if not method.startswith("notifications/"))


def alike(recorded: Any, asked: Any) -> bool:
    """Tell whether two values are the same, a redacted part of the recorded one standing for any text."""
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
    """Return `known`, what looks most like `asked` first."""
    wanted = asked.shown()
    return sorted(known, key=lambda one: -SequenceMatcher(None, wanted, one.shown()).quick_ratio())
