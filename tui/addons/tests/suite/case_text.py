"""Cases, turn cases and servers as the TOML of a suite, in the order in which a person reads them. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tui.addons.tests.suite.case import UNSET, Case, Expectation, Request, RequestKind, SuiteServer, TurnCase
from tui.addons.tests.suite.durations import duration_text
from tui.addons.tests.suite.toml_text import (
    LINE,
    inline,
    is_toml,
    json_literal,
    key_text,
    listed,
    text_literal,
)
from tui.core.text import clean_line

SCHEMA_FILE = "mcp-toml.schema.json"
SCHEMA_LINE = f"#:schema ./{SCHEMA_FILE}"
"""The first line of a new suite beside the schema: editors then know its keys."""


MAX_NAME = 200


def case_toml(case: Case) -> str:
    """Return a case as a `[[call]]` table."""
    return _table("call", _members(case))


def turn_toml(turn: TurnCase) -> str:
    """Return a turn case as a `[[turn]]` table."""
    members: dict[str, Any] = {
        "question": turn.question,
        "name": turn.name,
        "calls": turn.calls,
        "never": turn.never,
        "answer": turn.answer,
        "max_steps": turn.max_steps,
        "cost": turn.cost,
        "runs": turn.runs if turn.runs != 1 else None,
        "pass": turn.passing if turn.passing != 1 else None,
        "models": turn.models,
        "tags": turn.tags,
        "skip": turn.skip,
    }
    set_ones = {key: value for key, value in members.items() if value not in (None, "", ())}
    return _table("turn", ((key, value_text(key, value)) for key, value in set_ones.items()))


def server_toml(server: SuiteServer) -> str:
    """Return the server as a `[server]` table, or as a line for a configured one."""
    if server.name:
        return f"server = {inline(server.name)}\n"
    members: dict[str, Any] = {
        "command": list(server.command),
        "url": server.url,
        "env": dict(server.env),
        "headers": dict(server.headers),
        "cwd": server.cwd,
        "transport": server.transport,
        "timeout": "" if server.timeout_ms is None else duration_text(server.timeout_ms),
        "era": server.era,
    }
    lines = (f"{key} = {value_text(key, value)}\n" for key, value in members.items() if value)
    return f"[server]\n{''.join(lines)}"


def _table(name: str, members: Iterator[tuple[str, str]]) -> str:
    return f"[[{name}]]\n" + "".join(f"{key} = {text}\n" for key, text in members)


def _members(case: Case, *, inside: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the keys of a case and their values as TOML; `inside` of a `then`, in one line."""
    request = case.request
    if case.name and not (inside and case.name == default_name(request)):
        yield "name", text_literal(case.name, multi_line=False)
    yield request.kind, text_literal(request.name, multi_line=False)
    if request.arguments:
        yield "args", value_text("args", dict(request.arguments), inside=inside)
    for key, value in expectation_values(case.expected).items():
        yield key, value_text(key, value, inside=inside)
    if case.lose is not None:
        yield "lose", inline(str(case.lose))
    if case.save:
        yield "save", inline(case.save)
    if case.then:
        items = [
            f"{{ {', '.join(f'{k} = {v}' for k, v in _members(one, inside=True))} }}" for one in case.then
        ]
        yield "then", listed(items, LINE)
    if case.answers:
        yield "answers", inline(case.answers)
    if case.timeout_ms is not None:
        yield "timeout", inline(duration_text(case.timeout_ms))
    if case.fresh:
        yield "fresh", "true"
    if case.tags:
        yield "tags", inline(case.tags)
    if case.skip:
        yield "skip", text_literal(case.skip, multi_line=False)


def expectation_values(expected: Expectation) -> dict[str, Any]:
    """Return the keys of an expectation that are set, with their values as in the file."""
    values: dict[str, Any] = {}
    if expected.text is not None:
        values["text"] = expected.text
    if expected.result is not UNSET:
        values["result"] = expected.result
    if expected.content is not None:
        values["content"] = [dict(item) for item in expected.content]
    if expected.error:
        values["error"] = True
    if expected.within_ms is not None:
        values["within"] = duration_text(expected.within_ms)
    if expected.findings:
        values["findings"] = list(expected.findings)
    return values


def value_text(key: str, value: Any, *, inside: bool = False) -> str:
    """Return the value of a key as TOML; `inside` of a table in one line, without line breaks."""
    if key == "result":
        return json_literal(value, multi_line=not inside)
    if key == "args" and isinstance(value, Mapping):
        flat = inline(value) if is_toml(value) else ""
        is_short = flat and (inside or len(flat) + len("args = ") <= LINE)
        return flat if is_short else json_literal(value, multi_line=not inside)
    if isinstance(value, str):
        return text_literal(value, multi_line=key == "text" and not inside)
    if isinstance(value, list | tuple) and not inside:
        return listed(list(map(inline, value)), LINE - len(key_text(key)) - 3)
    return inline(value)


def default_name(request: Request) -> str:
    """Return the name of a case that has none: its request in one line."""
    arguments = " ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)}"
        for name, value in request.arguments.items()
    )
    verb = "" if request.kind is RequestKind.TOOL else f"{request.kind} "
    return clean_line(f"{verb}{request.name} {arguments}".strip(), MAX_NAME)


KEY_ORDER = (
    "name",
    *RequestKind,
    "args",
    "text",
    "result",
    "content",
    "error",
    "within",
    "findings",
    "lose",
    "save",
    "then",
    "answers",
    "timeout",
    "fresh",
    "tags",
    "skip",
)
"""The order of the keys of a case."""
