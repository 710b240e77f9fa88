"""Reads suites, with every problem of a file: its line, its key, and what to write. Starts nothing."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from tui.addons.tests.suite.case import (
    UNSET,
    Case,
    Contract,
    Expectation,
    Lose,
    Request,
    RequestKind,
    Suite,
    SuiteServer,
    TurnCase,
)
from tui.addons.tests.suite.case_text import MAX_NAME, default_name
from tui.addons.tests.suite.check import MAX_DEPTH, Checker, Table, TooManyProblems
from tui.addons.tests.suite.durations import milliseconds
from tui.addons.tests.suite.json_path import steps_of
from tui.addons.tests.suite.keys import CONTENT_TYPES, INVALID_BASE64, REQUESTS
from tui.addons.tests.suite.references import SAVED_NAME, texts_of
from tui.addons.tests.turns.call_pattern import pattern_of
from tui.core.comparison.placeholders import has_open_pattern, misspelled, pattern_faults
from tui.core.errors import ConfigError, dotted
from tui.core.jsonrpc.reader import loads
from tui.core.text import capitalized, clean_line, quoted_name
from tui.core.units import plural
from tui.core.web import header_name_fault, url_fault
from tui.settings.files import Unreadable, read_bounded, toml_of
from tui.settings.key_positions import KeyPath, bracket_lines, toml_places
from tui.settings.problems import Problem, did_you_mean
from tui.settings.references import FILE, names_in

MAX_BYTES = 2 * 1024 * 1024
"""A larger suite is a mistake."""

MOST_LOOKED_AT = 256 * 1024
"""Maximum characters of texts with placeholders that are checked for wrong ones."""

_SHOWN = 20
_LESS_DEEP = f"write at most {MAX_DEPTH} levels"
_ESCAPE = "for a literal `${`, write `$${`"


class SuiteError(ConfigError):
    """A suite cannot be used. `problems` are all of its file, warnings too, by line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        errors = [str(problem) for problem in self.problems if not problem.warning]
        more = [f"and {plural(len(errors) - _SHOWN, 'more problem')}"] if len(errors) > _SHOWN else []
        super().__init__("\n".join([*errors[:_SHOWN], *more]))


def read_suite(path: Path) -> Suite:
    """Return the suite in a file. Raises `SuiteError`."""
    name = clean_line(str(path), 400)
    try:
        return suite_of(read_bounded(path, MAX_BYTES), path)
    except FileNotFoundError as error:
        raise SuiteError([Problem("file not found", file=name, suggestion="check the path")]) from error
    except Unreadable as error:
        raise SuiteError([Problem(str(error), file=name)]) from error


def suite_of(text: str, path: Path) -> Suite:
    """Return the suite that is the text of the file `path`. Raises `SuiteError`."""
    name = clean_line(str(path), 400)
    try:
        tree = toml_of(text)
    except RecursionError as error:
        line = bracket_lines(text)[1]
        problem = Problem("is nested too deeply", suggestion=_LESS_DEEP, line=line, file=name)
        raise SuiteError([problem]) from error
    except ValueError as error:
        from tui.settings.load import toml_problem  # loads pydantic

        problem = toml_problem(error, text)
        step = "write the number in quotes" if "digits" in problem.message else ""
        problem = replace(problem, file=name, suggestion=step)
        raise SuiteError([problem]) from error
    checker = Checker(text, toml_places(text), name)
    suite = Suite(path)
    with suppress(TooManyProblems):
        suite = _Reader(checker, path).suite(tree)
    problems = sorted(checker.problems, key=lambda problem: problem.line)
    if any(not problem.warning for problem in problems):
        raise SuiteError(problems)
    return replace(suite, warnings=tuple(str(problem) for problem in problems))


