"""The accepted definitions of a server, and the changes since. All I/O is done by its store.

The first list of a server is accepted, because the user started the server. So are tools that it adds before
its first call, because some servers list their tools one after the other, and those that the first session
without a probe adds to a probed one, because some gateways list less after a probe. Definitions with hidden
text, and those that are new or different later, are not offered until the user accepts exactly that version.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from tui.core.language.translate import message
from tui.core.permission.change_effects import ChangeEffect, is_harmless
from tui.core.permission.differences import (
    INSTRUCTIONS,
    Definition,
    Difference,
    differences_of,
    digest_of,
    effect_of,
)

MAX_ACCEPTED = 10_000
"""Maximum number of definitions remembered per server, including those of removed tools."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted definition. `definition` is None if it was too large to store, or is lost."""

    digest: str
    definition: Definition | None = None


LOST = Accepted("")
"""Stands for an accepted definition that cannot be read; no definition equals it."""


@dataclass(frozen=True)
class DefinitionChange:
    """A definition that is not accepted; `name` is the tool's, or `INSTRUCTIONS`.

    `before` is the accepted version, None if there is none. Comparing is done once, and may take a second for
    megabytes of schema.
    """

    server: str
    name: str
    digest: str
    before: Accepted | None
    after: Definition = field(compare=False)

    @property
    def is_new(self) -> bool:
        return self.before is None

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        return differences_of(self.before.definition if self.before is not None else None, self.after)

    @cached_property
    def effect(self) -> ChangeEffect:
        found = effect_of(self.differences)
        return ChangeEffect.BREAKING if self.before is LOST and is_harmless(found) else found


@dataclass(frozen=True, slots=True)
class DefinitionRecord:
    """The stored record of a server: `accepted` definitions, and digests of `refused` ones, by name.

    `damage` says in a sentence why it cannot be read; the rest is then empty. `probed` means that all its
    sessions so far began with a probe.
    """

    accepted: Mapping[str, Accepted] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    damage: str = ""
    probed: bool = False


class DefinitionStore(Protocol):
    """Stores accepted definitions on disk."""

    def load(self, key: str) -> DefinitionRecord | None:
        """Return the stored record, None if this server is new. May block, does not raise."""

    def save(self, key: str, server: str, kept: DefinitionRecord) -> None:
        """Add to the stored record. Neither waits nor raises."""


