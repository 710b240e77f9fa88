"""Checks the tables of a suite against the table of keys, and collects all problems. Pure."""

import datetime
import json
import math
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from tui.addons.tests.suite.durations import is_duration, milliseconds
from tui.addons.tests.suite.keys import FORM_ANSWERS, SECTIONS, SYNONYMS, Key, Kind
from tui.core.errors import reason_of, shown_text
from tui.core.jsonrpc.reader import loads
from tui.core.text import quoted_name
from tui.core.units import and_more
from tui.settings.key_positions import KeyPath, Place, line_of
from tui.settings.problems import Problem, did_you_mean

MAX_DEPTH = 60
"""Deeper values have no place in the file."""

MAX_PROBLEMS = 50
"""With so many errors, reading ends: the file is something else."""

Table = dict[str, Any]


class TooManyProblems(Exception):
    """Ends the reading of a file with `MAX_PROBLEMS` errors."""


class Checker:
    """Collects the problems of one text, each with its line. Any of them may raise `TooManyProblems`."""

    def __init__(self, text: str, places: Mapping[KeyPath, Place], file: str) -> None:
        self._text = text
        self._places = places
        self._file = file
        self.problems: list[Problem] = []

    def line(self, path: KeyPath) -> int:
        """Return the line of a key, of the first below it (`call` of `call.x`), or of what contains it."""
        if path not in self._places:
            below = (place.line for one, place in self._places.items() if one[: len(path)] == path)
            if line := min(below, default=0):
                return line
        return max(1, line_of(self._places, path))

    def error(self, path: KeyPath, message: str, suggestion: str = "") -> None:
        """Add an error."""
        self._add(self._problem(path, message, suggestion))

    def warning(self, path: KeyPath, message: str, suggestion: str = "") -> None:
        """Add a warning."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(replace(self._problem(path, message, suggestion), warning=True))

    def _add(self, problem: Problem) -> None:
        self.problems.append(problem)
        if sum(not one.warning for one in self.problems) >= MAX_PROBLEMS:
            raise TooManyProblems

    def table(self, section: str, value: Any, path: KeyPath) -> Table | None:
        """Return the members of a table that are right, or None if it is no table; adds all problems."""
        if not isinstance(value, dict):
            self.error(path, f"must be a table, not {_named(value)}")
            return None
        keys = SECTIONS[section]
        found: Table = {}
        for name, member in value.items():
            if (key := keys.get(name)) is None:
                self._unknown(keys, name, (*path, name))
            elif not (faults := list(self._faults(key, member, (*path, name)))):
                found[name] = member
            else:
                for fault in faults:
                    self._add(fault)
        for name, key in keys.items():
            if key.required and name not in value:
                self.error(path, f"has no `{name}`", f"add a line such as `{key.example}`")
        return found

    def _unknown(self, keys: Mapping[str, Key], name: str, path: KeyPath) -> None:
        if name == "then" and "then" in path[:-1]:
            self.error(path, "a step of `then` has no steps", "write each step as an item of the same list")
            return
        near = did_you_mean(name, keys, SYNONYMS)
        known = ", ".join(keys)
        self.error(path, "unknown key", near or f"known keys: {known}")

    def _problem(self, path: KeyPath, message: str, suggestion: str = "", line: int = 0) -> Problem:
        return Problem(message, path, suggestion, line=line or self.line(path), file=self._file)

    def _faults(self, key: Key, value: Any, path: KeyPath) -> list[Problem]:
        """Return the problems of one value."""
        if not _FITS[key.kind](value):
            return [self._wrong(key, value, path)]
        if key.kind in (Kind.ARGUMENTS, Kind.RESULT, Kind.FORMS):
            if bad := list(islice(_not_json(value, path), MAX_PROBLEMS)):
                return [self._problem(*one) for one in bad]
        if key.kind in (Kind.RESULT, Kind.ARGUMENTS) and isinstance(value, str):
            return self._json_faults(key, value, path)
        if key.kind is Kind.DURATION and milliseconds(value) is None:
            step = "write a number with ms, s or m, such as `800ms`, `2s` or `1m`"
            fault = "must be more than 0 and at most a day" if is_duration(value) else "is not a duration"
            return [self._problem(path, f"{fault}: {quoted_name(value)}", step)]
        if key.choices:
            return self._choice_faults(key, value, path)
        if key.kind in (Kind.TEXT, Kind.ONE_OR_MORE) and not key.may_be_empty and _has_empty(value):
            return [self._problem(path, "is empty", f"write `{key.example}`" if key.example else "")]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._bound_faults(key, value, path)
        return []

    def _choice_faults(self, key: Key, value: Any, path: KeyPath) -> list[Problem]:
        listed = value if isinstance(value, list) else [value]
        faults = []
        for at, one in enumerate(listed):
            if isinstance(one, str) and one not in key.choices:
                here = (*path, at) if isinstance(value, list) else path
                near = did_you_mean(one, key.choices)
                choices = and_more([f'"{choice}"' for choice in key.choices], 8)
                faults.append(
                    self._problem(here, f"is {quoted_name(one)}", near or f"write one of {choices}")
                )
        return faults

    def _bound_faults(self, key: Key, value: float, path: KeyPath) -> list[Problem]:
        if isinstance(value, float) and not math.isfinite(value):
            return [self._problem(path, "must be a finite number")]
        if key.least is not None and value < key.least:
            return [self._problem(path, f"must be at least {key.least:g}")]
        if key.most is not None and value > key.most:
            return [self._problem(path, f"must be at most {key.most:g}")]
        return []

    def _wrong(self, key: Key, value: Any, path: KeyPath) -> Problem:
        step = f"write `{key.example}`" if key.example and "\n" not in key.example else ""
        if key.kind is Kind.TEXTS and isinstance(value, str):
            words = [value]
            if path[-1] == "command":
                try:
                    words = shlex.split(value)
                except ValueError:
                    words = [value]
            items = ", ".join(json.dumps(shown_text(word, 60), ensure_ascii=False) for word in words)
            step = f"write `{path[-1]} = [{items}]`"
        elif path[-1] == "skip" and value is True:
            step = 'write why: `skip = "needs a database"`'
        elif key.kind is Kind.TABLES:
            step = f"write `{key.example}`, in two brackets"
        elif key.kind is Kind.TABLE:
            step = f"write `{key.example}`, in one pair of brackets, once"
        elif key.kind is Kind.DURATION and isinstance(value, int | float) and not isinstance(value, bool):
            unit = "ms" if path[-1] == "within" else "s"
            step = f'write `{path[-1]} = "{value:g}{unit}"`, with its unit'
        article = {Kind.TRUTH: "", Kind.WHOLE: "an ", Kind.TABLES: "an "}.get(key.kind, "a ")
        return self._problem(path, f"must be {article}{key.kind}, not {_named(value)}", step)

    def _json_faults(self, key: Key, text: str, path: KeyPath) -> list[Problem]:
        try:
            value = loads(text)
        except (ValueError, RecursionError) as error:
            inside = error.lineno if isinstance(error, json.JSONDecodeError) else 0
            is_text = key.kind is Kind.RESULT and text.strip()[:1] not in ("{", "[", '"')
            step = "to expect a plain text, use `text`" if is_text else ""
            line = self._line_within(path, inside)
            reason = reason_of(error)
            if line and inside:
                reason = reason.replace(f" at line {inside}, column", " at column")
            return [self._problem(path, f"is not JSON: {reason}", step, line)]
        if key.kind is Kind.ARGUMENTS and not isinstance(value, dict):
            return [self._problem(path, "is not a JSON object", f"write `{key.example}`")]
        too_deep = next(_not_json(value, ()), None)
        return [self._problem(path, too_deep[1], too_deep[2])] if too_deep else []

    def _line_within(self, path: KeyPath, inside: int) -> int:
        """Return the line of the file where a line of a multi-line string is, 0 if it is not one."""
        place = self._places.get(path)
        if place is None or inside < 1:
            return 0
        start = self._text[place.start : place.start + 5]
        if not start.startswith(("'''", '"""')):
            return 0
        trimmed = start[3:4] == "\n" or start[3:5] == "\r\n"
        return self._text.count("\n", 0, place.start) + inside + trimmed


