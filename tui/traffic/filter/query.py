"""The filter language: parses a text into a `Query` with its problems, and completes it. Pure; never raises.

    server:weather method:tools/* kind:response status:error size:>10k latency:>200ms dir:out since:5m
    id:7 tool:get_weather "free text" /regex/i (a or b) not c !d -e

All terms side by side must match (`and` is optional); `or` binds less, `not`, `!` and `-` bind more. A comma
between values is "any of". `tui.traffic.filter.fields` has the fields.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, tee

from tui.core.errors import reason_of
from tui.core.language.translate import N_, message
from tui.core.matching import composed, nearest_name
from tui.core.search.regex import re2_pattern
from tui.core.text import clean_line, fold
from tui.core.traffic import KIND_WORDS, BodyTerm
from tui.traffic.filter.fields import (
    ALIASES,
    FIELDS,
    And,
    BadValue,
    FilterField,
    Node,
    Not,
    Or,
    Term,
    Text,
    Value,
    ValueType,
    find,
    quoted,
    read_value,
    shown,
    written,
)
from tui.traffic.record.entry_columns import EntryColumns


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """A problem in the text from `start` to before `end`, which are equal only at the end of the text.

    `sentence` says what to write, `instead` is a replacement, or "".
    """

    start: int
    end: int
    sentence: str
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: "and", "or", "not", a parenthesis, "" at the end, or a term.

    A term without a node has a problem.
    """

    sign: str
    start: int
    end: int
    node: Node | None = None


TERM = "term"
_SPACE = re.compile(r"\s*")
FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):")
_BARE = re.compile(r'[^\s"()]*')
_PIECE = re.compile(r'[^\s"(),]*')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(r'\\(["\\])')
_SLASHED = re.compile(r"/((?:[^/\\]|\\.)+)/([^\s()\"]*)", re.DOTALL)
_SIGNS = re.compile(r"(&&?|\|\|?)(?=[\s(\"]|$)|[()!]|-(?=[^\s-])")
_MARKS = {"(": "(", ")": ")", "!": "not", "-": "not", "&": "and", "|": "or"}


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def value_end(text: str, place: int) -> int:
    """Return the end of the value that starts at `place`, in quotes or not."""
    if text[place : place + 1] != '"':
        return _end(_PIECE, text, place)
    found = _QUOTED.match(text, place)
    return found.end() if found else len(text)


