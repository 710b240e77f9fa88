"""The entry of a skill in `skills/list` and `skills/get`: its front matter and its manifest. Pure.

Everything here comes from a server and is not cleaned, except the reasons why a skill is declined.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tui.addons.skills.uris import SKILL_FILE, path_below, path_of, uri_fault
from tui.core.context.skill_texts import DYNAMIC
from tui.core.language.translate import message
from tui.core.text import clean_line, mapping, quoted_name, text_in

MAX_FILES = 512
MAX_BYTES = 16 * 1024 * 1024
"""The limits that the extension fixes: a host must support skills of this size."""

MAX_NAME, MAX_DESCRIPTION = 64, 1_024
"""Characters, from the Agent Skills specification."""

MAX_FRONT_MATTER = 64 * 1024
"""Characters of the front matter."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A file of a manifest: its URI, `sha256:…` of its bytes, and their number."""

    uri: str
    digest: str
    size: int


@dataclass(frozen=True)
class SkillEntry:
    """A skill that a server serves. `server` and `uri` together identify it; its name does not.

    Attributes:
        server: the name of the server in the configuration, never the one that it gives itself.
        uri: of its SKILL.md.
        frontmatter: as the server sends it, JSON.
        files: its manifest; None if the skill is dynamic, so that nothing can be compared.
        declined: why it is never loaded, as sentences, or "".
    """

    server: str
    uri: str
    frontmatter: Mapping[str, Any] = field(hash=False)
    files: tuple[SkillFile, ...] | None
    declined: str = ""

    @property
    def name(self) -> str:
        return text_in(self.frontmatter, "name")

    @property
    def description(self) -> str:
        return text_in(self.frontmatter, "description")

    @property
    def folder(self) -> str:
        """The URI of its folder, without a slash at the end."""
        return self.uri.removesuffix(f"/{SKILL_FILE}")

    @property
    def path(self) -> str:
        """Its folder without the scheme, such as "acme/billing/refunds": two skills may have one name."""
        return path_of(self.folder)

    @property
    def is_dynamic(self) -> bool:
        return self.files is None

    @property
    def size(self) -> int:
        """The bytes of all files together, 0 if it is dynamic."""
        return sum(one.size for one in self.files or ())

    @cached_property
    def by_path(self) -> Mapping[str, SkillFile]:
        """Its files by their decoded path below its folder."""
        return {path_below(self.folder, one.uri): one for one in self.files or ()}

    @property
    def nested(self) -> tuple[str, ...]:
        """The paths of the SKILL.md of other skills inside its folder."""
        return tuple(path for path in self.by_path if path.endswith(f"/{SKILL_FILE}"))


def entry_of(server: str, raw: Any) -> SkillEntry:
    """Return the entry of a raw one. Raises ValueError with a sentence if it describes no skill at all."""
    said = mapping(raw)
    uri, frontmatter = said.get("uri"), said.get("frontmatter")
    if not isinstance(uri, str) or not uri:
        raise ValueError(message("An entry without a URI was omitted."))
    shown = clean_line(uri, 200)
    if not isinstance(frontmatter, Mapping):
        raise ValueError(message("The entry {shown} was omitted: it has no front matter.", shown=shown))
    if not text_in(frontmatter, "name") or not text_in(frontmatter, "description"):
        raise ValueError(
            message(
                "The entry {shown} was omitted: its front matter has no name or no description.", shown=shown
            )
        )
    if len(uri) > MAX_LONGEST or not _is_small(frontmatter):
        raise ValueError(
            message("The entry {shown} was omitted: its front matter or its URI is too long.", shown=shown)
        )
    found = SkillEntry(server, uri, frontmatter, None)
    declined = _fault_of_name(found)
    files: tuple[SkillFile, ...] | None = None
    if said.get("resources") != DYNAMIC:
        files, fault = _files(found, said.get("resources"))
        declined = declined or fault
    return SkillEntry(server, uri, frontmatter, files, declined)


MAX_LONGEST = 8_192
"""Characters of a URI that is shown at all."""


def _is_small(frontmatter: Mapping[str, Any]) -> bool:
    try:
        return len(json.dumps(frontmatter, ensure_ascii=False)) <= MAX_FRONT_MATTER
    except (TypeError, ValueError, RecursionError):
        return False


def _fault_of_name(entry: SkillEntry) -> str:
    """Return why a name, a description or a URI is invalid, as a sentence, or ""."""
    name = entry.name
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        shown = quoted_name(name, MAX_NAME)
        return message(
            "Its name {shown} is invalid: use up to {limit} of a-z, 0-9 and single hyphens.",
            shown=shown,
            limit=MAX_NAME,
        )
    if len(entry.description) > MAX_DESCRIPTION:
        return message("Its description is longer than {limit:,} characters.", limit=MAX_DESCRIPTION)
    if fault := uri_fault(entry.uri):
        return message("Its URI {problem}.", problem=fault)
    if entry.folder == entry.uri:
        return message("Its URI does not end with /{file}.", file=SKILL_FILE)
    if entry.path.rpartition("/")[2] != name:
        return message(
            "Its name is {name}, but its folder is {folder}.",
            name=name,
            folder=clean_line(entry.path.rpartition("/")[2], 80),
        )
    return ""


def _files(entry: SkillEntry, listed: Any) -> tuple[tuple[SkillFile, ...], str]:
    """Return the files of a manifest, and why it is invalid, as a sentence, or ""."""
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return (), message("Its entry has no list of files.")
    if len(listed) > MAX_FILES:
        return (), message(
            "It has {count:,} files, and the limit is {limit}.", count=len(listed), limit=MAX_FILES
        )
    found: dict[str, SkillFile] = {}
    for raw in listed:
        said = mapping(raw)
        uri, digest, size = said.get("uri"), said.get("digest"), said.get("size")
        if not isinstance(uri, str):
            return (), message("Its manifest has a file without a URI.")
        shown = clean_line(uri, 120)
        if fault := uri_fault(uri):
            return (), message(
                "Its manifest has a file whose URI {problem}: {shown}", problem=fault, shown=shown
            )
        if not (path := path_below(entry.folder, uri)):
            return (), message("Its manifest has a file outside of its folder: {shown}", shown=shown)
        if path in found:
            return (), message("Its manifest has a file twice: {shown}", shown=shown)
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            return (), message("Its manifest has no valid SHA-256 digest for {shown}", shown=shown)
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            return (), message("Its manifest has no valid size for {shown}", shown=shown)
        found[path] = SkillFile(uri, digest, size)
    if SKILL_FILE not in found or found[SKILL_FILE].uri != entry.uri:
        return (), message("Its manifest does not contain its {file}.", file=SKILL_FILE)
    files = tuple(found.values())
    if (total := sum(one.size for one in files)) > MAX_BYTES:
        return files, message(
            "Its files have {total:,} bytes, and the limit is {limit:,}.",
            total=total,
            limit=MAX_BYTES,
        )
    return files, ""