def _not_json(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield the parts of a TOML value that JSON does not have, in order: path, what it is, what to do."""
    rest: list[tuple[KeyPath, Any]] = [(path, value)]
    while rest:
        at, one = rest.pop()
        if len(at) > MAX_DEPTH:
            yield at[: len(path) or 1], "is nested too deeply", f"write at most {MAX_DEPTH} levels"
            return
        if isinstance(one, dict):
            rest += reversed([((*at, name), member) for name, member in one.items()])
        elif isinstance(one, list):
            rest += reversed([((*at, number), member) for number, member in enumerate(one)])
        elif isinstance(one, datetime.date | datetime.time):
            yield at, "is a date, which JSON does not have", f'write it in quotes: "{one.isoformat()}"'
        elif isinstance(one, float) and not math.isfinite(one):
            yield at, f"is {one}, which JSON does not have", ""


def _has_empty(value: Any) -> bool:
    return value == "" or (isinstance(value, list) and "" in value)


def _named(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {quoted_name(value, 40)}"
        case int() | float():
            return f"the number {shown_text(f'{value:g}', 30)}" if abs(value) < 1e300 else "a number"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date"


_Fits = Callable[[Any], bool]


def _a(*types: type) -> _Fits:
    """Return whether a value is of these types; true and false are no numbers."""
    return lambda value: isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _list_of(fits: _Fits) -> _Fits:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _one_or_more(fits: _Fits) -> _Fits:
    return lambda value: fits(value) or _list_of(fits)(value)


_TEXT, _TABLE = _a(str), _a(dict)
_FITS: Mapping[Kind, _Fits] = {
    Kind.TEXT: _TEXT,
    Kind.TEXTS: _list_of(_TEXT),
    Kind.ONE_OR_MORE: _one_or_more(_TEXT),
    Kind.TRUTH: _a(bool),
    Kind.WHOLE: _a(int),
    Kind.NUMBER: _a(int, float),
    Kind.DURATION: _TEXT,
    Kind.SIZE: _a(int, str),
    Kind.ARGUMENTS: _a(dict, str),
    Kind.TEXT_TABLE: lambda value: isinstance(value, dict) and all(map(_TEXT, value.values())),
    Kind.ANSWERS: _TABLE,
    Kind.CONTENT: _list_of(_TABLE),
    Kind.CASES: _list_of(_TABLE),
    Kind.RESULT: lambda value: True,
    Kind.FORMS: _one_or_more(lambda value: isinstance(value, dict) or value in FORM_ANSWERS),
    Kind.REPLIES: _one_or_more(lambda value: isinstance(value, str) or value is False),
    Kind.SERVER: _a(str, dict),
    Kind.TABLE: _TABLE,
    Kind.TABLES: _list_of(_TABLE),
}