class QueryReader:
    """Reads one text: first its `tokens`, then the tree, by recursive descent over them.

    Both add to the `problems`.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[QueryProblem] = []
        self.tokens: list[Token] = []
        self._place = self._depth = 0
        self._is_cut = False  # nested too deeply, so that the rest is not read
        place = _end(_SPACE, text, 0)
        while place < len(text):
            self.tokens.append(self._token(place))
            place = _end(_SPACE, text, self.tokens[-1].end)
        self.tokens.append(Token("", len(text), len(text)))

    def _report(self, start: int, end: int, sentence: str, instead: str = "") -> None:
        self.problems.append(QueryProblem(start, end, sentence, instead))

    # ---- tokens ---------------------------------------------------------------------------------------

    def _token(self, place: int) -> Token:
        char = self.text[place]
        if char == '"':
            end = value_end(self.text, place)
            text = self._quoted(place, end)
            if not text:
                self._report(place, end, message("The quotes are empty."))
            return Token(TERM, place, end, Text(text) if text else None)
        if char == "/":
            return self._regex(place)
        if sign := _SIGNS.match(self.text, place):
            return Token(_MARKS[sign[0][0]], place, sign.end())
        if field := FIELD.match(self.text, place):
            return self._term(field[1], place, field.end())
        end = _end(_BARE, self.text, place)
        word = self.text[place:end]
        if word.lower() in ("and", "or", "not"):
            return Token(word.lower(), place, end)
        return Token(TERM, place, end, Text(word))

    def _quoted(self, place: int, end: int) -> str:
        if found := _QUOTED.match(self.text, place):
            return _ESCAPE.sub(r"\1", found[1])
        self._report(place, end, message("This quote is not closed."))
        return self.text[place + 1 :] or '"'

    def _regex(self, place: int) -> Token:
        found = _SLASHED.match(self.text, place)
        end, instead = found.end() if found else _end(_BARE, self.text, place), ""
        if not found:
            sentence = message(
                'The closing "/" of this regular expression is missing. Quote words that contain slashes.'
            )
            instead = quoted(self.text[place:end])
        elif found[2] not in ("", "i"):
            sentence = message(
                "Unknown flag “{flag}”. The only flag is i. Quote words that contain slashes.",
                flag=shown(found[2]),
            )
            instead = quoted(found[0])
        elif complaint := _complaint(found[1]):
            sentence = message("Invalid regular expression: {reason}.", reason=complaint)
        else:
            return Token(TERM, place, end, BodyTerm(found[1], True, found[2] == "i"))
        self._report(place, end, sentence, instead)
        return Token(TERM, place, end)

    def _term(self, name: str, start: int, place: int) -> Token:
        field = find(name)
        if field is None:
            return self._unknown(name, start, place)
        before = len(self.problems)
        values: list[Value] = []
        while True:
            end = value_end(self.text, place)
            self._value(field, place, end, values)
            if self.text[end : end + 1] != ",":
                break
            place = end + 1
        whole = len(self.problems) == before
        return Token(TERM, start, end, Term(field.name, tuple(values)) if whole else None)

    def _unknown(self, name: str, start: int, place: int) -> Token:
        meant = nearest_name(name, (*FIELDS, *ALIASES))
        unknown = N_("Unknown field “{name}”. Quote words that contain a colon.")
        if meant:
            unknown = N_("Unknown field “{name}”. Did you mean {meant}:?")
        sentence = message(unknown, name=shown(name), meant=meant)
        self._report(start, place, sentence, meant and f"{meant}:")
        end = _end(_BARE, self.text, place)
        if self.text[place : place + 1] == '"':
            end = value_end(self.text, place)
            self._quoted(place, end)
        return Token(TERM, start, end)

    def _value(self, field: FilterField, start: int, end: int, values: list[Value]) -> None:
        if start == end:
            missing = message("The value is missing. Example: {example}.", example=field.example)
            self._report(start - 1, end, missing)
            return
        is_quoted = self.text[start] == '"'
        text = self._quoted(start, end) if is_quoted else self.text[start:end]
        try:
            values.append(read_value(field, text, is_quoted))
        except BadValue as bad:
            self._report(start, end, bad.sentence, bad.instead)

    # ---- the tree: what is parseable of it ------------------------------------------------------------

    @property
    def _sign(self) -> str:
        return self.tokens[self._place].sign

    def _take(self) -> Token:
        """Return the next token; report an operator without a term."""
        token = self.tokens[self._place]
        before = self.tokens[self._place - 1].sign if self._place else ""
        self._place += token.sign != ""
        has_term = self._sign in (TERM, "not", "(")
        if token.sign in ("and", "or") and (before in ("", "(") or not has_term):
            needs = N_("“{word}” needs a term on both sides. Quote it to search for the word.")
            sentence = message(needs, word=token.sign)
            self._report(token.start, token.end, sentence)
        elif token.sign == "not" and not has_term:
            sentence = message("“not” needs a term after it. Quote it to search for the word.")
            self._report(token.start, token.end, sentence)
        return token

    def whole(self) -> Node | None:
        parts: list[Node | None] = []
        while self._sign:
            parts.append(self._any())
            if self._sign == ")":
                token = self._take()
                self._report(token.start, token.end, message("Unexpected “)”."))
        return _joined(And, parts)

    def _any(self) -> Node | None:
        parts = [self._all()]
        while self._sign == "or":
            self._take()
            parts.append(self._all())
        return _joined(Or, parts)

    def _all(self) -> Node | None:
        parts: list[Node | None] = []
        while self._sign in ("and", TERM, "not", "("):
            if self._sign == "and":
                self._take()
            else:
                parts.append(self._unary())
        return _joined(And, parts)

    def _unary(self) -> Node | None:
        negated, part = False, None
        while self._sign == "not":
            negated, _ = not negated, self._take()
        if self._sign in (TERM, "("):
            token = self._take()
            part = token.node if token.sign == TERM else self._group(token)
        if part is None or not negated:
            return part
        return part.part if isinstance(part, Not) else Not(part)

    def _group(self, opening: Token) -> Node | None:
        if self._depth >= MAX_DEPTH:
            sentence = message("Parentheses are nested more than {most} levels deep.", most=MAX_DEPTH)
            self._report(opening.start, opening.end, sentence)
            self._place, self._is_cut = len(self.tokens) - 1, True
            return None
        self._depth += 1
        before, inside = self._place, self._any()
        self._depth -= 1
        if self._sign == ")":
            end = self._take().end
            if self._place == before + 1:
                self._report(opening.start, end, message("These parentheses are empty."))
        elif not self._is_cut:
            self._report(opening.start, opening.end, message("This “(” is not closed."))
        return inside


def _complaint(pattern: str) -> str:
    try:
        re2_pattern(composed(pattern), ignore_case=False)
    except re.error as error:
        return reason_of(error)
    except (RecursionError, OverflowError):
        return message("it is too complex")
    return ""


MAX_TEXT = 4000
"""Maximum characters of a filter; a longer text was pasted by mistake."""

MAX_DEPTH = 40
"""Maximum nesting of parentheses."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed filter, with its problems in the order of the text. A `root` of None matches everything."""

    text: str = ""
    root: Node | None = None
    problems: tuple[QueryProblem, ...] = ()

    @property
    def is_sound(self) -> bool:
        return not self.problems

    def within(self, other: "Query") -> "Query":
        """Return a query that matches what both match, such as a search within a filter."""
        return Query(self.text, _joined(And, (other.root, self.root)), other.problems + self.problems)


