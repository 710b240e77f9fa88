"""`mcptui list --search`: finds tools, prompts, resources and what add-ons list, on all servers."""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.commands.call.one_server import NOT_STARTED, OK, REFUSED
from tui.commands.call.output import write_json
from tui.commands.call.request import KINDS, kinds
from tui.commands.headless import step_in_shell
from tui.core.addons import brought
from tui.core.context.tool_ranking import relevance
from tui.core.errors import McptuiError, UsageError, as_sentences, sentences
from tui.core.jsonrpc.extensions import PREFIX
from tui.core.matching import has_words, word_spans
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import cells_of, clean_line, mapping, padded, quoted_name, text_in
from tui.core.tools import Tool
from tui.core.units import plural
from tui.runtime.runtime import Runtime

MOST_LINES = 40
"""Maximum matches in a list for the shell; `--json` has all of them."""

NAME_CELLS, ABOUT_CHARS = 48, 160
BOLD, PLAIN = "\x1b[1m", "\x1b[22m"


@dataclass(frozen=True, slots=True)
class Offered:
    """Something that a server lists. `tool` has its texts and arguments in the form that is ranked."""

    kind: str
    tool: Tool

    @property
    def text(self) -> str:
        """Everything of it that is searched."""
        arguments = " ".join(map(str, mapping(self.tool.schema.get("properties"))))
        return f"{self.tool.name} {self.tool.title} {self.tool.description} {arguments}"


@dataclass(frozen=True, slots=True)
class Match:
    """Something that matches a search, with the score of the ranking."""

    offered: Offered
    score: float

    def line(self, typed: str, *, is_bold: bool) -> str:
        """Return the line for the shell: server, kind, name, and the first line of the description."""
        tool = self.offered.tool
        name = clean_line(tool.name, 200)
        about = clean_line((tool.description or tool.title).strip().partition("\n")[0], ABOUT_CHARS)
        head = f"{padded(clean_line(tool.server, 20), 12)}  {padded(self.offered.kind, 8)}  "
        said = f"{padded(name, NAME_CELLS) if cells_of(name) < NAME_CELLS else name}  {about}".rstrip()
        if extra := [one for one in self._arguments(typed) if not has_words(said, one)]:
            said += f"  (arguments: {', '.join(extra)})"
        return head + (_bold(said, typed) if is_bold else said)

    def _arguments(self, typed: str) -> Iterator[str]:
        names = [clean_line(str(name), 60) for name in mapping(self.offered.tool.schema.get("properties"))]
        return (name for name in names if any(has_words(name, word) for word in typed.split()))

    def as_object(self) -> dict[str, Any]:
        tool = self.offered.tool
        key = "uri" if self.offered.kind in ("resource", "template") else "name"
        found = {"server": tool.server, "kind": self.offered.kind, key: tool.name, "title": tool.title}
        return {**found, "description": tool.description, "score": round(self.score, 3)}


def _bold(text: str, typed: str) -> str:
    spans = sorted(word_spans(text, typed))
    parts, at = [], 0
    for start, end in spans:
        if start >= at:
            parts += [text[at:start], BOLD, text[start:end], PLAIN]
            at = end
    return "".join((*parts, text[at:]))


def ranked(offered: Sequence[Offered], typed: str) -> list[Match]:
    """Return what matches, the best first: by the ranking of tools, or because it contains all words."""
    scores = relevance(typed, [one.tool for one in offered])
    found = [
        Match(one, score)
        for one, score in zip(offered, scores, strict=True)
        if score or has_words(one.text, typed)
    ]
    return sorted(found, key=lambda one: (-has_words(one.offered.text, typed), -one.score))


