"""What the cases of a run use of the definitions of their servers: tools, arguments, values, errors. Pure.

A case counts if its request was answered, whether it passed or not. Test files of equal servers count
together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tui.addons.tests.contract.listing import Kind, ServerListing
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State
from tui.addons.tests.suite.case import Case, Request, RequestKind
from tui.commands.streams import on_terminal, width
from tui.commands.table import table
from tui.core.jsonrpc.classification import is_tool_error
from tui.core.schemas.alternatives import SchemaTree, as_json
from tui.core.schemas.schemas import SchemaTooLarge, strings
from tui.core.text import clean_line, list_in, mapping, object_in, text_in

_HEAD = ("definitions", "covered")
MAX_ITEMS = 20_000
MAX_LINES = 500
MAX_VALUES = 100
"""Maximum values of one argument that are counted; those of a longer list are data, not choices."""


class ItemKind(StrEnum):
    """What can be covered; the value names it in the summary."""

    TOOL = "tools"
    REQUIRED = "required arguments"
    OPTIONAL = "optional arguments"
    VALUE = "values"
    ERROR = "errors"
    PROMPT = "prompts"
    PROMPT_ARGUMENT = "prompt arguments"
    RESOURCE = "resources"
    TEMPLATE = "resource templates"


@dataclass(frozen=True, slots=True)
class CoverageItem:
    """One thing that a case can use: `what` of `owner`, such as "units = kelvin" of a tool. Raw."""

    kind: ItemKind
    owner: str
    what: str = ""
    is_covered: bool = False

    def __str__(self) -> str:
        return clean_line(f"{self.owner}: {self.what}" if self.what else self.owner, 200)


@dataclass(frozen=True, slots=True)
class RunCoverage:
    """The coverage of a run."""

    items: Sequence[CoverageItem] = ()

    @property
    def percent(self) -> float:
        """Covered items in percent; 100 if there is nothing to cover."""
        return 100 * sum(one.is_covered for one in self.items) / len(self.items) if self.items else 100.0

    @property
    def missing(self) -> Sequence[CoverageItem]:
        return [one for one in self.items if not one.is_covered]

    def lines(self) -> Sequence[str]:
        """Return a table by kind, and what is not covered, as clean lines."""
        if not self.items:
            return ["coverage: no definitions to cover"]
        rows = []
        for kind in ItemKind:
            mine = [one for one in self.items if one.kind is kind]
            if mine:
                rows.append((str(kind), f"{sum(one.is_covered for one in mine)} of {len(mine)}"))
        covered = len(self.items) - len(self.missing)
        rows.append(("total", f"{covered} of {len(self.items)} ({self.percent:.0f} %)"))
        return [
            "coverage",
            *table(rows, (0,), width(), head=_HEAD if on_terminal() else (), indent="  ").split("\n"),
            *self.missing_lines(),
        ]

    def missing_lines(self) -> Sequence[str]:
        """Return what is not covered, as clean lines."""
        missing = self.missing
        if not missing:
            return []
        shown = [f"  {_words(one)}" for one in missing[:MAX_LINES]]
        more = [f"  and {len(missing) - MAX_LINES} more"] if len(missing) > MAX_LINES else []
        return ["not covered", *shown, *more]

    def as_json(self) -> Mapping[str, Any]:
        """Return the coverage as a JSON object, for reports."""
        kinds = {str(kind): [one for one in self.items if one.kind is kind] for kind in ItemKind}
        return {
            "percent": round(self.percent, 1),
            "kinds": {
                name: {"covered": sum(one.is_covered for one in mine), "total": len(mine)}
                for name, mine in kinds.items()
                if mine
            },
            "missing": [_words(one) for one in self.missing[:MAX_LINES]],
        }


def _words(one: CoverageItem) -> str:
    match one.kind:
        case ItemKind.VALUE | ItemKind.ERROR:
            return str(one)
        case ItemKind.PROMPT_ARGUMENT:
            return f"prompt {one}"
        case ItemKind.REQUIRED | ItemKind.OPTIONAL:
            return f"{one} ({str(one.kind).removesuffix('s')})"
        case _:
            return f"{str(one.kind).removesuffix('s')} {one}"


def coverage(run: RunOutcome, listings: Mapping[Path, ServerListing]) -> RunCoverage:
    """Return the coverage of a run; `listings` are what each suite's server lists, by its path."""
    groups: dict[str, tuple[ServerListing, _Used]] = {}
    for suite in run.suites:
        listing = listings.get(suite.path)
        if listing is None:
            continue
        key = as_json({kind: listing.entries(kind) for kind in Kind})
        _, used = groups.setdefault(key, (listing, _Used()))
        for outcome in suite.outcomes:
            used.see(outcome)
    items = [one for listing, used in groups.values() for one in _items(listing, used)]
    return RunCoverage(items[:MAX_ITEMS])


