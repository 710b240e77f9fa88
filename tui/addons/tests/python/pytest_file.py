"""`mcptui test --to pytest`: a suite as a Python file with the same cases, for the pytest plugin.

Texts of the suite only get into the file as Python literals without unprintable characters.
"""

import argparse
import keyword
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.addons.tests.run.case_run import why_skipped
from tui.addons.tests.suite.case import ENDING, UNSET, Case, Request, RequestKind, Suite
from tui.addons.tests.suite.durations import duration_text
from tui.addons.tests.suite.find import found, shown_path
from tui.addons.tests.suite.read import read_suite
from tui.addons.tests.suite.references import saved_names, used_names
from tui.core.errors import UsageError, reason_of
from tui.core.files import atomic_write
from tui.core.text import clean_line
from tui.core.units import plural

WIDTH = 100
"""Maximum characters of a line that can be broken."""

MAX_NAME = 80
FIXTURE = '@pytest.fixture(scope="module")'
_SAVED = re.compile(r"(?<!\$)\$\{(\w+)\}")


_VERBS = {
    RequestKind.TOOL: "call",
    RequestKind.READ: "read",
    RequestKind.PROMPT: "prompt",
    RequestKind.LIST: "list",
}
"""The methods of a server in a Python test."""


def write(args: argparse.Namespace) -> int:
    """Write a Python file beside each test file, and return the exit code.

    Raises UsageError if one exists, or SuiteError if a test file is invalid.
    """
    suites = [read_suite(path) for path in found(args.words)]
    if not suites:
        raise UsageError(f"no test file (*{ENDING}) here.", next_step="Name one.")
    by_path = {one.path.with_name(file_name(one)): one for one in suites}
    for suite in suites:
        path = suite.path.with_name(file_name(suite))
        if (other := by_path[path]) is not suite:
            both = f"{shown_path(suite.path)} and {shown_path(other.path)}"
            raise UsageError(f"{both} would both be {shown_path(path)}.", next_step="Rename one of them.")
        if os.path.lexists(path) and not args.yes:
            raise UsageError(f"{shown_path(path)} exists already.", next_step="Use --yes to replace it.")
    for path, suite in by_path.items():
        shown = shlex.quote(shown_path(path))
        try:
            atomic_write(path, [python_file(suite)], mode=0o644)
        except OSError as error:
            raise UsageError(f"{shown_path(path)} cannot be written: {reason_of(error)}.") from None
        print(f"Wrote {shown} with {plural(len(suite.cases), 'test')}. Run it with: pytest {shown}")
    return 0


def file_name(suite: Suite) -> str:
    """Return the name of the Python file: `test_weather.py` for `weather.mcp.toml`."""
    stem = suite.path.name.removesuffix(ENDING)
    return f"test_{_identifier(stem) or 'mcp'}.py"


def python_file(suite: Suite) -> str:
    """Return the source of the Python file."""
    lines = [
        _docstring(f"The cases of {clean_line(suite.path.name, 80)} as Python tests."),
        "",
        "import pytest",
        "",
        "from tui.pytest_plugin import assert_result",
        "",
        "",
        FIXTURE,
        "def server(mcp_server):",
        *_call("    return mcp_server", _server_arguments(suite)),
    ]
    for test in _tests(suite.cases):
        lines += test.lines()
    left = [
        *([plural(len(suite.turns), "turn case")] if suite.turns else []),
        *(["the contract"] if suite.contract is not None else []),
    ]
    if left:
        lines += ["", "", f"# Only in {clean_line(suite.path.name, 80)}: {' and '.join(left)}."]
    return "\n".join([*lines, ""])


def _server_arguments(suite: Suite) -> list[str]:
    server, given = suite.server, list[str]()
    if server is None:
        return given
    if server.name:
        given.append(f"name={literal(server.name)}")
    elif server.url:
        given.append(literal(server.url))
    else:
        line = shlex.join(server.command)
        is_plain = line == " ".join(server.command)
        given.append(literal(line) if is_plain else literal(list(server.command), 8))
    holders = (("env", server.env), ("headers", server.headers))
    given += [f"{name}={literal(dict(values), 8)}" for name, values in holders if values]
    timeout = "" if server.timeout_ms is None else duration_text(server.timeout_ms)
    rest = (("cwd", server.cwd), ("transport", server.transport), ("era", server.era), ("timeout", timeout))
    given += [f"{name}={literal(value)}" for name, value in rest if value]
    return [*given, *(["sampling=True"] if any("sampling" in one.answers for one in suite.cases) else [])]


@dataclass(slots=True)
class _Test:
    """The test of a case. If others use what it saves, a fixture runs it: each of them can run alone."""

    name: str
    case: Case
    savers: Sequence["_Test"]
    is_used: bool = False

    @property
    def saved(self) -> frozenset[str]:
        """The names of the values that are there when the case has run."""
        return frozenset(saved_names(self.case)).union(*(one.saved for one in self.savers))

    def lines(self) -> Iterator[str]:
        case, title, skipped = self.case, f"    {_docstring(self.case.name)}", why_skipped(self.case)
        arguments = ", ".join(["server", *(f"saved_by_{one.name}" for one in self.savers)])
        yield from ("", "")
        if self.is_used:
            yield from (FIXTURE, f"def saved_by_{self.name}({arguments}):", title)
            body = (
                [f"    pytest.skip({literal(skipped)})"] if skipped else [*self._body(), "    return saved"]
            )
            yield from (*body, "", "")
        if case.tags:
            yield f"# tags: {clean_line(', '.join(case.tags), 200)}"
        if self.is_used:
            yield from (f"def test_{self.name}(saved_by_{self.name}):", f"    assert saved_by_{self.name}")
            return
        if skipped:
            yield f"@pytest.mark.skip(reason={literal(skipped)})"
        yield from (f"def test_{self.name}({arguments}):", title, *self._body())

    def _body(self) -> Iterator[str]:
        if saved := self.saved:
            yield f"    saved = {{{', '.join(f'**saved_by_{one.name}' for one in self.savers)}}}"
        for step in (self.case, *self.case.then):
            yield from _steps(step, saved)


