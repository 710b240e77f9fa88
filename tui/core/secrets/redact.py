"""Redaction of bytes and texts for everything that enters a recording, a log, an export or a screen."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

from tui.core.language.translate import Message, altered
from tui.core.secrets.commands_and_urls import replaced
from tui.core.secrets.encodings import Beginnings, forms_of, octets_of, text_of, without_split
from tui.core.secrets.known_values import MAX_LEARNED, KnownValues
from tui.core.secrets.named_values import SecretArguments
from tui.core.secrets.secret_shapes import PartialQuotes, is_a_word, secret_lines, shapes_in
from tui.core.traffic import Redaction

MAX_ADDED, LONGEST_ADDED = 100, 2048
"""Values of sign-ins that are found split and cut off too, and their length: each makes that slower."""

CUT = "…"
MIN_CUT = 4
"""Characters at the end of a cut text that may be the beginning of a secret; fewer occur in any text."""

MIN_SECRET = 8
"""Minimum characters of a configured value that is searched for; a shorter one would match ordinary text."""


class Secret:
    """A value that must not be shown: its repr and str are `***`, `reveal()` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


class Redactor:
    """Replaces configured secrets and known patterns by `[redacted:NAME]`.

    One object serves the whole process: values are added as they become known and are never removed. Those
    shorter than `MIN_SECRET` are ignored. For `keys` of model endpoints, truncated and masked quotes are
    found as well. `arguments` knows which arguments of tools are secret.
    """

    def __init__(
        self, secrets: Mapping[str, str] | None = None, keys: Mapping[str, str] | None = None
    ) -> None:
        self.arguments = SecretArguments()
        self._names: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._words: Collection[str] = ()
        self._spoken: Collection[str] = ()
        self._known = KnownValues()
        self._quotes = PartialQuotes({})
        self._learned_from = Counter[str]()
        self._added_from = Counter[str]()
        self._beginnings: Beginnings | None = None
        self.add(secrets or {}, keys or {})

    def add(self, secrets: Mapping[str, str], keys: Mapping[str, str] | None = None) -> None:
        """Redact these values too. Several values may have one name; a value keeps its first name.

        A thread may search meanwhile: it finds what was known before.
        """
        new_keys = _new(keys or {}, self._keys)
        new = {**_new(secrets, self._names), **_new(keys or {}, self._names)}
        if not new and not new_keys:
            return
        self._keys = {**self._keys, **new_keys}
        self._names = {**self._names, **new}
        others = self._names.keys() - self._keys.keys()
        # If only another secret in a key were replaced, the rest of the key would remain.
        self._words = {
            key for key in self._keys if is_a_word(key) and not any(other in key for other in others)
        }
        self._spoken = self._names.keys() - self._words
        self._quotes = PartialQuotes(self._keys)
        for value, name in new.items():
            self._known.add(name, value)
        self._beginnings = None

    def add_some(self, source: str, secrets: Mapping[str, str]) -> None:
        """Redact values of a sign-in too; long ones, and all after the first `MAX_ADDED`, as `learn` does."""
        room = MAX_ADDED - self._added_from[source]
        first = dict(islice((one for one in secrets.items() if len(one[1]) <= LONGEST_ADDED), max(0, room)))
        self._added_from[source] += len(first)
        self.add(first)
        for name, value in secrets.items():
            self.learn(source, name, value)

    def learn(self, source: str, name: str, value: str) -> bool:
        """Redact a value that a server handed out too, also if it is long or one of thousands.

        Unlike values that were added, it is not found if it is split over several texts or cut off. Returns
        False, without remembering it, if `source` handed out too many.
        """
        if len(value) < MIN_SECRET or value in self._names or value in self._known:
            return True
        if self._learned_from[source] >= MAX_LEARNED:
            return False
        self._learned_from[source] += 1
        self._known.learn(name, value)
        return True

    @property
    def known(self) -> int:
        """The number of known values, which only grows."""
        return len(self._names) + len(self._known)

    @property
    def searches(self) -> bool:
        """Whether there is any value that `redact_spoken` replaces."""
        return bool(self._spoken or self._known)

    def redact(self, text: str) -> str:
        if type(text) is Message:
            return altered(text, self.redact)
        return self._in_text(text, self.redact_bytes)

    def redact_spoken(self, text: str, *, shapes: bool = False, quotes: bool = False) -> str:
        """Return text of a model or the user without complete known values.

        An endpoint's key that consists of words (`lm-studio`) is not a secret here, because the text may be a
        path or a program. Truncated and masked keys stay for the same reason, unless `quotes`. `shapes`
        replaces what looks like a secret too, but no placeholders.
        """
        if not (shapes or self.searches):
            return text
        return self._in_text(text, partial(self.redact_bytes, shapes=shapes, quotes=quotes, spoken=True))

    def begun_at_end(self, text: str) -> int:
        """Return how many characters at the end of `text` may start a value that `redact_spoken` replaces.

        The value may be plain or in base64.
        """
        return self._beginnings_of_values().at_end(text)

    def redact_texts(self, texts: Sequence[str], clear: Callable[[str], str] | None = None) -> list[str]:
        """Return successive texts without known values, as `redact_spoken` or `clear` does for each.

        This includes values that are split over several texts, and long beginnings at the end of a text.
        """
        clear = clear or self.redact_spoken
        if not self.searches:
            return [clear(text) for text in texts]
        return without_split(
            texts, self._beginnings_of_values(), lambda text: self.redact_spoken(text) != text, clear
        )

    def ends_inside(self, text: str) -> bool:
        """Return whether a text ends with a long beginning of a value."""
        return self.searches and bool(self._beginnings_of_values().ended(text))

    def _beginnings_of_values(self) -> Beginnings:
        if self._beginnings is None:
            self._beginnings = Beginnings(
                form for value in self._spoken for form in (*forms_of(value), *secret_lines(value))
            )
        return self._beginnings

    def redact_cut(self, text: str, *, spoken: bool = False) -> str:
        """Return `text` as `redact` does, also without beginnings of values at its end and before each `…`.

        `spoken`: as `redact_spoken` does. For sentences with texts that were cut, and for a line that is
        still being written.
        """
        redact = self.redact_spoken if spoken else self.redact
        parts = redact(self._without_cut(text)).split(CUT)
        return self._without_cut(CUT.join(parts))

    def _without_cut(self, text: str) -> str:
        parts = text.split(CUT)
        beginnings = self._beginnings_of_values()
        for place, part in enumerate(parts):
            if beginnings.ends_whole(part):  # it gets its mark, even if its end could begin another value
                continue
            if (count := beginnings.at_end(part)) >= MIN_CUT:
                parts[place] = part[:-count] + (CUT if place == len(parts) - 1 else "")
        return CUT.join(parts)

    def redact_lines(self, lines: Sequence[str]) -> list[str]:
        """Return lines without secrets; the last one may be incomplete, and lines with `…` are truncated."""
        found = [self.redact_cut(line) if line.endswith(CUT) else self.redact(line) for line in lines]
        return [*found[:-1], *map(self.redact_cut, lines[-1:])]

    def redact_bytes(
        self, raw: bytes, *, quotes: bool = True, shapes: bool = True, spoken: bool = False
    ) -> tuple[bytes, tuple[Redaction, ...]]:
        """Return bytes with a mark for each secret, and the positions of the marks.

        Configured values are also found escaped for JSON, for a URL, in base64 and in mixtures of these, and
        so are partial `quotes` of keys and `shapes`. What is `spoken` keeps words, and placeholders that look
        like a secret.
        """
        kept = self._words if spoken else ()
        spans = self._known.spans_in(raw, kept)
        if quotes:
            spans += self._quotes.spans_in(raw, kept)
        if shapes:
            spans += shapes_in(raw, placeholders=not spoken)
        return replaced(raw, spans)

    @staticmethod
    def _in_text(text: str, redact: Callable[[bytes], tuple[bytes, tuple[Redaction, ...]]]) -> str:
        raw = octets_of(text)
        redacted, marks = redact(raw)
        return text_of(redacted, like=text) if marks else text