EVERYTHING = Query()


def parse(text: str) -> Query:
    """Parse a text, collecting all problems in it."""
    if len(text) > MAX_TEXT:
        sentence = message("A filter can have at most {most} characters.", most=MAX_TEXT)
        return Query(text, None, (QueryProblem(MAX_TEXT, len(text), sentence),))
    reader = QueryReader(text)
    root = reader.whole()
    problems = sorted(reader.problems, key=lambda problem: (problem.start, problem.end))
    return Query(text, root, tuple(problems))


def _joined(kind: type[And] | type[Or], parts: Iterable[Node | None]) -> Node | None:
    """Return a node that joins the parts: no node for none, the part itself if there is one."""
    flat: list[Node] = []
    for part in parts:
        if part is not None:
            flat.extend(part.parts if isinstance(part, kind) else (part,))
    return kind(tuple(flat)) if len(flat) > 1 else flat[0] if flat else None


MOST_COMPLETIONS = 50
LONGEST_NAME = 200
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
    names = dict.fromkeys(words[word] for word in _ranked(typed, words))
    offers = [FilterCompletion(start, end, f"{name}:", FIELDS[name].meaning) for name in names]
    if len(typed) > 1:
        for field, values in known_values.items():
            offers += [
                FilterCompletion(start, end, f"{field}:{written(value)}", FIELDS[field].meaning)
                for value in _ranked(typed, _plain(values))
            ]
    return offers[:MOST_COMPLETIONS]


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
    return (name for name in names if len(name) <= LONGEST_NAME and clean_line(name, LONGEST_NAME) == name)


def _ranked(typed: str, words: Iterable[str]) -> list[str]:
    typed = fold(typed)
    these, those = tee(words)
    first = (word for word in these if fold(word).startswith(typed))
    then = (word for word in those if fold(word).find(typed) > 0)
    return list(islice(chain(first, then), MOST_COMPLETIONS))
