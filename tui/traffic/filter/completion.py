"""Completion of a filter: fields, their values, and names in the recording. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tui.core.text import clean_line
from tui.core.traffic import KIND_WORDS
from tui.traffic.filter.fields import ALIASES, FIELDS, FilterField, ValueType, find
from tui.traffic.filter.nodes import written
from tui.traffic.filter.query import FIELD, TERM, QueryReader, value_end
from tui.traffic.record.entry_columns import EntryColumns

MOST = 50
"""Maximum number of completions."""

LONGEST = 200
"""Maximum characters of a name that is completed."""

_EXAMPLES: Mapping[ValueType, Sequence[str]] = {
    ValueType.SIZE: (">1k", ">10k", ">100k", ">1M"),
    ValueType.TIME: (">10ms", ">100ms", ">1s", ">10s"),
    ValueType.MOMENT: ("1m", "5m", "1h", "1d"),
}
_KIND_MEANINGS = {kind.name.lower(): words for kind, words in KIND_WORDS.items()}


@dataclass(frozen=True, slots=True)
class FilterCompletion:
    """One completion: `text` replaces the characters from `start` to before `end`; `meaning` is shown."""

    start: int
    end: int
    text: str
    meaning: str = ""

    def applied(self, text: str) -> tuple[str, int]:
        return text[: self.start] + self.text + text[self.end :], self.start + len(self.text)


def seen_names(entries: EntryColumns) -> dict[str, Sequence[str]]:
    """Return the names that occur in a recording, by field."""
    return {
        "server": entries.sources.texts[1:],
        "method": entries.methods.texts[1:],
        "tool": entries.tools.texts[1:],
    }


def complete(text: str, cursor: int, known_values: Mapping[str, Sequence[str]]) -> list[FilterCompletion]:
    """Return the completions at the cursor, most likely first.

    `known_values` are names in the recording, by field. Names that are unsafe for a terminal are omitted.
    """
    words = [token for token in QueryReader(text).tokens if token.sign in (TERM, "and", "or", "not")]
    token = next((token for token in words if token.start < cursor <= token.end), None)
    if token is None or not (token.sign == TERM or text[token.start].isalpha()):
        return _fields("", cursor, cursor, {})
    if text[token.start] in '"/':
        return []
    named = FIELD.match(text, token.start)
    if named is None or cursor < named.end():
        end = named.end() if named else token.end
        return _fields(text[token.start : cursor], token.start, end, {} if named else known_values)
    field = find(named[1])
    return _values(field, text, named.end(), cursor, known_values) if field else []


def _fields(
    typed: str, start: int, end: int, known_values: Mapping[str, Sequence[str]]
) -> list[FilterCompletion]:
    words = {name: name for name in FIELDS} | dict(ALIASES)
    names = dict.fromkeys(words[word] for word in _ranked(typed, words, within=bool(typed)))
    offers = [FilterCompletion(start, end, f"{name}:", FIELDS[name].meaning) for name in names]
    if len(typed) > 1:
        for field, values in known_values.items():
            offers += [
                FilterCompletion(start, end, f"{field}:{written(value)}", FIELDS[field].meaning)
                for value in _ranked(typed, _plain(values))
            ]
    return offers[:MOST]


def _values(
    field: FilterField, text: str, place: int, cursor: int, known_values: Mapping[str, Sequence[str]]
) -> list[FilterCompletion]:
    start, end = place, value_end(text, place)
    while cursor > end and text[end : end + 1] == ",":
        start, end = end + 1, value_end(text, end + 1)
    typed = text[start:cursor].removeprefix('"')
    if field.takes is ValueType.CHOICE:
        meanings = _KIND_MEANINGS if field.name == "kind" else {}
        words = _ranked(typed.replace("-", "_"), field.choices)
        return [FilterCompletion(start, end, word, meanings.get(word, "")) for word in words]
    if field.takes in _EXAMPLES:
        return [
            FilterCompletion(start, end, value) for value in _EXAMPLES[field.takes] if value.startswith(typed)
        ]
    names = _ranked(typed, _plain(known_values.get(field.name, ())))
    return [FilterCompletion(start, end, written(name)) for name in names]


def _plain(names: Sequence[str]) -> Iterable[str]:
    return (name for name in names if len(name) <= LONGEST and clean_line(name, LONGEST) == name)


def _ranked(typed: str, words: Iterable[str], within: bool = True) -> list[str]:
    typed = typed.lower()
    first: list[str] = []
    then: list[str] = []
    for word in words:
        low = word.lower()
        if low.startswith(typed):
            first.append(word)
            if len(first) >= MOST:
                break
        elif within and len(then) < MOST and typed in low:
            then.append(word)
    return (first + then)[:MOST]
