"""Loads skills into conversations: asks the user, holds what was loaded, and reads its files.

A skill is loaded once it is approved as it is now. What is held is one manifest: the label of its text in the
conversation names it, so that a file of another version is never read for it.
"""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from tui.addons.skills.approvals import Approval, ApprovalState, SkillApprovals
from tui.addons.skills.entry import SkillEntry
from tui.addons.skills.problem import SkillProblem
from tui.addons.skills.server_skills import HeldSkill, ServerSkills, SkillListing
from tui.addons.skills.uris import SKILL_FILE, path_below
from tui.core.background import Tasks, first_of
from tui.core.context.skill_texts import DYNAMIC, SkillFiles, SkillMark
from tui.core.context.skill_tools import SkillInfo
from tui.core.conversation.conversation import Attachment
from tui.core.errors import McptuiError
from tui.core.hidden_text.scan import in_definition, signs_of
from tui.core.language.translate import _, c_message, localized, message
from tui.core.ports import BY_KEY, MODEL, USER, DecisionKind, DecisionRecord
from tui.core.questions import Action, SkillQuestion
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, quoted_name, visible
from tui.core.time_limits import NO_CLOCKS, Pausable
from tui.core.tools import TextContent, ToolResult
from tui.core.units import and_more, octets
from tui.core.units import size as in_bytes

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

PATIENCE_SECONDS = 3.0
"""How long the first turn waits for a server to list its skills. They are offered once they are known."""

MAX_HELD = 50
MAX_ATTACHED = 200 * 1024
"""Bytes of a text that the user attaches; the model reads the rest in pages."""

MAX_NAMED = 20

WORDS = {
    Approval.NEW: c_message("state of a skill", "new"),
    Approval.APPROVED: message("approved"),
    Approval.CHANGED: message("changed"),
    Approval.EACH_TIME: message("asks each time"),
}
DECLINED = message("cannot be loaded")
"""States of skills."""

Key = tuple[str, str, str]
"""Server, URI and manifest."""

Shown = tuple[Key, str]
"""What the user is shown of a skill: a dynamic one has no manifest, and its front matter may change."""


