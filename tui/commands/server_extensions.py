"""`mcptui servers --extensions`: what servers and mcptui declare to each other, and what is used of it."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from tui.commands.table import TEXT_CELLS, Columns, lines_at
from tui.core.addons import service
from tui.core.comparison.offers import OfferChange, change_words, offer_changes
from tui.core.errors import UsageError
from tui.core.jsonrpc.extensions import DEPRECATED, EXTENSIONS, PREFIX, ExtensionUse
from tui.core.jsonrpc.protocol import is_modern
from tui.core.servers import SamplingRule, ServerStatus
from tui.core.text import clean_line, compact
from tui.core.workbench import ServerIdentity
from tui.runtime.runtime import Runtime
from tui.runtime.server_offers import offer_of

USE_CELLS, NAME_CELLS = 13, 34


@dataclasses.dataclass(frozen=True, slots=True)
class ServerExtensions:
    """What is reported of one running server.

    `without` are its changes without the extension of this title; None if it was not asked without one.
    `acting` are facts about the host that mcptui acts as, `dropped` the tools that it would drop, with why.
    """

    status: ServerStatus
    identity: ServerIdentity
    deprecated: tuple[str, ...]
    acting: Sequence[tuple[str, str, str]] = ()
    dropped: Sequence[tuple[str, str]] = ()
    without: Sequence[OfferChange] | None = None
    title: str = ""
    problem: str = ""

    @property
    def era(self) -> str:
        return "modern" if is_modern(self.identity.protocol) else "legacy"

    def lines(self, cells: int = 0) -> Iterator[str]:
        """Yield the lines to print, each of at most `cells` unless that is 0."""
        columns = Columns((USE_CELLS, NAME_CELLS, TEXT_CELLS), range(3), cells, indent="    ")
        facts = Columns((USE_CELLS, TEXT_CELLS), range(2), cells, indent="    ")
        name = clean_line(self.status.name, 40)
        yield from lines_at(f"● {name}  {clean_line(self.identity.protocol, 40)}  {self.era}", cells)
        for one in self.identity.extensions:
            stage = one.known.stage if one.known is not None else ""
            settings = compact(one.settings, 100) if one.settings else ""
            words = "  ".join(filter(None, (one.declared_by, one.why, stage, settings)))
            yield from columns.lines((str(one.use), one.name, words))
        if not self.identity.extensions:
            yield "    No extensions"
        if self.deprecated:
            yield from facts.lines(("deprecated", ", ".join(self.deprecated)))
        for label, value, _ in self.acting:
            yield from facts.lines((label, clean_line(value, 400)))
        if self.problem:
            yield f"    ! {clean_line(self.problem, 300)}"
        elif self.without is not None:
            yield f"    without {self.title}: {change_words(self.without)}"
            for change in self.without:
                yield f"        {change.words}"
                yield from (f"            {line}" for line in change.lines)

    def as_object(self) -> dict[str, Any]:
        """Return the `--json` object."""
        acts_as = self.status.spec.act_as
        found: dict[str, Any] = {
            "name": self.status.name,
            "protocol": self.identity.protocol,
            "era": self.era,
            "extensions": [_object_of(one) for one in self.identity.extensions],
            "deprecated": list(self.deprecated),
            "acts_as": {"host": acts_as, "drops": [{"tool": name, "why": why} for name, why in self.dropped]}
            if acts_as
            else None,
        }
        if self.without is not None:
            found["without"] = [
                {"kind": one.kind, "name": one.name, "change": str(one.change), "where": list(one.where)}
                for one in self.without
            ]
        return found | ({"problem": self.problem} if self.problem else {})


def _object_of(use: ExtensionUse) -> dict[str, Any]:
    known = use.known
    return {
        "id": use.id,
        "title": known.title if known is not None else None,
        "stage": known.stage if known is not None else None,
        "use": str(use.use),
        "why": use.why or None,
        "server": use.settings is not None,
        "mcptui": use.declared,
        "settings": use.settings,
    }


def extension_id(name: str) -> str:
    """Return the id of an extension by its id or its last part, such as "tasks". Raises UsageError."""
    for one in (name, f"{PREFIX}{name}"):
        if one in EXTENSIONS:
            return one
    known = ", ".join(one.removeprefix(PREFIX) for one in EXTENSIONS)
    raise UsageError(f"unknown extension {clean_line(name, 60)}.", next_step=f"Known extensions: {known}.")


async def extensions_of(runtime: Runtime, name: str, without: str = "") -> ServerExtensions:
    """Return what is reported of a running server, after asking it again `without` an extension."""
    workbench, status = runtime.workbench, runtime.host.status(name)
    identity, host = await workbench.identity(name), status.spec.act_as
    facts, drops = (service(one) if host else None for one in ("acting facts", "dropped tools"))
    tools = workbench.tools(name) if host else ()
    found = ServerExtensions(
        status,
        identity,
        tuple(_deprecated(status, identity)),
        () if facts is None else facts(host, name, tools),
        () if drops is None else drops(host, name, tools),
    )
    if not without:
        return found
    before = await offer_of(runtime.host, name)
    runtime.host.reconfigure(name, extensions={**status.spec.extensions, without: False})
    after = await offer_of(runtime.host, name)
    problem = " ".join((*before.problems, *after.problems)[:1])
    changes = () if problem else offer_changes(before, after)
    return dataclasses.replace(found, without=changes, title=EXTENSIONS[without].title, problem=problem)


def _deprecated(status: ServerStatus, identity: ServerIdentity) -> Iterator[str]:
    """Yield the deprecated features that are used with a server."""
    yield from (name for name in identity.capabilities if name in DEPRECATED)
    if status.spec.roots:
        yield "roots"
    if status.spec.sampling is not SamplingRule.NEVER:
        yield "sampling"
    if status.reach is not None and status.reach.kind == "HTTP+SSE":
        yield "HTTP+SSE"
