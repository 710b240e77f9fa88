"""Adds, changes, disables and removes servers while mcptui runs: in the file, and at once."""

import dataclasses
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from tui.core.addons import service
from tui.core.comparison.offers import OfferChange, offer_changes
from tui.core.errors import UsageError
from tui.core.language.translate import message
from tui.core.programs import is_command
from tui.core.servers import ServerSpec, not_configured
from tui.core.text import mapping, quoted_name
from tui.core.tools import is_off, switched
from tui.runtime.configuration import Configuration
from tui.runtime.server_offers import offer_of
from tui.settings import new_server
from tui.settings.config_secrets import literal_secret
from tui.settings.save import Document, add_tables, merge, refuse_foreign, remove_server, server_at

IN_FORM = frozenset({"command", "args", "url", "env", "headers", "transport", "send_as_is"})
"""The keys of a server that its form can change."""

EDIT_THE_FILE = message("This form cannot change it. Cancel, then press E to edit the configuration.")

HIDDEN = "***"
"""In a form: a secret that stays unchanged in the file."""


@dataclasses.dataclass(frozen=True, slots=True)
class Draft:
    """A server to be written. `notes` say what is still missing.

    `before` is its table in the file when the change started.
    """

    name: str
    table: Mapping[str, Any]
    toml: str
    notes: tuple[str, ...] = ()
    before: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class ServerValues:
    """The fields of a form for a server. `line` is its URL or command line.

    `values` are `NAME=VALUE` for a command and `NAME: VALUE` for an address, one per line. `send_as_is`: send
    secrets in its results to the model. `before` is its table in the file when the form was opened.
    """

    line: str = ""
    values: str = ""
    transport: str = ""
    send_as_is: bool = False
    before: Mapping[str, Any] = dataclasses.field(default_factory=dict, compare=False)


BEFORE_SECONDS = 5.0
"""How long a server can delay that an extension is turned off: until it has listed what it offers before."""


@dataclasses.dataclass(frozen=True, slots=True)
class SwitchedExtension:
    """An extension that is now on or off, a `problem` or "", and what the server offers differently."""

    is_on: bool
    problem: str = ""
    changes: tuple[OfferChange, ...] = ()


NONE_LEFT = message("to start the sample servers again, delete [servers] from the configuration file")