class SkillLoader:
    """See `core.context.skill_tools.SkillSource`; the screens use it as well.

    `revision` grows when a list or an approval may have changed.
    """

    def __init__(self, runtime: "Runtime") -> None:
        assert runtime.skills is not None
        self._runtime = runtime
        self._servers: ServerSkills = runtime.skills.servers
        self._approvals: SkillApprovals = runtime.skills.approvals
        self._problems: dict[str, SkillProblem] = {}
        self._listing: dict[str, asyncio.Task[None]] = {}
        self._awaited: set[str] = set()
        self._granted: set[Shown] = set()
        self._declined: set[Key] = set()
        self._asking: dict[Key, asyncio.Lock] = {}
        self._previewed: dict[Shown, HeldSkill] = {}
        self._held: dict[Key, HeldSkill] = {}
        self._calls = count(1)
        self._tasks = Tasks()
        self.revision = 0

    # ---- lists ----

    def servers(self) -> Sequence[str]:
        return self._servers.servers()

    def skills(self) -> Sequence[SkillInfo]:
        found: list[SkillInfo] = []
        for server in self.servers():
            if (listing := self._servers.known(server)) is None:
                self.begin_listing(server)
                continue
            redact = self._runtime.redactor.redact
            found += [
                SkillInfo(server, listing.label(one), one.uri, redact(_described(one, listing)))
                for one in listing.entries
                if not one.declined
            ]
        return found

    def rows(self) -> Sequence[tuple[SkillInfo, str]]:
        """Return the listed skills, each with its state in a few words, those that cannot be loaded last."""
        found: list[tuple[SkillInfo, str]] = []
        for server in self.servers():
            if (listing := self._servers.known(server)) is None:
                continue
            for one in listing.entries:
                about = self._runtime.redactor.redact(one.description)
                info = SkillInfo(server, listing.label(one), one.uri, about)
                found.append((info, DECLINED if one.declined else WORDS[self.state(one).approval]))
        return sorted(found, key=lambda one: one[1] == DECLINED)

    def lists(self, server: str, uri: str) -> bool:
        """Return whether a URI is that of a skill that its server has listed."""
        listing = self._servers.known(server)
        return listing is not None and any(one.uri == uri for one in listing.entries)

    async def meant(self, typed: str) -> tuple[str, str]:
        """Return the server and the name that `SERVER/NAME`, a name or a URI means. Raises McptuiError."""
        await self.list_now()
        servers = self.servers()
        for server in servers:
            if typed.startswith(f"{server}/"):
                return server, typed[len(server) + 1 :]
        lists = {one: found for one in servers if (found := self._servers.known(one)) is not None}
        having = [one for one, found in lists.items() if found.named(typed)]
        if "://" in typed and not having:
            having = list(servers)
        if len(having) == 1:
            return having[0], typed
        where = clean_line(typed, 80)
        if having:
            choices = ", ".join(f"/skills {clean_line(one, 40)}/{where}" for one in having[:MAX_NAMED])
            step = message("Use one of: {choices}", choices=choices)
            raise McptuiError(message("several servers have skills"), where=where, next_step=step)
        step = message("To see all: /skills")
        raise McptuiError(message("no running server lists this skill"), where=where, next_step=step)

    def listing(self, server: str) -> tuple[SkillListing | None, str]:
        """Return what a server has listed so far, and why its last list failed, or ""."""
        problem = self._problems.get(server)
        return self._servers.known(server), localized(problem) if problem is not None else ""

    def begin_listing(self, server: str, *, again: bool = False) -> "asyncio.Task[None]":
        """List the skills of a server in the background, unless its last list is still fresh."""
        known = self._listing.get(server)
        if known is None or known.done():
            known = self._listing[server] = self._tasks.start(self._list(server, again), "list skills")
        return known

    async def list_now(self) -> None:
        tasks = {server: self.begin_listing(server) for server in self.servers()}
        if new := {task for server, task in tasks.items() if server not in self._awaited}:
            await asyncio.wait(new, timeout=PATIENCE_SECONDS)
        self._awaited |= tasks.keys()

    async def _list(self, server: str, again: bool) -> None:
        try:
            await self._servers.listing(server, again=again)
            self._problems.pop(server, None)
        except SkillProblem as problem:
            self._problems[server] = problem
        self.revision += 1

    async def find(self, server: str, word: str, *, call: str = "") -> SkillEntry:
        """Return the skill of a server by name, path or URI; one that is not listed, by its URI."""
        if server not in self.servers():
            names = ", ".join(clean_line(one, 40) for one in self.servers()) or message("none")
            step = message("Servers with skills: {names}.", names=names)
            why = message("The server {name} serves no skills.", name=quoted_name(server))
            raise McptuiError(why, next_step=step)
        if (listing := self._servers.known(server)) is None or not listing.named(word):
            if "://" in word:
                return await self._servers.entry(server, word, call=call)
            await asyncio.shield(self.begin_listing(server))  # others wait for it too
            listing = self._servers.known(server)
        if listing is None:
            problem = self._problems.get(server)
            none = "" if problem is None else str(problem)
            raise McptuiError(none or message("its skills are not listed"), where=server)
        named = listing.named(word)
        if len(named) == 1:
            return named[0]
        shown = and_more([clean_line(listing.label(one), 200) for one in named or listing.entries], MAX_NAMED)
        about = {"server": quoted_name(server, 60), "name": quoted_name(word, 80)}
        if named:
            why = message("The server {server} has {n} skills named {name}.", n=len(named), **about)
            raise McptuiError(why, next_step=message("Use a path: {paths}.", paths=shown))
        why = message("The server {server} has no skill {name}.", **about)
        raise McptuiError(why, next_step=message("It lists: {names}.", names=shown or message("none")))

    # ---- approval ----

    def state(self, entry: SkillEntry) -> ApprovalState:
        """Return whether a skill is approved as it is now; one of a server that was removed is new."""
        status = self._runtime.host.find(entry.server)
        return ApprovalState(Approval.NEW) if status is None else self._approvals.state(status.spec, entry)

    def revoke(self, entry: SkillEntry) -> None:
        self._approvals.revoke(self._spec(entry.server), entry)
        self._decide(entry, allowed=False, by=f"{BY_KEY} (revoked)", asked_by=USER)
        self.revision += 1

    async def refusal(self, server: str, skill: str, clocks: Pausable = NO_CLOCKS) -> str:
        try:
            entry = await self.find(server, skill)
        except McptuiError:
            return ""  # not a matter of approval: loading it fails for the same reason
        try:
            return await self._refusal(entry, clocks, asked_by=MODEL)
        except McptuiError as error:  # the server was removed
            return str(error)

    async def _refusal(self, entry: SkillEntry, clocks: Pausable, *, asked_by: str) -> str:
        """Return why the user does not want a skill to be loaded, or ""; it may be loaded then."""
        if entry.declined:
            return ""
        clocks.pause()
        try:
            async with self._asking.setdefault(_key(entry), asyncio.Lock()):  # calls in parallel ask once
                return await self._asked(entry, asked_by)
        finally:
            clocks.resume()

    async def _asked(self, entry: SkillEntry, asked_by: str) -> str:
        key = _key(entry)
        if self.state(entry).approval is Approval.APPROVED:
            self._decide(entry, allowed=True, by=f"{BY_KEY} (approved earlier)", asked_by=asked_by)
            self._granted.add(_shown(entry))
            return ""
        if asked_by == MODEL and key in self._declined:
            return f"the user declined the skill {quoted_name(entry.name, 80)} before"
        question = self.question(entry, by_model=asked_by == MODEL)
        asked = asyncio.ensure_future(self._runtime.questioner.ask(question))
        await first_of(asked, self._runtime.host.closed(entry.server))
        if asked.cancelled():
            return f"the server {quoted_name(entry.server)} was removed or changed"
        answer = asked.result()
        is_yes = answer.action is Action.ACCEPT
        self._decide(entry, allowed=is_yes, by=answer.by, asked_by=asked_by, asked=answer.by == BY_KEY)
        if not is_yes:
            self._previewed.pop(_shown(entry), None)
            if answer.action is Action.DECLINE:
                self._declined.add(key)
            name = quoted_name(entry.name, 80)
            if asked_by == USER:
                return message("The skill {name} was not loaded", name=name)
            which = f"the skill {name}"
            if answer.by != BY_KEY:
                return f"nobody could approve {which}"
            is_no = answer.action is Action.DECLINE
            return f"the user {'declined' if is_no else 'has not approved'} {which}"
        if answer.by == BY_KEY:  # an option answers for one run
            self._approvals.approve(self._spec(entry.server), entry)
        self._granted.add(_shown(entry))
        self._declined.discard(key)
        self.revision += 1
        return ""

    def question(self, entry: SkillEntry, *, by_model: bool) -> SkillQuestion:
        """Return the question about a skill. What the user reads of it first is what is loaded then."""
        spec, redact = self._spec(entry.server), self._runtime.redactor.redact
        files = [(path, one.size) for path, one in entry.by_path.items()]

        async def read() -> str:
            return await self.preview(entry, for_answer=True)

        return SkillQuestion(
            entry.server,
            entry.name,
            redact(entry.uri),
            redact(entry.description),
            spec.shown_url or " ".join(spec.shown_command),
            [(redact(path), size) for path, size in files],
            tuple(redact(localized(one)) for one in changes_of(entry, self.state(entry))),
            tuple(map(redact, _remarks(entry))),
            by_model,
            self._label(entry),
            hashlib.sha256("\n".join((*_key(entry), _shown(entry)[1])).encode()).hexdigest()[:16],
            read,
        )

    def _label(self, entry: SkillEntry) -> str:
        """Return what names a skill: another one with its name, which is not listed, has its URI."""
        listing = self._servers.known(entry.server)
        return listing.label(entry) if self.lists(entry.server, entry.uri) and listing else entry.uri

    async def preview(self, entry: SkillEntry, *, for_answer: bool = False) -> str:
        """Return the SKILL.md of a skill for the user; `for_answer`: who then answers whether to load it."""
        held = await self._servers.load(entry, call=self._call())
        if for_answer:
            self._previewed = {_shown(entry): held}  # only the last one
        return (await self._files_of(held)).text

    # ---- loading ----

    async def load(self, server: str, skill: str, clocks: Pausable = NO_CLOCKS) -> SkillFiles:
        return await self._load(await self.find(server, skill), clocks, asked_by=MODEL, call="")

    async def attach(self, server: str, skill: str) -> Attachment:
        """Return a skill that the user loads, as an attachment of a message. Asks first."""
        call = self._call()
        entry = await self.find(server, skill, call=call)
        if why := await self._refusal(entry, NO_CLOCKS, asked_by=USER):
            raise McptuiError(why)
        found = await self._load(entry, NO_CLOCKS, asked_by=USER, call=call)
        text = visible(found.text)
        piece = text.encode("utf-8", "replace")[:MAX_ATTACHED].decode("utf-8", "ignore")
        shown = await self._without_secrets(server, found.labelled(piece))  # the label has its URI and files
        if len(piece) < len(text):
            shown += f"\n[the first {len(piece):,} of {len(text):,} characters]"
        name = _("skill {skill} from {server}", skill=found.mark.name, server=clean_line(server, 60))
        return Attachment("text", "text/markdown", name, octets(shown), shown, server)

    async def _load(self, entry: SkillEntry, clocks: Pausable, *, asked_by: str, call: str) -> SkillFiles:
        for is_last in (False, True):
            key, shown = _key(entry), _shown(entry)
            if shown not in self._granted and (why := await self._refusal(entry, clocks, asked_by=asked_by)):
                raise McptuiError(why)  # it was listed again meanwhile, and has changed
            self._granted.discard(shown)
            try:
                held = self._previewed.pop(shown, None) or await self._servers.load(entry, call=call)
                break
            except SkillProblem as problem:
                if is_last or not problem.is_stale:
                    raise
                fresh = await self._servers.entry(entry.server, entry.uri, call=call)
                self.begin_listing(entry.server, again=True)
                if _shown(fresh) == shown:
                    raise
            entry = fresh  # it has changed since it was listed: that is a question, not an error
        while len(self._held) >= MAX_HELD:
            del self._held[next(iter(self._held))]
        self._held[key] = held
        return await self._files_of(held)

    async def read(self, mark: SkillMark, path: str) -> tuple[SkillFiles, str, str]:
        held = self._held.get((mark.server, mark.uri, mark.manifest)) or await self._hold_again(mark)
        try:
            content = await self._servers.read(held, path)
        except SkillProblem as problem:
            if problem.is_stale:
                await self._require_unchanged(held.entry)
            raise
        text = content.text
        if text is None:
            about = f"{clean_line(content.mime, 60) or 'unknown type'}, {in_bytes(len(content.data))}"
            raise McptuiError(f"{content.path} is not text ({about}), so it is not given to the model.")
        found = await self._files_of(held)
        return found, content.path, await self._without_secrets(mark.server, text)

    async def _hold_again(self, mark: SkillMark) -> HeldSkill:
        """Hold a skill that an earlier run has loaded, if it is still the approved one."""
        which = f"The skill {quoted_name(mark.name, 80)}"
        step = "Load it again to read its files."
        if mark.manifest == DYNAMIC:
            raise McptuiError(f"{which} was loaded in another run.", next_step=step)
        entry = await self._servers.entry(mark.server, mark.uri)
        key = _key(entry)
        if key[2] != mark.manifest or self.state(entry).approval is not Approval.APPROVED:
            raise McptuiError(f"{which} has changed since it was loaded.", next_step=step)
        self._held[key] = HeldSkill(entry, "")
        return self._held[key]

    async def _require_unchanged(self, entry: SkillEntry) -> None:
        """Raise McptuiError if a held skill is another one by now."""
        fresh = await self._servers.entry(entry.server, entry.uri)
        if _key(fresh) != _key(entry):
            self._held.pop(_key(entry), None)
            self.begin_listing(entry.server, again=True)
            which = f"The skill {quoted_name(entry.name, 80)} has changed since it was loaded."
            step = "Load it again: the user is asked about the changes."
            raise McptuiError(which, next_step=step)

    async def _files_of(self, held: HeldSkill) -> SkillFiles:
        entry = held.entry
        number = len(entry.files or ())
        mark = SkillMark(entry.server, entry.name, entry.uri, _key(entry)[2], files=number)
        files = [(path, one.size) for path, one in entry.by_path.items() if path != SKILL_FILE]
        return SkillFiles(mark, files, await self._without_secrets(entry.server, held.text))

    async def _without_secrets(self, server: str, text: str) -> str:
        """Return a text for the model without configured secrets, unless its server may send them."""
        if self._spec(server).send_as_is:
            return text
        result = ToolResult((TextContent(text),), raw={})
        result = await self._runtime.host.around.redaction.result(result)
        return "".join(one.text for one in result.content if isinstance(one, TextContent))

    def _spec(self, server: str) -> ServerSpec:
        return self._runtime.host.status(server).spec

    def _call(self) -> str:
        return f"hand-skill-{next(self._calls)}"

    def _decide(
        self, entry: SkillEntry, *, allowed: bool, by: str, asked_by: str, asked: bool = False
    ) -> None:
        subject, digest = f"load {entry.uri}", _key(entry)[2]
        self._runtime.decisions.add(
            DecisionRecord(
                DecisionKind.SKILL, entry.server, subject, allowed, by, asked_by, asked=asked, digest=digest
            )
        )

    async def close(self) -> None:
        await self._tasks.cancel()


