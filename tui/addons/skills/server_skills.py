"""The skills of running servers: listing them, loading one, and reading its files.

Nothing is read before it is needed, and nothing is kept but entries. Each answer is compared with the entry
before anything else sees it, and one that differs is dropped: no exception, log or cache holds any of it.
(The recorded traffic does, as it holds all messages.)
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tui.addons.skills.entry import MAX_BYTES, SkillEntry, SkillFile, entry_of
from tui.addons.skills.problem import SkillProblem, Why
from tui.addons.skills.uris import MAX_URI, SKILL_FILE, resolved, uri_fault, uri_of
from tui.addons.skills.verify import SkillContent, mismatch, received, skill_text
from tui.core.hidden_text.scan import is_doubtful, scan
from tui.core.jsonrpc.extensions import SKILLS
from tui.core.jsonrpc.protocol import INVALID_PARAMS
from tui.core.servers import ServerState
from tui.core.text import clean_line, mapping, quoted_name, text_in
from tui.core.time_limits import CallTimeout
from tui.core.workbench import CacheHint, RawAnswer, ResourceInfo
from tui.host import error_sentences as explain
from tui.host.catalog import walk_pages
from tui.host.host import Host

LIST_SECONDS = 30.0
MAX_TTL_SECONDS = 3_600.0
"""A listing is asked for again after this time at the latest, whatever its server says."""

MAX_LISTED_FILES = 100_000
"""Files in the manifests of one listing."""

MAX_LISTED_CHARS = 32 * 1024 * 1024
"""Characters of front matter and of URIs that are kept of one listing."""

MAX_PROBLEMS = 100

AGAIN = "Load it again to get its current manifest."


@dataclass(frozen=True)
class SkillListing:
    """The skills that a server lists. An empty or partial list does not mean that it serves no others.

    `problems` are sentences about entries that were omitted, and about pages. `doubtful` are the URIs of
    skills whose description has text that may not be seen.
    """

    server: str
    entries: tuple[SkillEntry, ...]
    problems: tuple[str, ...]
    hint: CacheHint
    doubtful: frozenset[str] = frozenset()

    def named(self, word: str) -> Sequence[SkillEntry]:
        """Return the skills with this name, path or URI: names are not unique."""
        return self._by_word.get(word, ())

    def label(self, entry: SkillEntry) -> str:
        """Return the name of a skill, or its path if others have its name."""
        return entry.name if len(self.named(entry.name)) == 1 else entry.path

    @cached_property
    def _by_word(self) -> Mapping[str, Sequence[SkillEntry]]:
        found: dict[str, list[SkillEntry]] = {}
        for one in self.entries:
            for word in {one.name, one.path, one.uri}:
                found.setdefault(word, []).append(one)
        return found


@dataclass(eq=False, slots=True)
class HeldSkill:
    """A loaded skill: the entry that its files are compared with, and the text of its SKILL.md.

    The text is what the server sent: redact it before a model gets it, clean it before it is shown.
    `received` counts the bytes of a dynamic skill.
    """

    entry: SkillEntry
    text: str = field(repr=False)
    received: int = 0


class _Taken:
    """The entries of a listing so far, and why others were omitted."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._files = self._chars = 0
        self.entries: dict[str, SkillEntry] = {}
        self.problems: list[str] = []

    def take(self, listed: Sequence[Any]) -> list[str]:
        """Take the raw entries of a page; return their URIs, by which two pages are told apart."""
        self.problems += filter(None, map(self._fault, listed))
        return [text_in(mapping(raw), "uri")[:MAX_URI] for raw in listed]

    def _fault(self, raw: Any) -> str:
        """Take an entry, or return why it is omitted."""
        try:
            entry = entry_of(self._server, raw)
        except ValueError as fault:
            return str(fault)
        shown = clean_line(entry.uri, 200)
        if entry.uri in self.entries:
            return f"The entry {shown} was omitted: it is listed twice."
        self._files += len(entry.files or ())
        self._chars += len(json.dumps(entry.frontmatter)) + sum(len(one.uri) for one in entry.files or ())
        if self._chars > MAX_LISTED_CHARS:
            return f"The entry {shown} was omitted: the list is longer than {MAX_LISTED_CHARS:,} characters."
        if self._files > MAX_LISTED_FILES:
            return f"The entry {shown} was omitted: the manifests have more than {MAX_LISTED_FILES:,} files."
        self.entries[entry.uri] = entry
        return ""