def _tests(cases: Sequence[Case]) -> list[_Test]:
    names, found = set[str](), list[_Test]()
    for case in cases:
        name = _unique(_identifier(case.name)[:MAX_NAME].strip("_") or "case", names)
        wanted, savers = used_names(case), list[_Test]()
        for earlier in reversed(found):
            if not wanted.isdisjoint(saves := saved_names(earlier.case)):
                savers.insert(0, earlier)
                wanted -= saves
                earlier.is_used = True
        found.append(_Test(name, case, savers))
    return found


def _docstring(text: str) -> str:
    return f'""{_quoted(text)}""'


def _steps(case: Case, saved: frozenset[str]) -> Iterator[str]:
    arguments = _arguments(case.request, saved)
    yield from _call(f"    result = {_options(case)}.{_VERBS[case.request.kind]}", arguments)
    expected = case.expected
    flags = ["error=True"] if expected.error else []
    if expected.findings:
        flags.append(f"findings={literal(list(expected.findings), 8)}")
    if expected.content is not None:
        flags.append(f"content={literal([dict(item) for item in expected.content], 8, saved)}")
    wanted = [] if expected.text is None else [literal(expected.text, 8, saved)]
    if expected.result is not UNSET:  # a text alone is not a value
        named = "structured=" if wanted or isinstance(expected.result, str) else ""
        wanted.append(f"{named}{literal(expected.result, 8, saved)}")
    yield from _call("    assert_result", ["result", *wanted, *flags])
    for name, path in case.save.items():
        yield f"    saved[{literal(name)}] = result.value({literal(path)})"


def _options(case: Case) -> str:
    given: dict[str, Any] = {}
    if case.lose is not None:
        given["lose"] = case.lose.value
    if case.answers:
        given["answers"] = dict(case.answers)
    if case.timeout_ms is not None:
        given["timeout"] = duration_text(case.timeout_ms)
    if case.fresh:
        given["fresh"] = True
    if not given:
        return "server"
    return f"server.options({', '.join(f'{name}={literal(value)}' for name, value in given.items())})"


def _arguments(request: Request, saved: frozenset[str]) -> list[str]:
    name, given = literal(request.name, 0, saved), dict(request.arguments)
    if all(one.isidentifier() and one.isascii() and not keyword.iskeyword(one) for one in given):
        return [name, *(f"{one}={literal(value, 8, saved)}" for one, value in given.items())]
    return [name, literal(given, 8, saved)]


def _call(head: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a call in a function, one argument a line if it is too long for one line."""
    line = f"{head}({', '.join(arguments)})"
    if len(line) <= WIDTH and "\n" not in line:
        yield line
        return
    yield from (f"{head}(", *(f"        {argument}," for argument in arguments), "    )")


# ---- literals


def literal(value: Any, indent: int = 0, saved: frozenset[str] | None = None) -> str:
    """Return a JSON value as a Python expression.

    With the names of `saved` values, `${name}` becomes the value, and `$${` is a literal `${`. What is too
    long for a line is broken, with the rest indented by `indent` and more.
    """
    if isinstance(value, str):
        return _text(value, indent, saved)
    if isinstance(value, Mapping):
        heads = [f"{_quoted(str(key))}: " for key in value]
        return _broken("{}", heads, list(value.values()), indent, saved)
    if isinstance(value, list | tuple):
        return _broken("[]", [""] * len(value), value, indent, saved)
    return repr(value)


def _broken(
    marks: str, heads: Sequence[str], values: Sequence[Any], indent: int, saved: frozenset[str] | None
) -> str:
    pairs = list(zip(heads, values, strict=True))
    flat = ", ".join(head + literal(value, 0, saved) for head, value in pairs)
    if len(flat) + indent <= WIDTH - 10:
        return f"{marks[0]}{flat}{marks[1]}"
    inner = " " * (indent + 4)
    rows = [f"{inner}{head}{literal(value, indent + 4, saved)},\n" for head, value in pairs]
    return f"{marks[0]}\n{''.join(rows)}{' ' * indent}{marks[1]}"


def _text(text: str, indent: int, saved: frozenset[str] | None) -> str:
    whole = _SAVED.fullmatch(text) if saved else None
    if whole is not None and whole[1] in (saved or ()):
        return f"saved[{_quoted(whole[1])}]"
    lines = text.splitlines(keepends=True)
    if len(lines) < 2 or indent == 0:
        return _line(text, saved)
    return f"\n{' ' * indent}".join(_line(line, saved) for line in lines)


def _line(text: str, saved: frozenset[str] | None) -> str:
    if saved is None:
        return _quoted(text)
    parts = _SAVED.split(text)
    if saved.isdisjoint(parts[1::2]):
        return _quoted(text.replace("$${", "${"))
    made = [_escaped(part.replace("$${", "${")).replace("{", "{{").replace("}", "}}") for part in parts]
    for at, name in enumerate(parts):
        if at % 2:
            made[at] = f"{{saved['{name}']}}" if name in saved else f"${{{{{name}}}}}"
    return f'f"{"".join(made)}"'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Return the inside of a literal in double quotes; `repr` escapes whatever is not printable."""
    return repr(f'{text}"')[1:-2].replace("\\'", "'").replace('"', '\\"')


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")


def _unique(name: str, names: set[str]) -> str:
    found, number = name, 2
    while found in names:
        found, number = f"{name}_{number}", number + 1
    names.add(found)
    return found
