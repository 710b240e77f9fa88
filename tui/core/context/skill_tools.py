"""mcptui's own tools for skills: the model knows names and descriptions, and loads what it needs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from tui.core.context.built_in_tools import built_in, built_in_tool, number_property, text_property
from tui.core.context.skill_texts import (
    LIST_SKILLS,
    LOAD_SKILL,
    READ_SKILL_FILE,
    SKILL_FILE,
    SkillFiles,
    SkillMark,
)
from tui.core.errors import McptuiError
from tui.core.text import clean_line, fold, quoted_name
from tui.core.time_limits import NO_CLOCKS, Pausable
from tui.core.tools import TextContent, Tool, ToolResult
from tui.core.units import octets, plural

MAX_CHARS, MIN_CHARS = 6_000, 400
WINDOW_SHARE = 0.1
"""Characters of names and descriptions in a definition, and their number for each token of the window: about
a tenth of what all tools may take."""

DESCRIPTIONS = (240, 80, 0)
"""Characters of each description, as many as fit."""

PAGE = 100
"""Skills in one page of a list."""

LEAST_PAGE = 256


@dataclass(frozen=True, slots=True)
class SkillInfo:
    """A skill that a server lists. `name` is unique on its server: its path if others have its name."""

    server: str
    name: str
    uri: str
    description: str


class SkillSource(Protocol):
    """The skills that a model may load. Failures are `McptuiError`; none holds a file that did not match."""

    def servers(self) -> Sequence[str]:
        """Return the running servers that serve skills."""

    def skills(self) -> Sequence[SkillInfo]:
        """Return what they have listed so far, by server."""

    async def list_now(self) -> None:
        """Wait until the servers have listed their skills, briefly. Reads no file."""

    async def refusal(self, server: str, skill: str, clocks: Pausable) -> str:
        """Ask the user about a skill unless it is approved; return why it may not be loaded, or "".

        `skill` is its name, path or URI. The `clocks` stand still while the user is asked.
        """

    async def load(self, server: str, skill: str, clocks: Pausable) -> SkillFiles:
        """Return a skill that may be loaded. If it has just changed, the user is asked again."""

    async def read(self, mark: SkillMark, path: str) -> tuple[SkillFiles, str, str]:
        """Return a loaded skill, the path of a file in its manifest, and its text without secrets."""


@dataclass(frozen=True, slots=True)
class SkillTools:
    """See `built_in_tools.OwnTools`.

    Attributes:
        loaded: returns the skills whose text is in the conversation.
        page_bytes: returns how many bytes of a text fit into a result.
        window: returns the tokens that the model accepts, None if unknown.
    """

    source: SkillSource
    loaded: Callable[[], Sequence[SkillMark]]
    page_bytes: Callable[[str], int]
    window: Callable[[], int | None]

    def tools(self, server: str) -> Iterator[Tool]:
        servers = self.source.servers()
        if not servers:
            return
        window = self.window()
        room = MAX_CHARS if window is None else int(window * WINDOW_SHARE)
        listed, left_out = named_skills(self.source.skills(), max(MIN_CHARS, min(MAX_CHARS, room)))
        names = ", ".join(clean_line(name, 64) for name in servers)
        whose = text_property(f"Name of the server, one of: {names}")
        more = f" {plural(left_out, 'more skill')}: see {LIST_SKILLS}." if left_out else ""
        which = text_property(f"Name or URI of the skill. {listed or 'None are listed.'}{more}")
        yield built_in_tool(
            server,
            LOAD_SKILL,
            "Load a skill of a server: instructions for a kind of task, written by that server. Load one if "
            "its description fits the task. The user may be asked first.",
            {"server": whose, "skill": which},
            "server",
            "skill",
            pinned=True,
        )
        yield built_in_tool(
            server,
            READ_SKILL_FILE,
            "Read a file of a skill that is loaded in this conversation.",
            {
                "server": whose,
                "skill": text_property("Name or URI of the loaded skill"),
                "path": text_property("Path of the file in the folder of the skill, such as references/x.md"),
                "offset": number_property("Character offset to start at (default: 0)"),
            },
            "server",
            "skill",
            "path",
            pinned=True,
        )
        if left_out:
            yield built_in_tool(
                server,
                LIST_SKILLS,
                "List skills of a server: URI, name and description.",
                {
                    "server": whose,
                    "grep": text_property("Return only skills that contain this text (case-insensitive)"),
                    "offset": number_property("Index of the first skill (default: 0)"),
                },
                "server",
                pinned=True,
            )

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], clocks: Pausable = NO_CLOCKS
    ) -> ToolResult | None:
        if (name := built_in(tool)) not in (LOAD_SKILL, READ_SKILL_FILE, LIST_SKILLS):
            return None
        server = arguments["server"]
        if server not in (known := self.source.servers()):
            names = ", ".join(clean_line(one, 64) for one in known) or "none"
            return ToolResult.failed(
                f"no skills from {quoted_name(server, 64)}. Servers with skills: {names}"
            )
        try:
            if name == LIST_SKILLS:
                return _result(self._list(arguments))
            if name == LOAD_SKILL:
                found = await self.source.load(server, arguments["skill"], clocks)
                return _result(self._page(found, SKILL_FILE, found.text, 0))
            found, path, text = await self.source.read(
                self._mark(server, arguments["skill"]), arguments["path"]
            )
            return _result(self._page(found, path, text, arguments.get("offset") or 0))
        except McptuiError as error:
            return ToolResult.failed(str(error))

    def _mark(self, server: str, skill: str) -> SkillMark:
        """Return the loaded skill with this name, path or URI, the newest of several."""
        for mark in reversed(self.loaded()):
            folder = mark.uri.removesuffix(f"/{SKILL_FILE}").partition("://")[2]
            if mark.server == server and not mark.is_file and skill in (mark.name, folder, mark.uri):
                return mark
        which = f"{quoted_name(skill, 80)} of the server {quoted_name(server, 60)}"
        message = f"The skill {which} is not loaded in this conversation."
        raise McptuiError(message, next_step=f"Load it with {LOAD_SKILL} first.")

    def _page(self, found: SkillFiles, path: str, text: str, offset: int) -> str:
        """Return the part of a text that fits into a result, from an offset on."""
        if offset and offset >= len(text):
            raise McptuiError(f"{path} has {len(text):,} characters; offset {offset:,} is past the end.")
        frame = octets(found.labelled("", path=path)) + LEAST_PAGE
        rest = text[offset:]
        room = max(LEAST_PAGE, self.page_bytes(rest) - frame)
        piece = rest.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
        end, shown = offset + len(piece), found.labelled(piece, path=path)
        if end < len(text):
            how = f"call {READ_SKILL_FILE} with path {quoted_name(path, 400)} and offset {end}"
            shown += f"\n[characters {offset:,} to {end:,} of {len(text):,}; to read on, {how}]"
        return shown

    def _list(self, arguments: Mapping[str, Any]) -> str:
        wanted = fold(arguments.get("grep") or "")
        skills = [one for one in self.source.skills() if one.server == arguments["server"]]
        lines = [line for one in skills if wanted in fold(line := f"{one.uri}  {_line(one, 300)}")]
        start = arguments.get("offset") or 0
        shown = lines[start : start + PAGE]
        if start + PAGE < len(lines):
            shown.append(f"[more: offset {start + PAGE} of {len(lines):,}]")
        return "\n".join(shown) or "(no skills)"


def _result(text: str) -> ToolResult:
    return ToolResult((TextContent(text),))


def named_skills(skills: Sequence[SkillInfo], room: int) -> tuple[str, int]:
    """Return names and descriptions by server in at most `room` characters, and how many are left out.

    Descriptions become shorter before names are left out.
    """
    kept = list(skills[: room // 3])  # a name takes at least three characters
    for chars in DESCRIPTIONS if len(kept) == len(skills) else ():
        text = _by_server(skills, chars)
        if len(text) <= room:
            return text, 0
    while kept and len(_by_server(kept, 0)) > room:
        kept = kept[: len(kept) * 3 // 4]
    return _by_server(kept, 0), len(skills) - len(kept)


def _by_server(skills: Sequence[SkillInfo], chars: int) -> str:
    parts = [
        f"{clean_line(server, 64)}: {'; '.join(_line(one, chars) for one in group)}."
        for server, group in groupby(skills, key=lambda one: one.server)
    ]
    return " ".join(parts)


def _line(one: SkillInfo, chars: int) -> str:
    """Return a name and a description, in quotes so that it does not read as a skill of another server."""
    name = clean_line(one.name, 200)
    return f"{name} ({quoted_name(one.description, chars)})" if chars and one.description else name
