"""The filter language: parses a text into a `Query` with all of its problems. Pure; never raises.

    server:weather method:tools/* kind:response status:error size:>10k latency:>200ms dir:out since:5m
    id:7 tool:get_weather "free text" /regex/i (a or b) not c !d -e

All terms side by side must match (`and` is optional); `or` binds less, `not`, `!` and `-` bind more. A comma
between values is "any of". `tui.traffic.filter.fields` has the fields.
"""

import re
from dataclasses import dataclass
from enum import Enum

from tui.core.errors import reason_of
from tui.core.regex import re2_pattern
from tui.core.text import composed
from tui.traffic.filter.fields import ALIASES, FIELDS, FilterField, find, nearest, read_value
from tui.traffic.filter.nodes import (
    And,
    BadValue,
    Node,
    Not,
    Or,
    Pattern,
    Term,
    Text,
    Value,
    quoted,
    shown,
    unparse,
)


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """A problem in the text from `start` to before `end`, which are equal only at the end of the text.

    `sentence` says what to write, `instead` is a replacement, or "".
    """

    start: int
    end: int
    sentence: str
    instead: str = ""


class Sign(Enum):
    """The type of a token."""

    LEAF = "a term"
    AND = "and"
    OR = "or"
    NOT = "not"
    OPEN = "("
    CLOSE = ")"
    END = "the end"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; a leaf without a node has a problem."""

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
_WORDS = {"and": Sign.AND, "or": Sign.OR, "not": Sign.NOT}
_MARKS = {"(": Sign.OPEN, ")": Sign.CLOSE, "!": Sign.NOT, "-": Sign.NOT, "&": Sign.AND, "|": Sign.OR}


class QueryLexer:
    """Tokenizes one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[QueryProblem] = []

    def tokens(self) -> list[Token]:
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

    def _report(self, start: int, end: int, sentence: str, instead: str = "") -> None:
        self.problems.append(QueryProblem(start, end, sentence, instead))

    def _words(self, text: str, start: int, end: int) -> Token:
        if not text:
            self._report(start, end, "The quotes are empty.")
            return Token(Sign.LEAF, start, end)
        return Token(Sign.LEAF, start, end, Text(text))

    def _quote(self, place: int) -> tuple[str, int]:
        found = QUOTED.match(self.text, place)
        if found:
            return _ESCAPE.sub(r"\1", found[1]), found.end()
        self._report(place, len(self.text), "This quote is not closed.")
        return self.text[place + 1 :] or '"', len(self.text)

    def _regex(self, place: int) -> Token:
        found = _SLASHED.match(self.text, place)
        if not found:
            bare = _BARE.match(self.text, place)
            end = bare.end() if bare else place + 1
            text = quoted(self.text[place:end])
            sentence = (
                'The closing "/" of this regular expression is missing. Quote words that contain slashes.'
            )
            self._report(place, end, sentence, text)
            return Token(Sign.LEAF, place, end)
        pattern, flags = found[1], found[2]
        if flags not in ("", "i"):
            sentence = f"Unknown flag “{shown(flags)}”. The only flag is i."
            sentence += " Quote words that contain slashes."
            self._report(place, found.end(), sentence, quoted(found[0]))
        elif complaint := _complaint(pattern):
            self._report(place, found.end(), f"Invalid regular expression: {complaint}.")
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
        sentence = f"Unknown field “{shown(name)}”. "
        if meant:
            self._report(start, place, f"{sentence}Did you mean {meant}:?", f"{meant}:")
        else:
            self._report(start, place, f"{sentence}Quote words that contain a colon.")
        if end == place and self.text[place : place + 1] == '"':
            _, end = self._quote(place)
        return Token(Sign.LEAF, start, end)

    def _values(self, field: FilterField, place: int) -> tuple[list[Value], int]:
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
        self, field: FilterField, text: str, is_quoted: bool, start: int, end: int, values: list[Value]
    ) -> None:
        if start == end:
            self._report(start - 1, end, f"The value is missing. Example: {field.example}.")
            return
        try:
            values.append(read_value(field, text, is_quoted))
        except BadValue as bad:
            self._report(start, end, str(bad), bad.instead)


def _complaint(pattern: str) -> str:
    try:
        re2_pattern(composed(pattern), ignore_case=False)
    except re.error as error:
        return reason_of(error)
    except (RecursionError, OverflowError):
        return "it is too complex"
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

    @property
    def canonical(self) -> str:
        return unparse(self.root)

    def within(self, other: "Query") -> "Query":
        """Return a query that matches what both match, such as a search within a filter."""
        parts = tuple(query.root for query in (other, self) if query.root is not None)
        root = _joined(And, parts) if parts else None
        return Query(unparse(root), root, other.problems + self.problems)


