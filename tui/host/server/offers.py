"""One server's offer to the model: its enabled and accepted tools and instructions."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tui.core.language.translate import message
from tui.core.permission.definitions import DefinitionChange, KnownDefinitions, ServerDefinitions, digests_of
from tui.core.permission.differences import INSTRUCTIONS, Definition, instructions_definition
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec
from tui.core.text import quoted_name
from tui.core.tools import Tool, is_off
from tui.host.catalog import NO_TOOLS, Catalog, described

if TYPE_CHECKING:
    from tui.core.hidden_text.scan import HiddenText


MAX_INSTRUCTIONS = 8192
"""Maximum characters of a server's instructions that are read."""

CHANGED = message("changed since it was accepted")
NEW = message("new and not accepted yet")


def definitions_key(spec: ServerSpec) -> str:
    """Return the key of a server's stored definitions, made from its name and its program or address.

    Its environment and headers are not part of the key: a new token does not make a new server.
    """
    what = json.dumps([spec.name, spec.origin, spec.cwd])
    return hashlib.sha256(what.encode("utf-8", "replace")).hexdigest()[:32]


class ServerOffer:
    """The offer of one server, over all of its connections.

    `spec` says what is turned off. `kept` is the catalog of the last connection, also after it died.
    """

    def __init__(self, spec: ServerSpec, book: KnownDefinitions) -> None:
        self.spec = spec
        self.kept = NO_TOOLS
        self.definitions: ServerDefinitions = book.of(spec.name, definitions_key(spec))
        self._hidden: tuple[HiddenText, ...] = ()
        self._marked: tuple[Catalog, int, Sequence[Tool]] = (NO_TOOLS, -1, ())

    async def load(self) -> None:
        """Read what was accepted in earlier runs, before the first connection."""
        if not self.definitions.is_loaded:
            await asyncio.to_thread(self.definitions.load)

    def keep(self, catalog: Catalog, introduction: Mapping[str, Any], *, probed: bool) -> None:
        """Keep the catalog of a connection, and record it if it is new."""
        if self.kept is not catalog:
            self.see(catalog, introduction, probed=probed)
        self.kept = catalog

    def see(self, catalog: Catalog, introduction: Mapping[str, Any], *, probed: bool = False) -> None:
        """Record what a server lists, and its instructions; if it was `probed`, this may be less than all."""
        # Compiles many patterns, which a start without servers does not need.
        from tui.core.hidden_text.scan import in_instructions, is_doubtful

        listed, said = definitions_of(catalog, introduction), introduction.get("instructions")
        digests = {tool.name: tool.digest for tool in catalog.tools}
        digests |= digests_of({name: listed[name] for name in listed.keys() - digests.keys()})
        doubtful = {tool.name for tool in catalog.tools if is_doubtful(tool.hidden)}
        self._hidden = in_instructions(said) if isinstance(said, str) else ()
        if is_doubtful(self._hidden):
            doubtful.add(INSTRUCTIONS)
        self.definitions.see(listed, digests, complete=catalog.is_complete, doubtful=doubtful, probed=probed)

    def tools(self, catalog: Catalog) -> Sequence[Tool]:
        """Return all tools; those that are not accepted are withheld, and say why."""
        revision = self.definitions.revision
        if self._marked[0] is not catalog or self._marked[1] != revision:
            self._marked = (
                catalog,
                revision,
                [
                    replace(tool, withheld=why, is_unaccepted=True)
                    if not tool.withheld and (why := self.unaccepted(tool))
                    else tool
                    for tool in catalog.tools
                ],
            )
        return self._marked[2]

    def unaccepted(self, tool: Tool) -> str:
        """Return why a tool is not accepted, in a few words, or ""."""
        if self.definitions.is_accepted(tool.name, tool.digest):
            return ""
        return NEW if self.definitions.is_new(tool.name) else CHANGED

    def is_off(self, tool: Tool) -> bool:
        return is_off(tool.name, self.spec.off)

    def offered(self, catalog: Catalog) -> Sequence[Tool]:
        """Return the tools that the model may be offered."""
        return [tool for tool in self.tools(catalog) if not (tool.withheld or self.is_off(tool))]

    def instructions(self, said: Any) -> str:
        """Return a server's instructions for the model, cleaned, or "" if they are not accepted."""
        if not isinstance(said, str) or not said:
            return ""
        (digest,) = digests_of({INSTRUCTIONS: instructions_definition(said)}).values()
        return described(said, MAX_INSTRUCTIONS) if self.definitions.is_accepted(INSTRUCTIONS, digest) else ""

    def refusal(self, tool: Tool, catalog: Catalog) -> str:
        """Return why a tool may not be called now, or "".

        The definition must be accepted and unchanged since it was offered. Call this right before a tool
        call, after which new tools must be accepted.
        """
        self.definitions.called()
        present = catalog.find(tool.name)
        if present is None:
            return message(
                "The server {server} no longer offers {name}.",
                server=quoted_name(tool.server),
                name=tool.name,
            )
        if why := self.unaccepted(present):
            return message(
                "The tool {name} of {server} was not called: {why}.",
                name=tool.name,
                server=quoted_name(tool.server),
                why=why,
            )
        if present.digest != tool.digest:
            return message(
                "The server {server} changed {name} after it was offered. The call was not run.",
                server=quoted_name(tool.server),
                name=tool.name,
            )
        return ""

    def changes(self) -> Sequence[DefinitionChange]:
        """Return the changes that are not accepted; instructions only if the model gets them."""
        changes = self.definitions.changes()
        return [one for one in changes if self.spec.instructions or one.name != INSTRUCTIONS]

    def counts(self, catalog: Catalog, redactor: Redactor) -> dict[str, Any]:
        """Return the fields of a status about the tools that a running server lists, without secrets."""
        from tui.core.hidden_text.scan import signs_of

        redact, cut = redactor.redact, redactor.redact_cut
        hidden = [(tool.name, signs_of(tool.hidden)) for tool in catalog.tools if tool.hidden]
        if self._hidden:
            hidden.insert(0, ("instructions", ", ".join(dict.fromkeys(one.sign for one in self._hidden))))
        return {
            "tools": len(catalog.tools),
            "tools_off": sum(map(self.is_off, catalog.tools)),
            "withheld": len(catalog.tools) - len(self.offered(catalog)),
            "not_offered": tuple(
                (redact(tool.name), tool.withheld)
                for tool in self.tools(catalog)
                if tool.withheld and not tool.is_unaccepted
            ),
            "quarantined": tuple((cut(tool), cut(why)) for tool, why in catalog.quarantined),
            "hidden": tuple((redact(name), redact(words)) for name, words in hidden),
            "listing_problem": redact(catalog.listing_problem),
        }


def definitions_of(catalog: Catalog, introduction: Mapping[str, Any]) -> dict[str, Definition]:
    """Return what a server lists by name, with its instructions."""
    said = introduction.get("instructions")
    instructions = {INSTRUCTIONS: instructions_definition(said)} if isinstance(said, str) and said else {}
    return {**catalog.definitions, **instructions}
