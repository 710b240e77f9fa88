"""The filter language: a text becomes a `Query`, with everything that is wrong in it. Pure; never raises.

    server:weather method:tools/* kind:response status:error size:>10k latency:>200ms dir:out since:5m
    id:7 tool:get_weather "free text" /regex/i (a or b) not c !d -e

Terms side by side are all meant (`and` may be written); `or` binds less, `not`, `!` and `-` bind more. A
comma between values is "any of". `tui.traffic.filter.fields` has the fields.
"""

from dataclasses import dataclass

from tui.traffic.filter.lexer import Lexer, Problem, Sign, Token
from tui.traffic.filter.nodes import And, Node, Not, Or, unparse

MAX_TEXT = 4000
"""Characters; a longer text is a paste gone wrong."""

MAX_DEPTH = 40
"""Parentheses in parentheses."""


@dataclass(frozen=True, slots=True)
class Query:
    """A filter as it was written and as it was understood.

    Attributes:
        text: as it was written.
        root: what it says; None is everything. With problems: what could be understood.
        problems: what is wrong, in the order of the text.
    """

    text: str = ""
    root: Node | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether it can be used: nothing is wrong."""
        return not self.problems

    @property
    def canonical(self) -> str:
        """The same in its one canonical form."""
        return unparse(self.root)

    def within(self, other: "Query") -> "Query":
        """Return the query of what both find, such as a search inside of a filter."""
        parts = tuple(query.root for query in (other, self) if query.root is not None)
        root = _joined(And, parts) if parts else None
        return Query(unparse(root), root, other.problems + self.problems)


EVERYTHING = Query()


def parse(text: str) -> Query:
    """Return what a text says, with all that is wrong in it."""
    if len(text) > MAX_TEXT:
        sentence = f"A filter has at most {MAX_TEXT} characters."
        return Query(text, None, (Problem(MAX_TEXT, len(text), sentence),))
    lexer = Lexer(text)
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
    """Recursive descent over the tokens; each method returns None where it understood nothing."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self.problems: list[Problem] = []

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _at(self, *signs: Sign) -> bool:
        return self._tokens[self._place].sign in signs

    def _take(self) -> Token:
        token = self._tokens[self._place]
        self._place += token.sign is not Sign.END
        return token

    def _wrong(self, token: Token, sentence: str) -> None:
        self.problems.append(Problem(token.start, token.end, sentence))

    def whole(self) -> Node | None:
        parts: list[Node] = []
        while not self._at(Sign.END):
            if self._at(Sign.CLOSE):
                self._wrong(self._take(), 'This ")" closes nothing.')
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
                self._lacks(word)
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
                    if (part := self._one()) is not None:
                        parts.append(part)
                case _:
                    break
        return _joined(And, tuple(parts)) if parts else None

    def _expect_term(self) -> None:
        """Complain at a word that joins nothing: an `and`, `or` or `not` beside another, or at an end."""
        token = self._next
        if self._at(Sign.LEAF, Sign.NOT, Sign.OPEN):
            return
        before = self._tokens[self._place - 1] if self._place else None
        if before is not None and before.sign in (Sign.AND, Sign.OR):
            self._lacks(before)
        elif token.sign in (Sign.AND, Sign.OR):
            self._lacks(token)

    def _lacks(self, word: Token) -> None:
        sentence = (
            f'"{word.sign.value}" needs a term on both sides; put it between quotes to look for the word.'
        )
        problem = Problem(word.start, word.end, sentence)
        if problem not in self.problems:
            self.problems.append(problem)

    def _one(self) -> Node | None:
        negated, last = False, self._next
        while self._at(Sign.NOT):
            negated, last = not negated, self._take()
        match self._next.sign:
            case Sign.LEAF:
                part = self._take().node
            case Sign.OPEN:
                part = self._group()
            case _:
                self._wrong(last, '"not" needs a term after it; put it between quotes to look for the word.')
                return None
        if part is None or not negated:
            return part
        return part.part if isinstance(part, Not) else Not(part)

    def _group(self) -> Node | None:
        opening = self._take()
        if self._depth >= MAX_DEPTH:
            self._wrong(opening, f"Parentheses go at most {MAX_DEPTH} deep.")
            self._place = len(self._tokens) - 1
            return None
        if self._at(Sign.CLOSE):
            self._wrong(
                Token(Sign.OPEN, opening.start, self._take().end), "There is nothing in these parentheses."
            )
            return None
        self._depth += 1
        inside = self._any()
        self._depth -= 1
        if self._at(Sign.CLOSE):
            self._take()
        elif not any("deep" in problem.sentence for problem in self.problems):
            self._wrong(opening, 'This "(" is not closed.')
        return inside
