"""The text of a filter as tokens. Pure; never raises, what cannot be read becomes a `Problem`."""

import re
import warnings
from dataclasses import dataclass
from enum import Enum

from tui.core.text import composed
from tui.traffic.filter.fields import ALIASES, FIELDS, Field, find, nearest, read_value
from tui.traffic.filter.nodes import Node, Pattern, Term, Text, Value, quoted
from tui.traffic.filter.units import BadValue, shown


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in a part of the text.

    Attributes:
        start: first character that is wrong.
        end: the one after the last; more than `start`, except at the end of the text.
        sentence: what is wrong and what to write.
        instead: what could stand there instead, or "".
    """

    start: int
    end: int
    sentence: str
    instead: str = ""


class Sign(Enum):
    """What a token is."""

    LEAF = "a term"
    AND = "and"
    OR = "or"
    NOT = "not"
    OPEN = "("
    CLOSE = ")"
    END = "the end"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; a leaf without a node is one with a problem."""

    sign: Sign
    start: int
    end: int
    node: Node | None = None


_SPACE = re.compile(r"\s*")
FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):")
_BARE = re.compile(r'[^\s"()]+')
PIECE = re.compile(r'[^\s"(),]*')
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(r'\\(["\\])')
_SLASHED = re.compile(r"/((?:[^/\\]|\\.)+)/([^\s()\"]*)", re.DOTALL)
_SIGNS = re.compile(r"(&&?|\|\|?)(?=[\s(\"]|$)|[()!]|-(?=[^\s-])")
_REPEATED_REPETITION = re.compile(r"(?<!\\)(?:[+*]|\{[0-9]*,\})\??\)(?:[+*]|\{[0-9]*,[0-9]*\})")
_WORDS = {"and": Sign.AND, "or": Sign.OR, "not": Sign.NOT}
_MARKS = {"(": Sign.OPEN, ")": Sign.CLOSE, "!": Sign.NOT, "-": Sign.NOT, "&": Sign.AND, "|": Sign.OR}


class Lexer:
    """Reads one text once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []

    def tokens(self) -> list[Token]:
        """Return the tokens in order, the last one END."""
        found: list[Token] = []
        place = self._skip(0)
        while place < len(self.text):
            found.append(self._token(place))
            place = self._skip(found[-1].end)
        found.append(Token(Sign.END, len(self.text), len(self.text)))
        return found

    def _skip(self, place: int) -> int:
        space = _SPACE.match(self.text, place)
        return space.end() if space else place

    def _token(self, place: int) -> Token:
        char = self.text[place]
        if char == '"':
            text, end = self._quote(place)
            return self._words(text, place, end)
        if char == "/":
            return self._regex(place)
        if sign := _SIGNS.match(self.text, place):
            return Token(_MARKS[sign[0][0]], place, sign.end())
        if field := FIELD.match(self.text, place):
            return self._term(field[1], place, field.end())
        bare = _BARE.match(self.text, place)
        end = bare.end() if bare else place + 1
        word = self.text[place:end]
        if word.lower() in _WORDS:
            return Token(_WORDS[word.lower()], place, end)
        return self._words(word, place, end)

    def _wrong(self, start: int, end: int, sentence: str, instead: str = "") -> None:
        self.problems.append(Problem(start, end, sentence, instead))

    def _words(self, text: str, start: int, end: int) -> Token:
        if not text:
            self._wrong(start, end, "There is nothing between the quotes to look for.")
            return Token(Sign.LEAF, start, end)
        return Token(Sign.LEAF, start, end, Text(text))

    def _quote(self, place: int) -> tuple[str, int]:
        found = QUOTED.match(self.text, place)
        if found:
            return _ESCAPE.sub(r"\1", found[1]), found.end()
        self._wrong(place, len(self.text), "This quote is not closed.")
        return self.text[place + 1 :] or '"', len(self.text)

    def _regex(self, place: int) -> Token:
        found = _SLASHED.match(self.text, place)
        if not found:
            bare = _BARE.match(self.text, place)
            end = bare.end() if bare else place + 1
            text = quoted(self.text[place:end])
            sentence = 'This regular expression is not closed by "/". Put words with slashes between quotes.'
            self._wrong(place, end, sentence, text)
            return Token(Sign.LEAF, place, end)
        pattern, flags = found[1], found[2]
        if flags not in ("", "i"):
            sentence = f'After a regular expression only i is known, not "{shown(flags)}".'
            sentence += " Put words with slashes between quotes."
            self._wrong(place, found.end(), sentence, quoted(found[0]))
        elif complaint := _complaint(pattern):
            self._wrong(place, found.end(), f"This cannot be a regular expression: {complaint}.")
        else:
            return Token(Sign.LEAF, place, found.end(), Pattern(pattern, flags == "i"))
        return Token(Sign.LEAF, place, found.end())

    def _term(self, name: str, start: int, place: int) -> Token:
        field = find(name)
        if field is None:
            return self._unknown(name, start, place)
        before = len(self.problems)
        values, end = self._values(field, place)
        whole = values and len(self.problems) == before
        return Token(Sign.LEAF, start, end, Term(field.name, tuple(values)) if whole else None)

    def _unknown(self, name: str, start: int, place: int) -> Token:
        meant = nearest(name, (*FIELDS, *ALIASES))
        bare = _BARE.match(self.text, place)
        end = bare.end() if bare else place
        sentence = f'Unknown field "{shown(name)}". '
        if meant:
            self._wrong(start, place, f"{sentence}Did you mean {meant}:?", f"{meant}:")
        else:
            self._wrong(start, place, f"{sentence}Put words with a colon between quotes.")
        if end == place and self.text[place : place + 1] == '"':
            _, end = self._quote(place)
        return Token(Sign.LEAF, start, end)

    def _values(self, field: Field, place: int) -> tuple[list[Value], int]:
        values: list[Value] = []
        while True:
            is_quoted = self.text[place : place + 1] == '"'
            if is_quoted:
                text, end = self._quote(place)
            else:
                piece = PIECE.match(self.text, place)
                end = piece.end() if piece else place
                text = self.text[place:end]
            self._value(field, text, is_quoted, place, end, values)
            if self.text[end : end + 1] != ",":
                return values, end
            place = end + 1

    def _value(
        self, field: Field, text: str, is_quoted: bool, start: int, end: int, values: list[Value]
    ) -> None:
        if start == end:
            self._wrong(start - 1, end, f"A value is missing, such as {field.example}.")
            return
        try:
            values.append(read_value(field, text, is_quoted))
        except BadValue as bad:
            self._wrong(start, end, str(bad), bad.instead)


def _complaint(pattern: str) -> str:
    """Return why a pattern cannot be searched for, or ""."""
    try:
        with warnings.catch_warnings():
            # What Python may read otherwise one day ("[[") is not the person's trouble.
            warnings.simplefilter("ignore")
            re.compile(composed(pattern))
    except re.error as error:
        return error.msg
    except (RecursionError, OverflowError, UnicodeEncodeError):
        return "it is too much"
    if _REPEATED_REPETITION.search(pattern):
        # Python gives no other thread a turn during a match: on the wrong body the screen would stand still.
        return "a repetition that is itself repeated, as in (a+)+, may never end"
    return ""