class _Reader:
    """Makes the values of a suite. What is wrong is left out, since the file is not used then."""

    def __init__(self, checker: Checker, path: Path) -> None:
        self._check = checker
        self._path = path
        self._saved: set[str] = set()
        self._looked_at = 0

    def suite(self, tree: Mapping[str, Any]) -> Suite:
        found = self._check.table("", dict(tree), ()) or {}
        cases = self._cases(found.get("call", []))
        turns = tuple(self._turn(table, ("turn", at)) for at, table in enumerate(found.get("turn", [])))
        self._unique([(case.name, ("call", at)) for at, case in enumerate(cases)])
        self._unique([(turn.title, ("turn", at)) for at, turn in enumerate(turns)])
        return Suite(
            self._path,
            self._server(found.get("server")),
            cases,
            turns,
            self._contract(found["contract"]) if "contract" in found else None,
        )

    # ---- server and contract -------------------------------------------------------------------------------

    def _server(self, value: Any) -> SuiteServer | None:
        path: KeyPath = ("server",)
        if value is None:
            return None
        if isinstance(value, str):
            if not value.strip():
                self._check.error(path, "is empty", 'write the name of a server, as in `server = "weather"`')
            return SuiteServer(value, line=self._check.line(path))
        found = self._check.table("server", value, path) or {}
        self._kind_of_server(value, found, path)
        for key in ("env", "headers"):
            for name, text in found.get(key, {}).items():
                self._environment(text, (*path, key, name))
                fault = header_name_fault(name) if key == "headers" else _variable_fault(name)
                if fault:
                    self._check.error((*path, key, name), fault)
        self._environment(found.get("url", ""), (*path, "url"))
        for key in ("command", "cwd"):
            for text in texts_of(found.get(key, "")):
                if names_in(text)[0]:
                    self._check.error(
                        (*path, key),
                        "contains `${NAME}`, which is replaced only in env, headers and url",
                        "write the value itself",
                    )
        return SuiteServer(
            command=tuple(found.get("command", ())),
            url=found.get("url", ""),
            env=found.get("env", {}),
            headers=found.get("headers", {}),
            cwd=found.get("cwd", ""),
            transport=found.get("transport", ""),
            era=found.get("era", ""),
            timeout_ms=milliseconds(found["timeout"]) if "timeout" in found else None,
            line=self._check.line(path),
            lines=self._lines_of(found, path),
        )

    def _lines_of(self, found: Table, path: KeyPath) -> dict[str, int]:
        keys: list[tuple[str, ...]] = [(name,) for name in found]
        keys += [(key, name) for key in ("env", "headers") for name in found.get(key, {})]
        return {dotted(key): self._check.line((*path, *key)) for key in keys}

    def _kind_of_server(self, value: Mapping[str, Any], found: Table, path: KeyPath) -> None:
        if "command" in value and "url" in value:
            self._check.error((*path, "url"), "has a `command` and a `url`", "remove one of them")
        elif "command" not in value and "url" not in value:
            step = 'add `command = ["python", "server.py"]`, or `url`'
            self._check.error(path, "has no `command`", step)
        if (command := found.get("command")) is not None and not (command and command[0].strip()):
            self._check.error((*path, "command"), "is empty", 'write `command = ["python", "server.py"]`')
        needs = {"env": "command", "cwd": "command", "headers": "url"}
        for key, other in needs.items():
            if key in value and other not in value and ("command" in value or "url" in value):
                self._check.error((*path, key), f"requires `{other}`", "remove it")
        transport = found.get("transport", "")
        is_local = transport in ("stdio", "lines")
        if transport and ("url" in value) is is_local and ("command" in value) is not is_local:
            other = "command" if is_local else "url"
            self._check.error((*path, "transport"), f"is {transport}, which requires `{other}`", "remove it")
        url = found.get("url", "")
        if url and "${" not in url and (fault := url_fault(url)):
            self._check.error((*path, "url"), fault)

    def _environment(self, text: str, path: KeyPath) -> None:
        names, broken = names_in(text)
        if broken:
            self._check.error(path, "contains `${` without `NAME}`", _ESCAPE)
        if any(name.startswith(FILE) for name in names):
            self._check.error(path, "refers to a file, which a suite must not", "use a variable: `${NAME}`")

    def _contract(self, table: Any) -> Contract:
        path: KeyPath = ("contract",)
        found = self._check.table("contract", table, path) or {}
        lock = found.get("lock", "")
        if lock and not is_inside(lock):
            step = 'write the name of a file there, such as `lock = "weather.lock.json"`'
            self._check.error(
                (*path, "lock"), "must be in the folder of this file or below, without `..`", step
            )
        defaults = Contract(lock, line=self._check.line(path))
        return replace(
            defaults,
            fail=tuple(found.get("fail", defaults.fail)),
            tokens=found.get("tokens"),
            strength=found.get("strength", defaults.strength),
        )

    # ---- cases ---------------------------------------------------------------------------------------------

    def _cases(self, tables: list[Table]) -> tuple[Case, ...]:
        return tuple(self._case("call", table, ("call", at)) for at, table in enumerate(tables))

    def _case(self, section: str, table: Table, path: KeyPath) -> Case:
        found = self._check.table(section, table, path) or {}
        found |= {key: loads(found[key]) for key in ("args", "result") if isinstance(found.get(key), str)}
        request = self._request(table, found, path)
        expected = self._expectation(found, request, path)
        self._used_names(found, path)
        self._saves(found.get("save", {}), path)
        then = tuple(
            self._case("then", inner, (*path, "then", at)) for at, inner in enumerate(found.get("then", []))
        )
        answers = found.get("answers", {})
        if answers:
            answers = self._check.table("answers", answers, (*path, "answers")) or {}
        return Case(
            name=self._name(found, request, path),
            line=self._check.line(path if section == "call" else path[:2]),
            request=request,
            expected=expected,
            lose=Lose(found["lose"]) if "lose" in found else None,
            save=found.get("save", {}),
            then=then,
            answers=answers,
            timeout_ms=milliseconds(found["timeout"]) if "timeout" in found else None,
            fresh=found.get("fresh", False),
            tags=_several(found.get("tags")),
            skip=found.get("skip", ""),
        )

    def _name(self, found: Table, request: Request, path: KeyPath) -> str:
        name: str = found.get("name", "")
        if fault := name_fault(name):
            self._check.error((*path, "name"), fault)
        return name or default_name(request)

    def _request(self, table: Table, found: Table, path: KeyPath) -> Request:
        named = [key for key in REQUESTS if key in table]
        if not named:
            # A misspelled key is reported already.
            if not any(did_you_mean(key, REQUESTS) for key in table if key not in REQUESTS):
                self._check.error(path, "has no request", 'add `tool = "NAME"`, `read`, `prompt` or `list`')
            return Request(RequestKind.TOOL, "", found.get("args", {}))
        if len(named) > 1:
            both = " and ".join(f"`{key}`" for key in named[:2])
            self._check.error((*path, named[1]), f"has {both}", "a case has one request: remove one")
        kind = RequestKind(named[0])
        if "args" in table and kind in (RequestKind.READ, RequestKind.LIST):
            self._check.error((*path, "args"), f"has no use with `{kind}`", "remove it")
        if kind is RequestKind.PROMPT:
            for name, value in found.get("args", {}).items():
                if not isinstance(value, str):
                    self._check.error((*path, "args", name), "must be a string, as all arguments of prompts")
        return Request(kind, found.get(kind, ""), found.get("args", {}))

    def _expectation(self, found: Table, request: Request, path: KeyPath) -> Expectation:
        result = found.get("result", UNSET)
        content = found.get("content")
        if content is not None:
            content = [
                self._check.table("content", item, (*path, "content", at)) or {}
                for at, item in enumerate(content)
            ]
        is_error = found.get("error", False)
        for key in ("result", "content"):
            if is_error and key in found and request.kind is not RequestKind.TOOL:
                self._check.error((*path, key), "has no use with `error = true`", "expect its `text`")
        self._placeholders(found.get("text", ""), (*path, "text"))
        for text in texts_of(None if result is UNSET else result):
            self._placeholders(text, (*path, "result"))
        for at, item in enumerate(content or ()):
            # A server may have types of its own.
            if (kind := item.get("type", "")) not in CONTENT_TYPES and (
                near := did_you_mean(kind, CONTENT_TYPES)
            ):
                self._check.warning((*path, "content", at, "type"), f"is {quoted_name(kind)}", near)
            for key, text in item.items():
                if isinstance(text, str):
                    self._placeholders(text, (*path, "content", at, key))
        self._codes(found.get("findings", ()), path)
        within = found.get("within")
        return Expectation(
            text=found.get("text"),
            result=result,
            content=content,
            error=is_error,
            within_ms=milliseconds(within) if within is not None else None,
            findings=tuple(found.get("findings", ())),
        )

    def _codes(self, codes: Sequence[str], path: KeyPath) -> None:
        """Warn of codes that no finding has. Another version of mcptui may have them."""
        if codes:
            from tui.traffic.lint.static_rules import RUN_RULES, STATIC_RULES

            known = [*STATIC_RULES, *RUN_RULES, INVALID_BASE64]
            for at, code in enumerate(codes):
                if code not in known:
                    message = f"no finding has the code {quoted_name(code)}"
                    self._check.warning((*path, "findings", at), message, did_you_mean(code, known))

    def _placeholders(self, text: str, path: KeyPath) -> None:
        if "<" not in text:
            return
        self._looked_at += len(text)
        if self._looked_at > MOST_LOOKED_AT:
            return
        for wrong, meant in misspelled(text):
            self._check.warning(path, f"{quoted_name(wrong)} is literal text", f"did you mean {meant}?")
        if has_open_pattern(text):
            self._check.warning(path, "`<re:` is literal text, as no `>` ends it", "write `<re:PATTERN>`")
        for regex, why in pattern_faults(text):
            self._check.error(path, f"the pattern {quoted_name(f'<re:{regex}>')} is invalid: {why}")

    def _used_names(self, found: Table, path: KeyPath) -> None:
        """Check the `${NAME}` of a request and its expectation: an earlier case must save each."""
        for key in ("tool", "prompt", "name"):
            if names_in(found.get(key, ""))[0]:
                add = self._check.warning if key == "name" else self._check.error  # a name is only shown
                add((*path, key), "contains `${NAME}`, which is not replaced here", "write the value itself")
        for key in ("args", "read", "text", "result", "content"):
            for text in texts_of(found.get(key)):
                names, broken = names_in(text)
                if broken:
                    self._check.error((*path, key), "contains `${` without `NAME}`", _ESCAPE)
                for name in names:
                    if name not in self._saved:
                        self._not_saved(name, (*path, key))

    def _not_saved(self, name: str, path: KeyPath) -> None:
        shown = clean_line(name, 60)
        near = did_you_mean(name, self._saved)
        step = "variables of the environment are replaced only in env, headers and url. "
        self._check.error(
            path,
            f"no case before it saves a value as {quoted_name(shown)}",
            near or f"{step}{capitalized(_ESCAPE)}",
        )

    def _saves(self, save: Mapping[str, str], path: KeyPath) -> None:
        for name, where in save.items():
            here = (*path, "save", name)
            if not SAVED_NAME.fullmatch(name):
                self._check.error(here, "is not a name: use letters, digits and _")
            if steps_of(where) is None:
                step = "write the path of one value, such as `$.id` or `$.items[0].name`"
                self._check.error(here, f"{quoted_name(where)} is not a JSON path", step)
            self._saved.add(name)

    # ---- turn cases ----------------------------------------------------------------------------------------

    def _turn(self, table: Table, path: KeyPath) -> TurnCase:
        found = self._check.table("turn", table, path) or {}
        for text in _several(found.get("answer")):
            self._placeholders(text, (*path, "answer"))
        for one in _several(found.get("calls")):
            try:
                pattern_of(one)
            except ValueError as error:
                self._check.error((*path, "calls"), f"{quoted_name(one)} is not a call: {error}")
        if found.get("pass") == 0:
            self._check.error((*path, "pass"), "must be more than 0", "write `pass = 0.8`")
        return TurnCase(
            question=found.get("question", ""),
            line=self._check.line(path),
            name=found.get("name", ""),
            calls=_several(found.get("calls")),
            never=_several(found.get("never")),
            answer=_several(found.get("answer")),
            max_steps=found.get("max_steps"),
            cost=found.get("cost"),
            runs=found.get("runs", 1),
            passing=float(found.get("pass", 1.0)),
            models=_several(found.get("models")),
            tags=_several(found.get("tags")),
            skip=found.get("skip", ""),
        )

    def _unique(self, named: Iterable[tuple[str, KeyPath]]) -> None:
        first: dict[str, KeyPath] = {}
        for name, path in named:
            if name and name in first:
                line = self._check.line(first[name])
                message = f"{quoted_name(name)} is also the name of the case in line {line}"
                self._check.error((*path, "name"), message, "give each case its own `name`")
            first.setdefault(name, path)


def name_fault(name: str) -> str:
    """Return why a case cannot have a name, as in "must be …", or ""."""
    is_good = len(name) <= MAX_NAME and "\n" not in name and "\r" not in name
    return "" if is_good else f"must be one line of at most {MAX_NAME} characters"


def is_inside(name: str) -> bool:
    """Return whether a path of a file stays in the folder that it is relative to, on every system."""
    parts = re.split(r"[/\\]", name)
    is_absolute = PurePosixPath(name).is_absolute() or bool(PureWindowsPath(name).anchor)
    return not (is_absolute or ".." in parts or "\0" in name or parts[-1] in ("", "."))


def _several(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _variable_fault(name: str) -> str:
    is_odd = not name or "=" in name or "\0" in name or "${" in name
    return "is not a name of a variable" if is_odd else ""
