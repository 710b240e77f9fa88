"""Suggestions: commands, their arguments, files, and the offers of running servers."""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.core import units
from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _
from tui.core.matching import nearest
from tui.core.ports import EFFORTS
from tui.core.servers import ServerState
from tui.core.text import clean_line, fold
from tui.ui.chat.composer.pastes import Reference
from tui.ui.keys.command_spec import CommandKind, CommandSpec
from tui.ui.keys.slash_commands import (
    OWN,
    of_prompts,
    of_snippets,
    pair,
    parse_arguments,
)
from tui.ui.lists.unverified import UNVERIFIED, is_unverified

if TYPE_CHECKING:  # not needed for the first frame
    from tui.core.context.skill_tools import SkillInfo
    from tui.core.servers import ServerStatus
    from tui.core.workbench import ResourceInfo
    from tui.runtime.runtime import Runtime

_log = logging.getLogger(__name__)
MOST_SHOWN = 200
MOST_ENTRIES = 4_000
"""Maximum names to read for one list."""

MOST_DEEP = 5
"""Levels below the working directory that are searched for a file name."""

SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build"})
"""Directories of generated files, which are searched only if the path names them."""

EXPORTS = (
    ("markdown", N_("for reading")),
    ("json", N_("can be imported again")),
    ("html", N_("one page, for sharing")),
)
STALE_SECONDS = 30.0
"""Lists that are older are requested again when the menu is opened, unless the server announces changes."""

BOUND_SECONDS = 600.0
"""The same for lists whose changes the server announces: it may not do so, or not reach us."""

TREE_SECONDS = 10.0
"""Files below the working directory are listed again after this time."""

DEBOUNCE_SECONDS = 0.15
"""Values are requested after a pause in typing of this length."""

LISTING_SECONDS = 5.0
"""A slower server is omitted from suggestions until it has responded."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion.

    Attributes:
        usage: its arguments, or "".
        text: what replaces the typed word.
        runs: whether enter sends it at once, because it needs no argument.
        reference: the attachment to insert instead of `text`, or None.
    """

    name: str
    usage: str = ""
    about: str = ""
    text: str = ""
    runs: bool = False
    reference: Reference | None = None


def of_commands(specs: Iterable[CommandSpec]) -> list[Suggestion]:
    """Return commands as suggestions."""
    return [
        Suggestion(
            f"/{spec.name}",
            _(spec.usage) if spec.kind is CommandKind.OWN else spec.usage,
            _(spec.help) if spec.kind is CommandKind.OWN else spec.help,
            f"/{spec.name}{' ' * spec.takes_text}",
            not spec.takes_text,
        )
        for spec in specs
    ]


def of_words(words: Iterable[tuple[str, str]], *, behind: str = " ") -> list[Suggestion]:
    """Return words with their descriptions as suggestions; `behind` is inserted after an accepted word."""
    return [
        Suggestion(clean_line(word, 100), about=clean_line(about, 100), text=word + behind)
        for word, about in words
    ]


def fitting(found: Iterable[Suggestion], query: str) -> list[Suggestion]:
    """Return the suggestions whose names the query may complete to, the nearest first."""
    slash = "" if query.startswith("/") else "/"
    return nearest(found, query, lambda one: one.name.removeprefix(slash))[:MOST_SHOWN]


def files(query: str, folder: Path) -> list[Suggestion]:
    """Return the files and directories that complete a path, best first.

    The path is relative to `folder`, absolute, or starts with `~/`.
    """
    head, slash, tail = query.rpartition("/")
    head += slash
    base = Path(os.path.expanduser(head)) if head else folder
    base = base if base.is_absolute() else folder / base
    return fitting(_entries(base, head, hidden=tail.startswith(".")), query)


def tree(folder: Path) -> list[Suggestion]:
    """Return the files anywhere below a directory, nearest first, without hidden and generated ones."""
    seen = 0
    found: list[Suggestion] = []
    level = [""]
    for _level in range(MOST_DEEP):
        below: list[str] = []
        for written in level:
            for one in _entries(folder / written, written, hidden=False):
                seen += 1
                if seen > MOST_ENTRIES:
                    return found
                if one.reference is not None:
                    found.append(one)
                elif one.text[1:-1].rpartition("/")[2] not in SKIPPED:
                    below.append(one.text[1:])
        level = below
    return found