EVERYTHING = Query()


def parse(text: str) -> Query:
    """Parse a text, collecting all problems in it."""
    if len(text) > MAX_TEXT:
        sentence = f"A filter can have at most {MAX_TEXT} characters."
        return Query(text, None, (QueryProblem(MAX_TEXT, len(text), sentence),))
    lexer = QueryLexer(text)
    parser = _Parser(lexer.tokens())
    root = parser.whole()
    problems = sorted(lexer.problems + parser.problems, key=lambda problem: (problem.start, problem.end))
    return Query(text, root, tuple(problems))


def _joined(kind: type[And] | type[Or], parts: tuple[Node, ...]) -> Node:
    if len(parts) == 1:
        return parts[0]
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    return kind(tuple(flat))


class _Parser:
    """Recursive descent over the tokens; methods return None if they could parse nothing."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self.problems: list[QueryProblem] = []

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _at(self, *signs: Sign) -> bool:
        return self._tokens[self._place].sign in signs

    def _take(self) -> Token:
        token = self._tokens[self._place]
        self._place += token.sign is not Sign.END
        return token

    def _report(self, token: Token, sentence: str) -> None:
        self.problems.append(QueryProblem(token.start, token.end, sentence))

    def whole(self) -> Node | None:
        parts: list[Node] = []
        while not self._at(Sign.END):
            if self._at(Sign.CLOSE):
                self._report(self._take(), "Unexpected “)”.")
                continue
            if (part := self._any()) is not None:
                parts.append(part)
        return _joined(And, tuple(parts)) if parts else None

    def _any(self) -> Node | None:
        parts = [self._all()]
        while self._at(Sign.OR):
            word = self._take()
            following = self._all()
            if parts[-1] is None and following is None:
                self._report_missing_term(word)
            parts.append(following)
        known = tuple(part for part in parts if part is not None)
        return _joined(Or, known) if known else None

    def _all(self) -> Node | None:
        parts: list[Node] = []
        self._expect_term()
        while True:
            match self._next.sign:
                case Sign.AND:
                    self._take()
                    self._expect_term()
                case Sign.LEAF | Sign.NOT | Sign.OPEN:
                    if (part := self._unary()) is not None:
                        parts.append(part)
                case _:
                    break
        return _joined(And, tuple(parts)) if parts else None

    def _expect_term(self) -> None:
        """Report an operator without a term: an `and`, `or` or `not` next to another, or at an end."""
        token = self._next
        if self._at(Sign.LEAF, Sign.NOT, Sign.OPEN):
            return
        before = self._tokens[self._place - 1] if self._place else None
        if before is not None and before.sign in (Sign.AND, Sign.OR):
            self._report_missing_term(before)
        elif token.sign in (Sign.AND, Sign.OR):
            self._report_missing_term(token)

    def _report_missing_term(self, word: Token) -> None:
        sentence = f"“{word.sign.value}” needs a term on both sides. Quote it to search for the word."
        problem = QueryProblem(word.start, word.end, sentence)
        if problem not in self.problems:
            self.problems.append(problem)

    def _unary(self) -> Node | None:
        negated, last = False, self._next
        while self._at(Sign.NOT):
            negated, last = not negated, self._take()
        match self._next.sign:
            case Sign.LEAF:
                part = self._take().node
            case Sign.OPEN:
                part = self._group()
            case _:
                self._report(last, "“not” needs a term after it. Quote it to search for the word.")
                return None
        if part is None or not negated:
            return part
        return part.part if isinstance(part, Not) else Not(part)

    def _group(self) -> Node | None:
        opening = self._take()
        if self._depth >= MAX_DEPTH:
            self._report(opening, f"Parentheses are nested more than {MAX_DEPTH} levels deep.")
            self._place = len(self._tokens) - 1
            return None
        if self._at(Sign.CLOSE):
            self._report(Token(Sign.OPEN, opening.start, self._take().end), "These parentheses are empty.")
            return None
        self._depth += 1
        inside = self._any()
        self._depth -= 1
        if self._at(Sign.CLOSE):
            self._take()
        elif not any("deep" in problem.sentence for problem in self.problems):
            self._report(opening, "This “(” is not closed.")
        return inside