class ServerDefinitions:
    """The definitions of one server: those that were accepted, and those that it lists now.

    `revision` grows with each change of these. `damage` says why the accepted ones cannot be read: then
    everything that the server lists counts as changed until the user accepts it.
    """

    def __init__(
        self, server: str, key: str = "", store: DefinitionStore | None = None, *, accept_all: bool = False
    ) -> None:
        self.revision = 0
        self.damage = ""
        self._server = server
        self._key = key
        self._store = store
        self._accept_all = accept_all
        self.is_loaded = store is None
        self._accepted: dict[str, Accepted] | None = None
        self._refused: dict[str, str] = {}
        self._open = self._probed = False
        self._is_complete = self._is_called = False
        self._digests: dict[str, str] = {}
        self._current: Mapping[str, Definition] = {}
        self._changes: tuple[int, Sequence[DefinitionChange]] = (-1, ())

    def load(self) -> None:
        """Read the stored record, once. Blocks."""
        if self.is_loaded or self._store is None:
            return
        if (kept := self._store.load(self._key)) is not None:
            self._accepted, self._refused = dict(kept.accepted), dict(kept.refused)
            self.damage, self._probed = kept.damage, kept.probed
        self.is_loaded = True

    def see(
        self,
        current: Mapping[str, Definition],
        digests: Mapping[str, str],
        *,
        complete: bool,
        doubtful: Collection[str] = (),
        probed: bool = False,
    ) -> None:
        """Record what the server lists now.

        The first list is accepted, and so are additions until the list has been `complete` once and a tool
        has been called. After sessions that were `probed`, the same is true for additions of the next one.
        The `doubtful` names are not accepted: the user must read them.
        """
        self.load()
        self._current, self._digests = current, dict(digests)
        if self._accepted is None:
            self._accepted, self._open, self._probed = {}, True, probed
        elif self._probed and not probed:
            self._open, self._probed, self._is_complete = True, False, False
        if self._open:
            new = {
                name: Accepted(digest, current.get(name))
                for name, digest in digests.items()
                if name not in self._accepted and name not in doubtful
            }
            self._is_complete = self._is_complete or complete
            self._open = not (self._is_complete and self._is_called)
            if new or complete:
                self._accept(self._accepted, new)
        self.revision += 1

    def called(self) -> None:
        """Record that a tool is called: from now on, new tools must be accepted."""
        self._is_called = True
        self._open = self._open and not self._is_complete

    def is_accepted(self, name: str, digest: str) -> bool:
        if self._accept_all:
            return True
        known = self._accepted.get(name) if self._accepted is not None else None
        return known is not None and known.digest == digest

    def is_new(self, name: str) -> bool:
        """Whether no definition with this name is known to have been accepted."""
        return not self.damage and (self._accepted is None or name not in self._accepted)

    def changes(self) -> Sequence[DefinitionChange]:
        """Return the listed definitions that are not accepted, including refused ones."""
        if self._changes[0] != self.revision:
            accepted, unknown = self._accepted or {}, LOST if self.damage else None
            found = [
                DefinitionChange(
                    self._server, name, digest, accepted.get(name, unknown), self._current.get(name, {})
                )
                for name, digest in self._digests.items()
                if not self.is_accepted(name, digest)
            ]
            self._changes = self.revision, found
        return self._changes[1]

    def is_refused(self, change: DefinitionChange) -> bool:
        return self._refused.get(change.name) == change.digest

    def accept(self, changes: Iterable[DefinitionChange]) -> None:
        """Accept exactly these definitions, even if the server lists different ones by now."""
        if self._accepted is None:
            return
        new = {one.name: Accepted(one.digest, one.after) for one in changes}
        for name in new:
            self._refused.pop(name, None)
        self._accept(self._accepted, new)
        self.revision += 1

    def _accept(self, accepted: dict[str, Accepted], new: Mapping[str, Accepted]) -> None:
        """Add to `accepted`, and forget the oldest that are not listed: a server may rename all each time."""
        accepted |= new
        if (surplus := len(accepted) - MAX_ACCEPTED) > 0:
            for name in [name for name in accepted if name not in self._digests][:surplus]:
                del accepted[name]
        self._save(new)

    def refuse(self, changes: Iterable[DefinitionChange]) -> None:
        """Refuse these, and do not ask about them until they change again."""
        self._refused |= {one.name: one.digest for one in changes}
        self._save({})
        self.revision += 1

    def _save(self, new: Mapping[str, Accepted]) -> None:
        if self._store is not None:
            self._store.save(
                self._key, self._server, DefinitionRecord(new, self._refused, probed=self._probed)
            )


class KnownDefinitions:
    """The definitions of all servers, by a key made from their name and launch configuration.

    With `accept_all`, each definition counts as accepted, for runs in which a file decides what is called.
    """

    def __init__(self, store: DefinitionStore | None = None, *, accept_all: bool = False) -> None:
        self._store = store
        self._accept_all = accept_all
        self._servers: dict[str, ServerDefinitions] = {}

    def of(self, server: str, key: str) -> ServerDefinitions:
        made = ServerDefinitions(server, key, self._store, accept_all=self._accept_all)
        return self._servers.setdefault(key, made)


def shown_name(name: str) -> str:
    """Return the displayed name of a change: the name of the tool, raw, or "instructions"."""
    return name if name != INSTRUCTIONS else message("instructions")


def digests_of(definitions: Mapping[str, Definition]) -> dict[str, str]:
    """Return the digest of each definition, by its name."""
    return {name: digest_of(definition) for name, definition in definitions.items()}