def _entries(base: Path, written: str, *, hidden: bool) -> Iterator[Suggestion]:
    """Yield the entries of a directory by name, directories first."""
    found: list[tuple[bool, str, int]] = []
    try:
        with os.scandir(base) as entries:
            for entry in entries:
                if entry.name.startswith(".") is not hidden:
                    continue
                is_file, size = True, 0
                with contextlib.suppress(OSError):  # a broken link; reading it will fail
                    is_file = not entry.is_dir()
                    size = entry.stat().st_size if is_file else 0
                found.append((is_file, entry.name, size))
                if len(found) >= MOST_ENTRIES:
                    break
    except (OSError, ValueError):
        return  # not found, not a directory, or not readable: nothing to suggest
    for is_file, name, size in sorted(found, key=lambda one: (one[0], one[1].casefold())):
        path = written + name
        shown = clean_line(path, 300)
        if is_file:
            yield Suggestion(shown, about=units.size(size), reference=Reference.to_file(path))
        else:
            yield Suggestion(f"{shown}/", about=_("directory"), text=f"@{path}/")


@dataclass(slots=True)
class _Listing:
    """A list of a server, in which state of the server and of the list it was requested, and when."""

    state: tuple[int, int]
    at: float
    found: Sequence[Any] = ()
    is_complete: bool = False