@dataclasses.dataclass(slots=True)
class ServerChanges:
    """Adds, changes and removes servers."""

    _configuration: Configuration
    _env: Mapping[str, str]
    _agree: Callable[[ServerSpec], Awaitable[None]] | None = None
    """Stores consent for a server that the user has typed."""
    _forget: Callable[[str], None] = lambda name: None
    """Drops what outlives a run and belongs to a server."""

    def _present(self) -> Mapping[str, Any]:
        """Return the current servers of the file, or those read last if it belongs to another program."""
        return self._configuration.file.table("servers") or self._configuration.servers

    def values(self, name: str) -> ServerValues:
        """Return a server's form values, secrets hidden. Raises UsageError if it is not in the file."""
        table = self._configured(name)
        key, mark = ("headers", ": ") if "url" in table else ("env", "=")
        found = table[key] if isinstance(table.get(key), Mapping) else {}
        hidden = {one for one in found if literal_secret(("servers", name, key, one), str(found[one]))}
        lines = (f"{one}{mark}{HIDDEN if one in hidden else value}" for one, value in found.items())
        transport, url = table.get("transport"), table.get("url")
        command = shlex.join([str(table.get("command", "")), *map(str, table.get("args", ()))])
        return ServerValues(
            url if isinstance(url, str) else command,
            "\n".join(lines),
            transport if isinstance(transport, str) else "",
            table.get("send_as_is") is True,
            table,
        )

    def draft(self, name: str, typed: ServerValues, *, changes: str = "") -> Draft:
        """Return the server that a form describes. Its default name comes from its URL or package.

        `changes` is the server being changed. Values that are still hidden stay. Raises McptuiError if a
        field is invalid.
        """
        refuse_foreign(self._configuration.file.path)
        line = typed.line.strip()
        remote = new_server.is_address(line)
        texts = [text.strip() for text in typed.values.splitlines() if text.strip()]
        named = dict(new_server.pairs(texts, colon=remote))
        present = self._configured(changes) if changes else {}
        before = typed.before or present
        kept = before.get("headers" if remote else "env")
        for known in [known for known, value in named.items() if value == HIDDEN]:
            named[known] = str(kept.get(known, HIDDEN)) if isinstance(kept, Mapping) else HIDDEN
        table = new_server.server_table(
            new_server.line_words(line),
            env=None if remote else named,
            headers=named if remote else None,
            transport=typed.transport,
            known=lambda word: is_command(word, str(self._configuration.file.path.absolute().parent)),
        )
        table |= {key: value for key, value in before.items() if key not in IN_FORM}
        table |= {"send_as_is": True} if typed.send_as_is else {}
        name = name.strip() or new_server.server_name(table)
        others = {known: there for known, there in self._present().items() if known != changes}
        new_server.refuse_duplicate(name, table, others)
        try:
            notes = new_server.check_new(name, table, self._configuration.file.path, self._env)
        except new_server.InvalidKey as error:
            key = error.key.partition(".")[0]
            if key in before and key not in IN_FORM:
                error.next_step = EDIT_THE_FILE
            raise
        return Draft(name, table, new_server.as_toml(name, table), tuple(notes), before)

    async def toggle_tool(self, server: str, tool: str) -> str:
        """Turn a tool on or off for the model; return why that was not saved, or ""."""
        if (status := self._configuration.host.find(server)) is None:
            return not_configured(server)
        names = [one.name for one in self._configuration.host.workbench.tools(server)]
        off = status.spec.off
        turned_off = not is_off(tool, off)

        def merge(present: Any) -> Sequence[str]:
            """Turn only this tool on or off: other tools may have been turned off in the file."""
            given = present if isinstance(present, list) else [present]
            known = [one for one in given if isinstance(one, str)]
            return known if is_off(tool, known) is turned_off else switched(known, tool, names)

        return await self._configuration.choose(server, "off", switched(off, tool, names), merge=merge)

    async def switch_extension(self, server: str, name: str) -> SwitchedExtension:
        """Turn an extension on or off for a server, and ask a running one for all that it offers again."""
        host = self._configuration.host
        if (status := host.find(server)) is None:
            return SwitchedExtension(False, not_configured(server))
        is_on = not status.spec.extensions.get(name, True)
        before = await offer_of(host, server, BEFORE_SECONDS) if host.workbench.is_running(server) else None

        def merge(present: Any) -> Mapping[str, bool]:
            """Turn only this one on or off: others may have been changed in the file."""
            others = {key: one for key, one in mapping(present).items() if key != name}
            return others if is_on else {**others, name: False}

        switches = merge(status.spec.extensions)
        problem = await self._configuration.choose(server, "extensions", switches, merge=merge)
        if before is None:
            return SwitchedExtension(is_on, problem)
        after = await offer_of(host, server)
        missing = before.problems or after.problems
        changes = () if missing else offer_changes(before, after)
        return SwitchedExtension(is_on, " ".join(filter(None, (problem, *missing[:1]))), changes)

    async def add(self, draft: Draft) -> Sequence[str]:
        """Write a new server and start it; return sentences about further effects.

        Raises McptuiError if it could not be written.
        """
        had_samples = self._configuration.uses_samples

        def change(document: Document) -> str:
            add_tables(document, "servers", {draft.name: draft.table})
            return draft.name

        async def agree(specs: Sequence[ServerSpec]) -> None:
            for spec in specs:
                if spec.name == draft.name and spec.source and self._agree is not None:
                    await self._agree(spec)  # the user entered it, in a file that is not their own

        notes = await self._configuration.change(change, first=agree)
        return [*([message("the sample servers no longer start")] if had_samples else ()), *notes]

    async def change(self, draft: Draft) -> Sequence[str]:
        """Write a changed server and restart it; return sentences about further effects.

        Raises McptuiError if it could not be written.
        """

        def change(document: Document) -> str:
            merge(server_at(document, draft.name), draft.before, draft.table)
            return draft.name

        return await self._configuration.change(change)

    async def toggle(self, name: str) -> tuple[bool, Sequence[str]]:
        """Disable a server, or enable and start it.

        Returns whether it is now disabled, and sentences about further effects. Raises McptuiError if that
        could not be written.
        """
        disabled = False

        def change(document: Document) -> str:
            nonlocal disabled
            self._configured(name)  # a sentence of its own for samples
            table = server_at(document, name)
            disabled = table.pop("disabled", False) is not True
            table |= {"disabled": True} if disabled else {}
            return "" if disabled else name

        notes = await self._configuration.change(change)
        return disabled, notes

    async def remove(self, name: str) -> Sequence[str]:
        """Stop a server, remove it from the file; delete its tokens, skill approvals and bundle files.

        Returns sentences about the deleted tokens and files. Raises McptuiError if the file could not be
        written; the server then keeps running.
        """
        is_remote = False
        present: Mapping[str, Any] = {}
        told: list[str] = []

        def change(document: Document) -> None:
            nonlocal is_remote, present
            is_remote = "url" in self._configured(name)
            present = self._present()
            remove_server(document, name)

        async def sign_out(_: Sequence[ServerSpec]) -> None:
            if is_remote and (signed_out := await self._configuration.host.sign_out(name)).told:
                told.append(signed_out.told.strip())

        notes = await self._configuration.change(change, first=sign_out)
        if (delete_leftovers := service("leftovers")) is not None:
            told += await delete_leftovers(name, present)
        self._forget(name)
        return [*told, *notes, *([] if self._configuration.file.table("servers") else [NONE_LEFT])]

    def _configured(self, name: str) -> Mapping[str, Any]:
        present = self._present()
        table = present.get(name)
        if not isinstance(table, Mapping) and present:
            raise UsageError(
                message("The server {name} is no longer in the configuration file.", name=quoted_name(name))
            )
        if not isinstance(table, Mapping):
            raise UsageError(
                message(
                    "The server {name} is a sample, not in the configuration file.", name=quoted_name(name)
                ),
                next_step=message("Add your own server. The samples are then no longer started."),
            )
        return table
