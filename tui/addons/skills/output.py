"""What `mcptui skill` and `mcptui list SERVER skills` print: skills, manifests and results of comparisons.

Everything is cleaned, and configured secrets are redacted before it comes here.
"""

import json
from collections.abc import Mapping
from typing import Any

from tui.addons.skills.entry import SkillEntry, SkillFile
from tui.addons.skills.problem import SkillProblem
from tui.addons.skills.server_skills import SkillListing
from tui.addons.skills.uris import path_below
from tui.commands.streams import on_terminal, width
from tui.commands.table import Columns, lines_at, table
from tui.core.text import clean_line
from tui.core.units import plural, size
from tui.runtime.runtime import Runtime

Compared = list[tuple[str, int, SkillProblem | None]]
"""The path of each file, its size in the manifest, and why it was not used."""

_DESCRIPTION = 160
_PATH = 200
_FILES = ("size", "digest", "path")
IGNORED = ("allowed-tools", "hooks")
"""Fields of front matter that ask for permissions or run something. mcptui never acts on them."""


async def listed(runtime: Runtime, server: str) -> tuple[list[Any], list[str], str]:
    """Return the skills of a server as JSON and as lines, and a problem, or ""."""
    assert runtime.skills is not None
    try:
        listing = await runtime.skills.servers.listing(server, call="hand-list")
    except SkillProblem as problem:
        return [], [], str(problem)
    listing = runtime.host.around.redaction.value(listing)
    items = [as_object(one) for one in listing.entries]
    return items, listing_lines(listing), " ".join(listing.problems)


def as_object(entry: SkillEntry) -> dict[str, Any]:
    """Return an entry as JSON, in the words of the extension, with `declined` if it is never loaded."""
    files = entry.files
    resources: Any = "dynamic"
    if files is not None:
        resources = [{"uri": one.uri, "digest": one.digest, "size": one.size} for one in files]
    found = {"uri": entry.uri, "frontmatter": dict(entry.frontmatter), "resources": resources}
    return found | ({"declined": entry.declined} if entry.declined else {})


def listing_lines(listing: SkillListing) -> list[str]:
    """Return lines about each skill: its label, how large it is, and what it is for."""
    lines = []
    for entry in listing.entries:
        lines.append(f"{clean_line(listing.label(entry), 120)}  {extent(entry)}".rstrip())
        lines.append(f"    {clean_line(entry.description, _DESCRIPTION)}")
        if entry.declined:
            lines.append(f"    cannot be loaded: {clean_line(entry.declined, 300)}")
        elif entry.nested:
            lines.append(f"    contains {plural(len(entry.nested), 'other skill')}")
    return lines


def extent(entry: SkillEntry) -> str:
    """Return how many files a skill has, and how large they are together; "" if its manifest is invalid."""
    if entry.files is None:
        return "dynamic"
    if not entry.files:
        return ""
    return f"{plural(len(entry.files), 'file')}, {size(entry.size)}"


def head_lines(entry: SkillEntry) -> list[str]:
    """Return lines about a skill: where it is from, its front matter and its manifest."""
    lines = [f"skill {clean_line(entry.name, 80)} of {clean_line(entry.server, 80)}"]
    lines += [f"  {clean_line(entry.uri, 400)}", "", "front matter", *_fields(entry.frontmatter), ""]
    if entry.files is None:
        return [*lines, "files: dynamic, so they cannot be compared with a manifest"]
    if not entry.files:
        return [*lines, "files: no valid manifest"]
    lines.append(f"files ({extent(entry)})")
    rows = [(size(one.size), one.digest[:19], _path(entry, one)) for one in entry.files]
    lines.append(table(rows, (1, 2), width(), head=_FILES if on_terminal() else (), indent="  "))
    return [*lines, *(["", "contains other skills, which are not loaded with it"] if entry.nested else [])]


def _path(entry: SkillEntry, file: SkillFile) -> str:
    return clean_line(path_below(entry.folder, file.uri), _PATH)


def _fields(frontmatter: Mapping[str, Any]) -> list[str]:
    lines = []
    for name, value in frontmatter.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        note = "  (ignored)" if name in IGNORED else ""
        lines.append(f"  {clean_line(name, 80)}: {clean_line(text, 1_100)}{note}")
    return lines


def compared_lines(found: Compared) -> list[str]:
    """Return lines about each file, and how many of them match."""
    rows = [(_outcome(problem), size(octets), clean_line(path, _PATH)) for path, octets, problem in found]
    columns, said = Columns.of(rows, (0, 2), width(), indent="  "), list[str]()
    for row, (*_, problem) in zip(rows, found, strict=True):
        said += columns.lines(row)
        said += lines_at(clean_line(problem.message, 600), width(), "    ") if problem else []
    matching = sum(problem is None for *_, problem in found)
    verb = "matches" if matching == 1 else "match"
    return [*said, f"{matching} of {plural(len(found), 'file')} {verb} the server's manifest"]


def compared_object(entry: SkillEntry, found: Compared, why: str) -> dict[str, Any]:
    """Return which files of a skill match, as JSON; `why` says that none can be compared, or is ""."""
    files = []
    for path, octets, problem in found:
        said = {"problem": problem.message} if problem else {}
        files.append({"path": path, "size": octets, "result": _outcome(problem)} | said)
    matches = not why and all(problem is None for *_, problem in found)
    return {"uri": entry.uri, "matches": matches, "files": files, "problem": why}


def _outcome(problem: SkillProblem | None) -> str:
    return "matches" if problem is None else "differs" if problem.is_stale else "not read"