@dataclass(slots=True)
class _Used:
    """What the requests of cases used."""

    names: set[tuple[RequestKind, str]] = field(default_factory=set)
    arguments: set[tuple[RequestKind, str, str]] = field(default_factory=set)
    values: set[tuple[str, str, str]] = field(default_factory=set)
    errors: set[str] = field(default_factory=set)

    def see(self, outcome: Outcome) -> None:
        case = outcome.case
        if not isinstance(case, Case) or outcome.state not in (State.PASSED, State.FAILED):
            return
        is_good = outcome.state is State.PASSED
        if not is_good and outcome.got is None:
            return
        self._request(case.request)
        got = mapping(outcome.got)
        is_error = is_tool_error(got) or (case.expected.error and is_good)
        if is_error and case.request.kind is RequestKind.TOOL:
            self.errors.add(case.request.name)
        for one, reply in zip_longest(case.then, outcome.then_got[: len(case.then)]):
            if not is_good and reply is None:
                break
            self._request(one.request)
            if one.expected.error and is_good:
                self.errors.add(one.request.name)

    def _request(self, request: Request) -> None:
        self.names.add((request.kind, request.name))
        for name, value in request.arguments.items():
            self.arguments.add((request.kind, request.name, name))
            for one in value if isinstance(value, list) else (value,):
                self.values.add((request.name, name, as_json(one)))


def _items(listing: ServerListing, used: _Used) -> Iterator[CoverageItem]:
    for name, tool in listing.entries(Kind.TOOL).items():
        yield CoverageItem(ItemKind.TOOL, name, "", (RequestKind.TOOL, name) in used.names)
        arguments = _arguments(mapping(tool.get("inputSchema")))
        for one, (is_required, values) in arguments.items():
            kind = ItemKind.REQUIRED if is_required else ItemKind.OPTIONAL
            yield CoverageItem(kind, name, one, (RequestKind.TOOL, name, one) in used.arguments)
            for value in values:
                is_used = (name, one, value) in used.values
                yield CoverageItem(ItemKind.VALUE, name, f"{one} = {value}", is_used)
        if arguments:  # others cannot be made to fail
            yield CoverageItem(ItemKind.ERROR, name, "an error", name in used.errors)
    for name, prompt in listing.entries(Kind.PROMPT).items():
        yield CoverageItem(ItemKind.PROMPT, name, "", (RequestKind.PROMPT, name) in used.names)
        for argument in map(mapping, list_in(prompt, "arguments")):
            what = text_in(argument, "name")
            key = (RequestKind.PROMPT, name, what)
            yield CoverageItem(ItemKind.PROMPT_ARGUMENT, name, what, key in used.arguments)
    read = [name for kind, name in used.names if kind is RequestKind.READ]
    for uri in listing.entries(Kind.RESOURCE):
        yield CoverageItem(ItemKind.RESOURCE, uri, "", uri in read)
    for template in listing.entries(Kind.TEMPLATE):
        is_used = any(matches(template, uri) for uri in read)
        yield CoverageItem(ItemKind.TEMPLATE, template, "", is_used)


def _arguments(schema: Mapping[str, Any]) -> Mapping[str, tuple[bool, tuple[str, ...]]]:
    """Return by name whether each argument is required, and the values that its schema lists, as JSON."""
    tree = SchemaTree(schema, ())
    found: dict[str, tuple[bool, tuple[str, ...]]] = {}
    try:
        root = tree.node(schema, ())
        for alternative in tree.alternatives(root) if root is not None else ():
            required = strings(alternative.node.schema.get("required"))
            for name, inner in object_in(alternative.node.schema, "properties").items():
                was_required, values = found.get(name) or (True, _values(tree, inner))
                found[name] = (was_required and name in required, values)
    except (SchemaTooLarge, RecursionError):
        return {}
    return found


def _values(tree: SchemaTree, raw: Any, depth: int = 2) -> tuple[str, ...]:
    """Return the values that a schema lists, or those of its items."""
    node = tree.node(raw, ())
    if node is None or not depth:
        return ()
    found: list[str] = []
    for one in tree.alternatives(node):
        if one.values is not None:
            found += sorted(one.values)
        elif one.kind == "array":
            found += _values(tree, one.node.schema.get("items"), depth - 1)
    return tuple(dict.fromkeys(found)) if len(found) <= MAX_VALUES else ()


_VARIABLE = re.compile(r"\{[^{}]*\}")


def matches(template: str, uri: str) -> bool:
    """Return whether a URI may be made of a URI template (RFC 6570): its literal parts come in order."""
    first, *parts = _VARIABLE.split(template)
    if not parts:
        return template == uri
    last = parts.pop()
    if not (uri.startswith(first) and uri.endswith(last)) or len(uri) < len(first) + len(last):
        return False
    at, end = len(first), len(uri) - len(last)
    for part in parts:
        at = uri.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