def _key(entry: SkillEntry) -> Key:
    """Return what a loaded skill is held under."""
    if entry.files is None:
        return entry.server, entry.uri, DYNAMIC
    digests = "\n".join(sorted(f"{one.uri} {one.digest}" for one in entry.files))
    return entry.server, entry.uri, hashlib.sha256(digests.encode()).hexdigest()[:16]


def _shown(entry: SkillEntry) -> Shown:
    return _key(entry), json.dumps(entry.frontmatter, sort_keys=True)


def _described(entry: SkillEntry, listing: SkillListing) -> str:
    """Return a description for the model: none with text that the user would have to see first."""
    return "" if entry.uri in listing.doubtful else entry.description


def changes_of(entry: SkillEntry, state: ApprovalState) -> Sequence[str]:
    """Return what differs from the approved skill, one sentence each, not cleaned."""
    if state.approval is not Approval.CHANGED:
        return ()

    def shown(uri: str) -> str:
        return path_below(entry.folder, uri) or uri

    found: list[str] = [message("{file} changed", file=shown(uri)) for uri in state.changed]
    found += [message("{file} added", file=shown(uri)) for uri in state.added]
    found += [message("{file} removed", file=shown(uri)) for uri in state.removed]
    found += [message("front matter: {name} differs", name=name) for name in state.fields]
    return found or (message("it has changed in the meantime, and is now as it was"),)


def _remarks(entry: SkillEntry) -> list[str]:
    """Return what to know about a skill before loading it, as sentences, not cleaned."""
    found = []
    if hidden := in_definition(entry.frontmatter):
        found.append(_("It has text that you may not see: {signs}", signs=signs_of(hidden)))
    if entry.nested:
        inner = and_more(list(entry.nested), 5)
        found.append(_("It contains other skills, which this does not approve: {names}", names=inner))
    if (tools := entry.frontmatter.get("allowed-tools")) is not None:
        words = (
            tools if isinstance(tools, str) else ", ".join(map(str, tools if isinstance(tools, list) else ()))
        )
        found.append(_("It asks for permission to use tools, which mcptui ignores: {names}", names=words))
    if entry.frontmatter.get("hooks") is not None:
        found.append(_("It asks to run hooks, which mcptui ignores"))
    if entry.is_dynamic:
        found.append(_("Its server does not list its files, so mcptui cannot compare them with anything"))
    return found