async def search(args: argparse.Namespace, named: str | None, kind: str, runtime: Runtime) -> int:
    """Start the servers, search in what they list, and return the exit code."""
    if not (typed := args.search.strip()):
        raise UsageError("--search needs words to search for.")
    await runtime.ready(start=False, model=False, taps=False, session=False, record=False)
    runtime.require_usable()
    names, problems = _servers(named, runtime)
    if names:
        print(f"· starting {plural(len(names), 'server')}", file=sys.stderr, flush=True)
    needs_consent = [name for name in names if not runtime.consent.allows(runtime.host.status(name).spec)]
    await runtime.host.start_all(names)
    for name in needs_consent:
        runtime.consent.refuse(runtime.host.status(name).spec)
    statuses = [runtime.host.status(name) for name in names]
    running = [status for status in statuses if status.state is ServerState.RUNNING]
    problems |= {one.name: _why(one) for one in statuses if one.state is not ServerState.RUNNING}
    listed = await asyncio.gather(*(_offered(runtime, status.name, kind) for status in running))
    for status, (_, problem) in zip(running, listed, strict=True):
        problems |= {status.name: problem} if problem else {}
    found = ranked([one for offered, _ in listed for one in offered], typed)
    if args.json:
        failed = [{"server": name, "problem": why} for name, why in problems.items()]
        write_json({"matches": [one.as_object() for one in found], "failed": failed})
    else:
        _print(found, typed)
    for name, why in problems.items():
        print(f"mcptui: {clean_line(name, 60)}: {clean_line(why, 400)}", file=sys.stderr)
    if not found and not args.json:
        print(f"· nothing found in {plural(len(running), 'server')}", file=sys.stderr)
    return OK if found else NOT_STARTED if names and not running else REFUSED


def _servers(named: str | None, runtime: Runtime) -> tuple[list[str], dict[str, str]]:
    """Return the servers to start, and why others cannot be."""
    known = [status.name for status in runtime.host.statuses()]
    left_out = {name: as_sentences(why) for name, why in runtime.configuration.left_out.items()}
    if named is None or runtime.is_unconfigured:
        return known, left_out
    if named not in (*known, *left_out):
        raise UsageError(f"server {quoted_name(named, 80)} not found.")
    return [name for name in known if name == named], {k: why for k, why in left_out.items() if k == named}


def _why(status: ServerStatus) -> str:
    step = step_in_shell(status, f"To print its log: mcptui list {clean_line(status.name, 80)} --verbose")
    return sentences(status.detail or "it failed to start", step)


async def _offered(runtime: Runtime, name: str, only: str) -> tuple[list[Offered], str]:
    """Return what a server lists, of one kind or all, and a problem, or ""."""
    workbench, found, problems = runtime.workbench, list[Offered](), list[str]()
    capabilities = (await workbench.identity(name)).capabilities
    for kind in kinds():
        if only and kind != only:
            continue
        try:
            if kind == "tools":
                found += [Offered("tool", tool) for tool in workbench.tools(name)]
                problems.append(runtime.host.status(name).listing_problem)
            elif kind in KINDS and capabilities.get(kind) not in (None, False):
                offered, problem = await _listed(runtime, name, kind)
                found += offered
                problems.append(problem)
            elif kind not in KINDS and workbench.extension(name, f"{PREFIX}{kind}") is not None:
                items, _, problem = await brought("listing", kind)(runtime, name)
                found += [_of_addon(name, kind.removesuffix("s"), item) for item in items]
                problems.append(problem)
        except McptuiError as error:
            problems.append(str(error))
    return found, " ".join(filter(None, problems))


async def _listed(runtime: Runtime, name: str, kind: str) -> tuple[list[Offered], str]:
    if kind == "prompts":
        prompts, problem = await runtime.workbench.prompts(name)
        return [
            Offered("prompt", Tool(name, one.name, one.title, one.description, one.schema)) for one in prompts
        ], problem
    resources, problem = await runtime.workbench.resources(name)
    return [
        Offered(
            "template" if one.template else "resource",
            Tool(name, one.uri, f"{one.name} {one.title}".strip(), one.description),
        )
        for one in resources
    ], problem


def _of_addon(server: str, kind: str, item: Any) -> Offered:
    found: Mapping[str, Any] = mapping(item)
    name = text_in(found, "name") or text_in(found, "uri")
    return Offered(kind, Tool(server, name, text_in(found, "title"), text_in(found, "description")))


def _print(found: Sequence[Match], typed: str) -> None:
    is_bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for one in found[:MOST_LINES]:
        print(one.line(typed, is_bold=is_bold))
    if len(found) > MOST_LINES:
        print(f"· {len(found) - MOST_LINES} more. Search for more words, or use --json.", file=sys.stderr)
