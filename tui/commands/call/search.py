"""`mcptui list --search`: finds tools, prompts, resources and what add-ons list, on all servers."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

from tui.commands.call.one_server import NOT_STARTED, OK, REFUSED, OneServer, chosen
from tui.commands.call.output import write_json
from tui.commands.call.request import attached, kinds
from tui.commands.headless import starting, step_in_shell
from tui.commands.streams import colored, on_terminal, width, writing_to
from tui.commands.table import table
from tui.core.context.tool_ranking import relevance
from tui.core.errors import McptuiError, UsageError, as_sentences, sentences
from tui.core.matching import has_words, word_spans
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean_line, list_in, mapping, object_in, text_in
from tui.core.tools import Tool
from tui.core.units import plural
from tui.runtime.runtime import Runtime

MOST_LINES = 40
"""Maximum matches in a list for the shell; `--json` has all of them."""

Lister = Callable[[OneServer, Sequence[str]], Awaitable[int]]

ABOUT_CHARS = 160
_KINDS = {"resourceTemplates": "template"}
_ADDRESSED = ("resource", "template")
BOLD, PLAIN = "\x1b[1m", "\x1b[22m"


@dataclass(frozen=True, slots=True)
class Offered:
    """Something that a server lists. `tool` has its texts and arguments in the form that is ranked."""

    kind: str
    tool: Tool
    score: float = 0.0

    @property
    def _arguments(self) -> list[str]:
        return [str(name) for name in mapping(self.tool.schema.get("properties"))]

    @property
    def text(self) -> str:
        """Everything of it that is searched."""
        return " ".join((self.tool.name, self.tool.title, self.tool.description, *self._arguments))

    def row(self, typed: str) -> tuple[str, ...]:
        """Return the cells for the shell: server, kind, name, and the first line of the description."""
        tool, name = self.tool, clean_line(self.tool.name, 200)
        about = clean_line((tool.description or tool.title).strip().partition("\n")[0], ABOUT_CHARS)
        names = [clean_line(one, 60) for one in self._arguments]
        named = [one for one in names if any(has_words(one, word) for word in typed.split())]
        if extra := [one for one in named if not has_words(f"{name} {about}", one)]:
            about = f"{about} (arguments: {', '.join(extra)})".lstrip()
        return (clean_line(tool.server, 60), self.kind, name, about)

    def as_object(self) -> dict[str, Any]:
        tool = self.tool
        key = "uri" if self.kind in _ADDRESSED else "name"
        found = {"server": tool.server, "kind": self.kind, key: tool.name, "title": tool.title}
        return {**found, "description": tool.description, "score": round(self.score, 3)}


def emphasized(text: str, typed: str) -> str:
    """Return `text` with the words that are searched for in bold."""
    parts, at = [], 0
    for start, end in sorted(word_spans(text, typed)):
        if start >= at:
            parts += [text[at:start], BOLD, text[start:end], PLAIN]
            at = end
    return "".join((*parts, text[at:]))


def ranked(offered: Sequence[Offered], typed: str) -> list[Offered]:
    """Return what matches, the best first: by the ranking of tools, or because it contains all words."""
    scores = relevance(typed, [one.tool for one in offered])
    found = [
        (has_words(one.text, typed), replace(one, score=score))
        for one, score in zip(offered, scores, strict=True)
    ]
    found.sort(key=lambda one: (-one[0], -one[1].score))
    return [one for has_all, one in found if has_all or one.score]


async def search(
    args: argparse.Namespace, named: str | None, kind: str, runtime: Runtime, lister: Lister
) -> int:
    """Search in what servers list, those that are up or else started, and return the exit code.

    `lister` prints what a server that runs lists, of some kinds or all.
    """
    if not (typed := args.search.strip()):
        raise UsageError("--search needs words to search for.")
    await runtime.ready(start=False, model=False, taps=False, session=False, record=False)
    runtime.require_usable()
    if named in kinds() and runtime.host.find(named) is None:
        kind, named = named, None
    words = (kind,) if kind else ()
    listing = argparse.Namespace(**{**vars(args), "search": None, "json": True})
    if named is None:
        names = [status.name for status in runtime.host.statuses()]
        problems = {name: as_sentences(why) for name, why in runtime.configuration.left_out.items()}
    else:
        names, problems = [chosen(runtime, named, args.command)], {}
    listed: dict[str, tuple[str, str]] = {}
    for name in names:
        asked = named if runtime.is_unconfigured else name
        if (said := await asyncio.to_thread(_listed_where_up, listing, asked, words)) is not None:
            listed[name] = said
    others = [name for name in names if name not in listed]
    needs_consent = [name for name in others if not runtime.consent.allows(runtime.host.status(name).spec)]
    with starting(plural(len(others), "server")) if others else nullcontext():
        await runtime.host.start_all(others)
    for name in needs_consent:
        runtime.consent.refuse(runtime.host.status(name).spec)
    statuses = [runtime.host.status(name) for name in others]
    problems |= {one.name: _why(one) for one in statuses if one.state is not ServerState.RUNNING}
    running = [one.name for one in statuses if one.state is ServerState.RUNNING]
    ours = await asyncio.gather(
        *(_listed(OneServer(listing, None, runtime, name), words, lister) for name in running)
    )
    listed |= dict(zip(running, ours, strict=True))
    problems |= {name: problem for name, (_, problem) in listed.items() if problem}
    found = ranked([one for name, (text, _) in listed.items() for one in offered_in(name, text)], typed)
    if args.json:
        failed = [{"server": name, "problem": why} for name, why in problems.items()]
        write_json({"matches": [one.as_object() for one in found], "failed": failed})
    else:
        _print(found, typed)
    for name, why in problems.items():
        print(f"mcptui: {clean_line(name, 60)}: {clean_line(why, 400)}", file=sys.stderr)
    if not found and not args.json:
        print(f"· nothing found in {plural(len(listed), 'server')}", file=sys.stderr)
    return OK if found else NOT_STARTED if names and not listed else REFUSED


def _why(status: ServerStatus) -> str:
    step = step_in_shell(status, f"To print its log: mcptui list {clean_line(status.name, 80)} --verbose")
    return sentences(status.detail or "it failed to start", step)


async def _listed(one: OneServer, words: tuple[str, ...], lister: Lister) -> tuple[str, str]:
    """Return what `mcptui list --json` prints of a server that runs, and its problem, or ""."""
    try:
        with writing_to(out := StringIO(), err := StringIO()):
            await lister(one, words)
    except McptuiError as error:  # such as a server that exits meanwhile
        return "", str(error)
    return out.getvalue(), _problem(err.getvalue())


def _listed_where_up(
    args: argparse.Namespace, named: str | None, words: tuple[str, ...]
) -> tuple[str, str] | None:
    """Return the same of a server that is up in a running mcptui, after saying so; None if it is not up."""
    try:
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
            code = attached(args, named, words)
    except McptuiError:  # it ended meanwhile, or refuses commands
        return None
    said = err.getvalue()
    print("".join(line for line in said.splitlines(True) if " using " in line), end="", file=sys.stderr)
    return None if code is None else (out.getvalue(), _problem(said))


def _problem(said: str) -> str:
    mark = "mcptui: "
    return " ".join(line.removeprefix(mark) for line in said.splitlines() if line.startswith(mark))


def offered_in(server: str, text: str) -> Iterator[Offered]:
    """Yield what the JSON of `mcptui list` has."""
    for part, items in json.loads(text or "{}").items():
        kind = _KINDS.get(part, part.removesuffix("s"))
        for item in items:
            found = mapping(item)
            name = next((found[key] for key in ("uri", "uriTemplate", "name") if key in found), "")
            title = text_in(found, "title")
            if kind in _ADDRESSED:
                title = f"{text_in(found, 'name')} {title}".strip()
            arguments = [text_in(mapping(one), "name") for one in list_in(found, "arguments")]
            schema = object_in(found, "inputSchema") or {"properties": {key: {} for key in arguments}}
            yield Offered(kind, Tool(server, str(name), title, text_in(found, "description"), schema))


def _print(found: Sequence[Offered], typed: str) -> None:
    if not found:
        return
    head = ("server", "kind", "name", "description") if on_terminal() else ()
    text = table([one.row(typed) for one in found[:MOST_LINES]], range(4), width(), head=head)
    print(emphasized(text, typed) if colored() else text)
    if len(found) > MOST_LINES:
        print(f"· {len(found) - MOST_LINES} more. Search for more words, or use --json.", file=sys.stderr)