class LiveSources:
    """Collects all suggestions; `runtime` is set once it is ready. Calls `learned` after new commands."""

    def __init__(self, folder: Path, learned: Callable[[], None]) -> None:
        self.runtime: Runtime | None = None
        self.folder = folder
        self._learned = learned
        self._listings: dict[tuple[str, str], _Listing] = {}  # by server and kind
        self._is_opened = False
        self._tree: asyncio.Task[list[Suggestion]] | None = None
        self._tree_at = 0.0
        self._asking: asyncio.Task[None] | None = None

    def specs(self) -> Sequence[CommandSpec]:
        """Return all known commands: our own, the snippets, and the prompts listed so far."""
        if self.runtime is None:
            return OWN
        self._relist()
        prompts = {spec.name: spec for listed in self._listed("prompts") for spec in of_prompts(listed)}
        return (*OWN, *of_snippets(self.runtime.snippets), *prompts.values())

    @property
    def is_listing(self) -> bool:
        """Whether servers are being asked for their prompts and resources."""
        return self._asking is not None

    async def known(self) -> Sequence[CommandSpec]:
        """Return `specs` once every running server has listed its prompts or timed out."""
        self.specs()
        if self._asking is not None:
            await asyncio.wait({self._asking})
        return self.specs()

    @property
    def running(self) -> list[str]:
        if self.runtime is None:
            return []
        return [one.name for one in self.runtime.host.statuses() if one.state is ServerState.RUNNING]

    async def resources(self) -> "list[ResourceInfo]":
        """Return all resources, followed by the templates."""
        await self.known()
        return sorted(chain(*self._listed("resources")), key=lambda one: one.template)

    def _listed(self, kind: str) -> Iterator[Sequence[Any]]:
        return (listing.found for (_, listed), listing in self._listings.items() if listed == kind)

    def names_file(self, path: str) -> bool:
        try:
            return bool(path) and (self.folder / os.path.expanduser(path)).is_file()
        except (OSError, ValueError, RuntimeError):
            return False

    def opened(self) -> None:
        """Note that the user begins a word: what is outdated by its age may be listed again, once."""
        self._is_opened = True

    def _relist(self) -> None:
        """List what is new, has changed, or is outdated; the rest is kept."""
        if self.runtime is None or self._asking is not None:
            return
        running = [one for one in self.runtime.host.statuses() if one.state is ServerState.RUNNING]
        places = {(one.name, kind): one for one in running for kind in ("prompts", "resources")}
        self._listings = {place: one for place, one in self._listings.items() if place in places}
        wanted = [place for place, status in places.items() if self._take(status, place)]
        self._is_opened = False
        if not wanted:
            return

        async def list_all() -> None:
            async with asyncio.TaskGroup() as group:
                for place in wanted:
                    group.create_task(self._list(place))

        def ended(task: asyncio.Task[None]) -> None:
            self._asking = None
            if task.cancelled():
                return
            if (error := task.exception()) is not None:
                _log.error("cannot list prompts and resources", exc_info=error)
            self._learned()

        self._asking = asyncio.create_task(list_all(), name="list prompts and resources")
        self._asking.add_done_callback(ended)

    def _take(self, status: "ServerStatus", place: tuple[str, str]) -> bool:
        """Whether to request a list now; if so, note that it is."""
        revision = status.prompts_revision if place[1] == "prompts" else status.resources_revision
        known, state, now = self._listings.get(place), (status.since_ns, revision), time.monotonic()
        if known is not None and known.state == state:
            is_announced = known.is_complete and place[1] in status.announces
            kept = BOUND_SECONDS if is_announced else STALE_SECONDS
            if not self._is_opened or now - known.at < kept:
                return False
        self._listings[place] = _Listing(state, now, known.found if known is not None else ())
        return True

    async def _list(self, place: tuple[str, str]) -> None:
        assert self.runtime is not None
        bench, listing, (name, kind) = self.runtime.workbench, self._listings[place], place
        request = bench.prompts(name) if kind == "prompts" else bench.resources(name)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LISTING_SECONDS):
                found, problem = await request
                if found or not problem:  # a failed listing removes nothing
                    listing.found = found
                listing.is_complete = not problem

    async def close(self) -> None:
        for task in filter(None, (self._asking, self._tree)):
            task.cancel()
            await asyncio.wait({task})

    async def arguments(self, command: str, before: str, query: str) -> Sequence[Suggestion]:
        """Return suggestions for what follows a command and the words `before`.

        Values for the arguments of a prompt come from its server.
        """
        spec = next((one for one in await self.known() if one.name == command), None)
        if spec is None:
            return ()
        if spec.kind is CommandKind.OWN:
            if not spec.suggests:
                return ()
            suggest: Callable[[str, str], Awaitable[Sequence[Suggestion]]] = getattr(self, spec.suggests)
            return await suggest(before, query)
        return await self._arguments(spec, before, query)

    async def _arguments(self, spec: CommandSpec, before: str, query: str) -> Sequence[Suggestion]:
        """Return values of the current argument, or else the names of arguments that are not typed yet."""
        typed = parse_arguments(before, spec.names).values
        return await self._values(spec, before, query) or [
            Suggestion(f"{name}=", about="" if name in spec.required else _("optional"), text=f"{name}=")
            for name in spec.names
            if name not in typed
        ]

    async def _values(self, spec: CommandSpec, before: str, query: str) -> Sequence[Suggestion]:
        """Return the values that a prompt's server suggests for the current argument."""
        name, equals, typed = query.partition("=")
        listed = chain(*self._listed("prompts"))
        prompt = next((one for one in listed if (one.server, one.name) == (spec.server, spec.target)), None)
        if not equals or name not in spec.names or prompt is None or self.runtime is None:
            return ()
        await asyncio.sleep(DEBOUNCE_SECONDS)  # the next letter cancels this
        others = dict(parse_arguments(before, spec.names).values)
        found = await self.runtime.workbench.complete(prompt, name, typed.lstrip("\"'"), others)
        return [
            Suggestion(f"{name}={clean_line(value, 100)}", text=f"{pair(name, value)} ")
            for value in found.values
        ]

    def tools(self, query: str) -> Sequence[Suggestion]:
        """Return the tools whose names start with `query`, except a tool that is already typed completely."""
        bench, query = self.runtime.workbench if self.runtime is not None else None, fold(query)
        found = [one for server in self.running for one in bench.tools(server)] if bench is not None else []
        return [
            Suggestion(
                clean_line(one.name, 100),
                about=clean_line(f"{one.server}: {one.title or one.description}", 100),
                text=f"{one.name} ",
            )
            for one in sorted(found, key=lambda one: one.name)
            if fold(one.name).startswith(query) and fold(one.name) != query
        ][:MOST_SHOWN]

    async def references(self, query: str) -> Sequence[Suggestion]:
        """Return the files and resources that `@query` may mean, as far as known now."""
        self._relist()  # not awaited: the list is updated later
        found = await asyncio.to_thread(files, query, self.folder)
        skills = {(one.server, one.uri): one for one in self._skills()}
        offered = [
            Suggestion(reference.name, about=_("skill: {about}", about=one.description), reference=reference)
            for place, one in skills.items()
            for reference in [Reference.to_resource(*place, is_skill=True)]
        ]
        offered += [
            Suggestion(reference.name, about=self._about(one), reference=reference)
            for one in chain(*self._listed("resources"))
            if not one.template and (one.server, one.uri) not in skills
            for reference in [Reference.to_resource(one.server, one.uri)]
        ]
        return fitting([*found, *offered], query)

    def _skills(self) -> "Sequence[SkillInfo]":
        """Return the skills that running servers have listed so far."""
        loader = self.runtime.skill_loader if self.runtime is not None else None
        return loader.skills() if loader is not None else ()

    def _about(self, one: "ResourceInfo") -> str:
        assert self.runtime is not None
        about = one.title or one.name
        return f"{UNVERIFIED}: {about}" if is_unverified(self.runtime.workbench, one) else about

    async def deeper(self, query: str) -> Sequence[Suggestion]:
        """Return the files anywhere below the working directory whose names have the words of `query`."""
        if not query or "/" in query or query.startswith("."):
            return ()
        now = time.monotonic()
        if self._tree is None or now - self._tree_at > TREE_SECONDS:
            self._tree, self._tree_at = asyncio.create_task(asyncio.to_thread(tree, self.folder)), now
        found = await asyncio.shield(self._tree)
        return nearest(found, query, lambda one: one.name.rpartition("/")[2], abbreviated=False)[:MOST_SHOWN]

    async def models(self, before: str, _query: str) -> Sequence[Suggestion]:
        if self.runtime is None:
            return ()
        conversations = self.runtime.conversations
        try:
            if before.endswith("effort"):
                return of_words(((level, "") for level in (*EFFORTS, "default")), behind="")
            if before:
                ids = await conversations.active_model.offered(before) if " " not in before else ()
                return of_words(((one, "") for one in ids), behind="")
            choices = await conversations.active_model.choices()
        except McptuiError:
            return ()  # accepting the suggestion shows the error
        found = of_words((one.name, one.problem or f"{one.model}, {one.where}") for one in choices)
        return [*found, *of_words([("effort", _("Set the reasoning effort"))])]

    async def servers(self, before: str, _query: str) -> Sequence[Suggestion]:
        return of_words(((name, "") for name in self.running), behind="") if not before else ()

    async def remote_servers(self, before: str, _query: str) -> Sequence[Suggestion]:
        statuses = self.runtime.host.statuses() if self.runtime is not None and not before else ()
        return of_words(((one.name, one.sign_in) for one in statuses if one.spec.url), behind="")

    async def skill_names(self, before: str, _query: str) -> Sequence[Suggestion]:
        loader = self.runtime.skill_loader if self.runtime is not None and not before else None
        if loader is None:
            return ()
        await loader.list_now()
        names = [(f"{one.server}/{one.name}", one.description) for one in loader.skills()]
        return of_words([*names, ("off", _("Turn off the loaded skills"))], behind="")

    async def exports(self, before: str, _query: str) -> Sequence[Suggestion]:
        return of_words((kind, _(about)) for kind, about in EXPORTS) if not before else ()

    async def prompt_names(self, before: str, query: str) -> Sequence[Suggestion]:
        specs = {one.name: one for one in await self.known() if one.kind is CommandKind.PROMPT}
        if not before:
            return of_words((one.name, one.help) for one in specs.values())
        name, _, written = before.partition(" ")
        return await self._arguments(specs[name], written, query) if name in specs else ()

    async def resource_uris(self, before: str, _query: str) -> Sequence[Suggestion]:
        found = await self.resources() if not before else ()
        about = {
            f"{one.server}:{one.uri}": _("template: {name}", name=name) if one.template else name
            for one in found
            for name in [one.title or one.name]
        }
        return of_words(about.items(), behind="")