class ServerSkills:
    """The skills of the servers of a host, as far as they declare the extension.

    `timeout` returns how long a request may take. `call` is the id of the calls of `HandWorkbench`: "" if a
    turn is the cause. Cancelling an asyncio task cancels its request. Raises `SkillProblem` only. `seen` gets
    every entry, since another manifest revokes an approval.
    """

    def __init__(
        self,
        host: Host,
        timeout: Callable[[], CallTimeout],
        seen: Callable[[SkillEntry], object] = lambda entry: None,
    ) -> None:
        self._host = host
        self.timeout = timeout
        self._seen = seen
        self._listings: dict[str, tuple[Mapping[str, Any], SkillListing]] = {}

    def servers(self) -> list[str]:
        """Return the running servers that serve skills."""
        names = [one.name for one in self._host.statuses() if one.state is ServerState.RUNNING]
        return [name for name in names if self.settings(name) is not None]

    def settings(self, server: str) -> Mapping[str, Any] | None:
        """Return what a running server declares for the extension, None if it does not."""
        return self._host.workbench.extension(server, SKILLS)

    async def listing(self, server: str, *, call: str = "", again: bool = False) -> SkillListing:
        """List the skills of a server, or return the list that is still fresh, unless `again`."""
        if self.settings(server) is None:
            self._listings.pop(server, None)
        settings = self._declared(server)
        known = self._listings.get(server)
        if known is not None and known[0] is settings and not again and _is_fresh(known[1].hint):
            return known[1]
        asked, deadline = time.monotonic_ns(), time.monotonic() + LIST_SECONDS
        taken = _Taken(server)

        async def fetch(cursor: str | None) -> Mapping[str, Any]:
            left = deadline - time.monotonic()
            params = {} if cursor is None else {"cursor": cursor}
            answer = await self._ask(server, "skills/list", params, call, max(left, 0.001))
            if answer.late and taken.entries:
                raise TimeoutError
            if problem := self._problem(answer):
                message = f"The server {quoted_name(server)} did not list its skills. {problem}"
                raise SkillProblem(_unanswered(answer), message)
            page = mapping(answer.result)
            if isinstance(listed := page.get("skills"), list):  # nothing is kept as it came
                return {**page, "skills": await asyncio.to_thread(taken.take, listed)}
            return page

        walk = await walk_pages(fetch, "skills")
        problems = [*taken.problems, *([f"Some skills are missing: {walk.note}."] if walk.note else [])]
        hint = CacheHint(walk.ttl_ms, walk.scope, asked)
        entries = tuple(taken.entries.values())
        doubtful = await asyncio.to_thread(_doubtful, entries)
        listing = SkillListing(server, entries, _shortened(problems), hint, doubtful)
        self._listings[server] = settings, listing
        for entry in entries:  # at once: whoever finds an entry must not find one that is not the last seen
            self._seen(entry)
        return listing

    def known(self, server: str) -> SkillListing | None:
        """Return what a server has listed last, with the entries that were asked for since."""
        found = self._listings.get(server)
        return found[1] if found is not None else None

    async def _replace(self, entry: SkillEntry) -> None:
        """Put an entry into the list of its server in place of an older one."""
        doubtful = await asyncio.to_thread(_doubtful, (entry,))
        settings, listing = self._listings.get(entry.server, ({}, None))
        if listing is None or all(one.uri != entry.uri for one in listing.entries):
            return
        entries = tuple(entry if one.uri == entry.uri else one for one in listing.entries)
        doubtful |= listing.doubtful - {entry.uri}
        self._listings[entry.server] = settings, replace(listing, entries=entries, doubtful=doubtful)

    async def entry(self, server: str, uri: str, *, call: str = "") -> SkillEntry:
        """Ask a server for the entry of one skill, which it need not list."""
        self._declared(server)
        shown = clean_line(uri, 200)
        fault = uri_fault(uri) or ("" if uri.endswith(f"/{SKILL_FILE}") else f"must end with /{SKILL_FILE}")
        if fault:
            raise SkillProblem(Why.REFERENCE, f"The URI of a skill {fault}: {shown}", where=server)
        answer = await self._ask(server, "skills/get", {"uri": uri}, call)
        if answer.error is not None and answer.error.get("code") == INVALID_PARAMS:
            step = f"To see what it lists: mcptui list {clean_line(server, 80)} skills"
            message = f"The server {quoted_name(server)} serves no skill at {shown}."
            raise SkillProblem(Why.UNKNOWN, message, next_step=step)
        if problem := self._problem(answer):
            raise SkillProblem(_unanswered(answer), f"Skill {shown} was not found. {problem}", where=server)
        try:
            found = entry_of(server, mapping(answer.result).get("skill"))
        except ValueError as error:
            raise SkillProblem(Why.DECLINED, str(error), where=server) from None
        if found.uri != uri:
            other = clean_line(found.uri, 200)
            message = f"The server returned the skill {other} in place of {shown}."
            raise SkillProblem(Why.UNREADABLE, message, where=server)
        await self._replace(found)
        self._seen(found)
        return found

    async def load(self, entry: SkillEntry, *, call: str = "") -> HeldSkill:
        """Read the SKILL.md of a skill, compare it with its entry, and return both.

        Approval is not asked here: the caller does before, since it is bound to the entry.
        """
        self._declared(entry.server)
        if entry.declined:
            message = f"{_subject(entry)} was not loaded. {entry.declined}"
            raise SkillProblem(Why.DECLINED, message, where=entry.server)
        held = HeldSkill(entry, "")
        content = await self._read(held, SKILL_FILE, call)
        try:
            held.text = await asyncio.to_thread(skill_text, content, entry)
        except ValueError as error:
            raise _dropped(entry, SKILL_FILE, str(error)) from None
        return held

    async def read(
        self, held: HeldSkill, reference: str, *, folder: str = "", call: str = ""
    ) -> SkillContent:
        """Return one file of a loaded skill: a relative path, or the URI of a file in its manifest.

        References in a nested SKILL.md are relative to its own folder, `folder` below that of the skill.
        """
        entry = held.entry
        shown = clean_line(reference, 200)
        try:
            path = resolved(entry.folder, reference)
            if folder and "://" not in reference:
                path = f"{resolved(entry.folder, folder)}/{path}"
        except ValueError as fault:
            message = f"{_subject(entry)} has no file {shown}: the path {fault}."
            raise SkillProblem(Why.REFERENCE, message, where=entry.server) from None
        self._declared(entry.server)
        return await self._read(held, path, call)

    async def plain(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        """Return the resources of a server that have `skill://` URIs, and a problem, or "".

        For a server that does not declare the extension: without entries, nothing can be compared, so they
        are resources, not skills.
        """
        listed, problem = await self._host.workbench.resources(server)
        return [one for one in listed if one.uri.startswith("skill://")], problem

    def _declared(self, server: str) -> Mapping[str, Any]:
        settings = self.settings(server)
        if settings is None:
            is_running = self._host.workbench.is_running(server)
            why = "does not serve skills" if is_running else "is not running"
            raise SkillProblem(Why.NOT_OFFERED, f"The server {quoted_name(server)} {why}.")
        return settings

    async def _read(self, held: HeldSkill, path: str, call: str) -> SkillContent:
        entry = held.entry
        file = _file_of(entry, path)
        most = MAX_BYTES - held.received if file is None else MAX_BYTES
        uri = uri_of(entry.folder, path) if file is None else file.uri
        answer = await self._ask(entry.server, "resources/read", {"uri": uri}, call)
        if problem := self._problem(answer):
            message = f"{_subject(entry)}: {clean_line(path, 200)} was not read. {problem}"
            raise SkillProblem(_unanswered(answer), message, where=entry.server)
        try:
            content = await asyncio.to_thread(_checked, answer.result, path, file, most)
        except ValueError as fault:
            raise _dropped(entry, path, str(fault)) from None
        held.received += len(content.data)
        return content

    async def _ask(
        self,
        server: str,
        method: str,
        params: Mapping[str, Any],
        call: str,
        seconds: float | CallTimeout | None = None,
    ) -> RawAnswer:
        time = self.timeout() if seconds is None else seconds
        return await self._host.workbench.request(
            server, method, params, call=call, seconds=time, whole=False, as_is=True
        )

    def _problem(self, answer: RawAnswer) -> str:
        return self._host.around.redaction.sentence(explain.problem_of(answer))


def _doubtful(entries: Sequence[SkillEntry]) -> frozenset[str]:
    found = (one for one in entries if is_doubtful(scan(one.description, "description")))
    return frozenset(one.uri for one in found)


def _unanswered(answer: RawAnswer) -> Why:
    return Why.LATE if answer.late else Why.UNREADABLE


def _is_fresh(hint: CacheHint) -> bool:
    seconds = min((hint.ttl_ms or 0) / 1000, MAX_TTL_SECONDS)
    return time.monotonic_ns() - hint.asked_ns < seconds * 1e9


def _shortened(problems: Sequence[str]) -> tuple[str, ...]:
    over = len(problems) - MAX_PROBLEMS
    more = [f"{over} more problems are not shown."] if over > 0 else []
    return (*problems[:MAX_PROBLEMS], *more)


def _subject(entry: SkillEntry) -> str:
    return f"Skill {clean_line(entry.name, 80)}"


def _file_of(entry: SkillEntry, path: str) -> SkillFile | None:
    """Return a file of the manifest; None for a dynamic skill, which has none."""
    if entry.is_dynamic:
        return None
    if (file := entry.by_path.get(path)) is not None:
        return file
    message = f"{_subject(entry)} has no file {clean_line(path, 200)}: its manifest does not list it."
    raise SkillProblem(Why.UNLISTED, message, where=entry.server, next_step=AGAIN)


def _checked(result: Any, path: str, file: SkillFile | None, most: int) -> SkillContent:
    """Return the file in an answer if it is what the manifest says; raises ValueError."""
    content = received(result, path, most)
    if file is not None and (fault := mismatch(content.data, file)):
        raise ValueError(fault)
    return content


def _dropped(entry: SkillEntry, path: str, fault: str) -> SkillProblem:
    message = f"{_subject(entry)}: {clean_line(path, 200)} was not used, because {fault}."
    return SkillProblem(Why.MISMATCH, message, where=entry.server, next_step=AGAIN)
