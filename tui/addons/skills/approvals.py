"""Which skills the user has approved. An approval covers exactly the files of a manifest, with their digests.

It belongs to the server's name and launch configuration, and to the URI of the skill: a skill with the same
name or the same URI on another server is another skill, and a nested skill is not part of the one around it.
A dynamic skill has no digests, so its approval is never stored.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from tui.addons.skills.entry import SkillEntry
from tui.core.servers import ServerSpec
from tui.core.text import object_in
from tui.settings.state.state_file import KeyedList

MAX_APPROVALS = 1_000
MAX_BYTES = 4 * 1024 * 1024
MAX_FIELDS = 50

Key = tuple[str, str, str]
"""The server, the hash of what it runs, and the URI of the skill."""

Manifest = Mapping[str, str]
"""The digests of the files, by URI."""


@dataclass(frozen=True, slots=True)
class Approved:
    """The files of an approved skill. `revoked`: the server has offered others since, so it is asked again.

    The files, and a hash of each field of the front matter, are kept to show what has changed.
    """

    files: Manifest
    revoked: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)


class Approval(StrEnum):
    """Whether a skill may be loaded without asking."""

    NEW = "new"
    APPROVED = "approved"
    CHANGED = "changed"
    EACH_TIME = "each time"


@dataclass(frozen=True, slots=True)
class ApprovalState:
    """Whether a skill is approved, and how its manifest differs from the approved one: URIs of files.

    `fields` are those of the front matter that differ.
    A changed skill without differences has changed in the meantime, and is now as it was.
    """

    approval: Approval
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


class SkillApprovals:
    """The approvals, which are read from their file once, when first asked for."""

    def __init__(self, path: Path) -> None:
        self._list = KeyedList(
            path, "approved skills", "skills", _read, _written, MAX_APPROVALS, max_bytes=MAX_BYTES
        )
        self.close = self._list.close

    @cached_property
    def _read_once(self) -> tuple[dict[Key, Approved], str]:
        content, damage = self._list.file.look()
        return self._list.of(content), damage

    @property
    def problem(self) -> str:
        """Why approvals of earlier runs could not be read, or "". All skills then count as new."""
        return self._read_once[1]

    def state(self, spec: ServerSpec, entry: SkillEntry) -> ApprovalState:
        """Return whether the skill of a server is approved as it is now.

        Another manifest revokes the approval, even if the server offers the approved one again later.
        """
        before = self._read_once[0].get(_key(spec, entry))
        if before is None:
            return ApprovalState(Approval.EACH_TIME if entry.is_dynamic else Approval.NEW)
        now = _manifest(entry)
        if (entry.is_dynamic or now != before.files) and not before.revoked:
            before = replace(before, revoked=True)
            self._put({_key(spec, entry): before})
        if entry.is_dynamic:
            return ApprovalState(Approval.EACH_TIME)
        if not before.revoked:
            return ApprovalState(Approval.APPROVED)
        files, fields = before.files, _fields(entry)
        return ApprovalState(
            Approval.CHANGED,
            tuple(uri for uri in now if uri not in files),
            tuple(uri for uri in files if uri not in now),
            tuple(uri for uri in now if uri in files and now[uri] != files[uri]),
            tuple(name for name in {**before.fields, **fields} if before.fields.get(name) != fields.get(name))
            if before.fields
            else (),
        )

    def approve(self, spec: ServerSpec, entry: SkillEntry) -> None:
        """Approve a skill with exactly these files. Does nothing for a dynamic or a declined skill."""
        if entry.files is not None and not entry.declined:
            self._put({_key(spec, entry): Approved(_manifest(entry), fields=_fields(entry))})

    def revoke(self, spec: ServerSpec, entry: SkillEntry) -> None:
        self._drop([_key(spec, entry)])

    def forget(self, server: str) -> None:
        """Drop all approvals of a server that was removed."""
        self._drop([key for key in self._read_once[0] if key[0] == server])

    def _put(self, put: Mapping[Key, Approved]) -> None:
        self._read_once[0].update(put)
        self._list.change_later(put)

    def _drop(self, keys: Iterable[Key]) -> None:
        dropped = [key for key in keys if self._read_once[0].pop(key, None) is not None]
        if dropped:
            self._list.change_later({}, dropped)


def _key(spec: ServerSpec, entry: SkillEntry) -> Key:
    return spec.name, spec.digest(), entry.uri


def _manifest(entry: SkillEntry) -> Manifest:
    return {one.uri: one.digest for one in entry.files or ()}


def _fields(entry: SkillEntry) -> Mapping[str, str]:
    """Return a short hash of each field of the front matter."""

    def hashed(value: Any) -> str:
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8", "replace")).hexdigest()[:16]

    return {name: hashed(value) for name, value in islice(entry.frontmatter.items(), MAX_FIELDS)}


def _read(entry: Any) -> tuple[Key, Approved] | None:
    match entry:
        case {"server": str(server), "runs": str(runs), "uri": str(uri), "files": dict(files)}:
            if all(isinstance(digest, str) for digest in files.values()):
                fields = {
                    name: one for name, one in object_in(entry, "fields").items() if isinstance(one, str)
                }
                return (server, runs, uri), Approved(files, entry.get("revoked") is not False, fields)
    return None


def _written(key: Key, approved: Approved) -> dict[str, Any]:
    server, runs, uri = key
    files = dict(approved.files)
    found = {"server": server, "runs": runs, "uri": uri, "files": files, "revoked": approved.revoked}
    return {**found, "fields": dict(approved.fields)}