def _new(secrets: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Return the names of new values, with and without surrounding white space: headers are sent without."""
    return {
        form: name
        for name, value in secrets.items()
        for form in (value, value.strip())
        if len(form) >= MIN_SECRET and form not in known
    }


Piece = TypeVar("Piece", bound=Any)


@dataclass(slots=True)
class PieceRedactor(Generic[Piece]):
    """Redacts texts that arrive in pieces of several kinds, such as reasoning and answer.

    Text that may begin a value is held back until more is known, even if the kind changes: the type, and the
    `step`. `clear` returns a text without complete values.
    """

    redactor: Redactor
    clear: Callable[[str], str]
    held: list[Piece] = field(default_factory=list, init=False)

    def take(self, piece: Piece) -> Iterator[Piece]:
        """Yield the final pieces; one that replaces text is yielded even if none of its own is final."""
        replaces = getattr(piece, "replaces_text", False)
        if replaces:
            held, self.held = self.held, []
            for one in held:
                if type(one) is type(piece):
                    yield from self._ended([one])
        if self.held and _kind(self.held[-1]) == _kind(piece):
            piece = replace(piece, text=self.held.pop().text + piece.text)
        pieces, self.held = [*self.held, piece], []
        joined = "".join([one.text for one in pieces])
        room = len(joined) - self.redactor.begun_at_end(joined)
        final: list[Piece] = []
        for one in pieces:
            text, begun = one.text[:room], one.text[room:]
            room -= len(text)
            if text or (replaces and one is piece):
                final.append(replace(one, text=text))
            if begun:
                told = {"replaces_text": False} if hasattr(one, "replaces_text") else {}
                self.held.append(replace(one, text=begun, **told))
        if len(pieces) > 1:
            yield from self._ended(final)
        elif final:
            yield replace(final[0], text=self.clear(final[0].text))

    def rest(self, clear: Callable[[str], str] | None = None) -> Iterator[Piece]:
        """Yield the pieces still held at the end, with a long beginning of a value replaced."""
        held, self.held = self.held, []
        yield from self._ended(held, clear)

    def _ended(self, pieces: Sequence[Piece], clear: Callable[[str], str] | None = None) -> Iterator[Piece]:
        texts = self.redactor.redact_texts([one.text for one in pieces], clear or self.clear)
        for one, text in zip(pieces, texts, strict=True):
            if text:
                yield replace(one, text=text)


def _kind(piece: Any) -> tuple[type, int]:
    return type(piece), getattr(piece, "step", 0)
