"""A server's sampling request, or the reply to it, as text to read and edit: sections with headings. Pure.

Other content is named in its heading and cannot be edited.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from tui.core import units
from tui.core.attachments import decoded_size
from tui.core.language.translate import _, n_
from tui.core.secrets.encodings import standard_base64
from tui.core.text import clean, clean_line


def request_facts(params: Mapping[str, Any]) -> list[str]:
    """Return the settings of a request besides its texts, a few words each."""
    messages, tools = params.get("messages"), params.get("tools")
    most = clean_line(str(params.get("maxTokens")), 20)
    facts = [_("up to {n} tokens", n=most)]
    if isinstance(messages, list):
        facts.append(n_("{n} message", "{n} messages", len(messages)))
    if isinstance(tools, list) and tools:
        names = [clean_line(str(tool.get("name", "")), 30) for tool in tools if isinstance(tool, Mapping)]
        facts.append(n_("{n} tool: {names}", "{n} tools: {names}", len(tools), names=", ".join(names[:6])))
    if params.get("includeContext") not in (None, "none"):
        facts.append(_("without the requested server context"))
    return facts


def facts_of(params: Mapping[str, Any], reply: object) -> str:
    """Return what to know about a request, or about its reply if there is one."""
    if reply is not None:
        return _("The server gets exactly this text.")
    return _(", ").join(request_facts(params))


RULE = "──"
_HEADING = re.compile(r"^── .*$", re.M)
EDITED = 16_000
"""Maximum weight of editable text. An editor lays out all of it at once, which delays keys."""

ON_SCREEN, LINES_ON_SCREEN = 100_000, 5_000
"""Maximum characters and lines to show of text that is not editable."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a request or reply; `path` leads to its text, () if it cannot be edited."""

    heading: str
    text: str
    path: tuple[str | int, ...] = ()


def sections_of(params: Mapping[str, Any]) -> Iterator[Section]:
    """Yield the sections of the parameters of a request, or of a reply."""
    if isinstance(system := params.get("systemPrompt"), str):
        yield Section("system", system, ("systemPrompt",))
    messages = params.get("messages")
    if isinstance(messages, list):
        for number, message in enumerate(messages):
            if isinstance(message, Mapping):
                role = clean_line(str(message.get("role", "")), 20)
                yield from _blocks(message.get("content"), role, ("messages", number, "content"))
    elif "content" in params:
        yield from _blocks(params["content"], _("reply"), ("content",))


def _blocks(content: Any, role: str, path: tuple[str | int, ...]) -> Iterator[Section]:
    several = isinstance(content, list)
    for number, block in enumerate(content if isinstance(content, list) else [content]):
        here = (*path, number) if several else path
        kind = block.get("type") if isinstance(block, Mapping) else None
        if kind == "text" and isinstance(text := block.get("text"), str):
            yield Section(role, text, (*here, "text"))
        elif kind in ("image", "audio"):
            size = decoded_size(standard_base64(str(block.get("data", ""))))
            mime = clean_line(str(block.get("mimeType", "")), 40)
            yield Section(f"{role}: {kind} {mime}, {units.size(size)}", "")
        else:
            shown = json.dumps(block, ensure_ascii=False, default=str)[: ON_SCREEN + 1]
            yield Section(f"{role}: {clean_line(str(kind), 40)}", shown)


def is_editable(params: Mapping[str, Any]) -> bool:
    """Return whether a request or reply is short enough for an editor."""
    left = EDITED
    for one in sections_of(params):
        left -= 20 + len(one.text) * (1 if one.text.isascii() else 4) + 20 * one.text.count("\n")
        if left < 0:
            return False
    return True


def text_of(sections: Iterable[Section]) -> str:
    """Return the sections as one text, cleaned."""
    return "\n".join(f"{RULE} {one.heading}\n{_shown(one.text)}" for one in sections)


def _shown(text: str) -> str:
    """Return a cleaned text, with lines indented that look like a heading."""
    return re.sub(rf"^{RULE}", f" {RULE}", clean(text), flags=re.M)


def changed(params: Mapping[str, Any], text: str) -> tuple[Mapping[str, Any], str]:
    """Return `params` with the edited texts, and the problem of `text`, or ""."""
    sections = list(sections_of(params))
    if text == text_of(sections):
        return params, ""
    headings = [line.group().removeprefix(RULE).strip() for line in _HEADING.finditer(text)]
    parts = [part.removeprefix("\n") for part in _HEADING.split(text)[1:]]
    if headings != [one.heading.strip() for one in sections]:
        return params, f"Do not change lines that start with {RULE}."
    result: Any = deepcopy(dict(params))
    for number, (section, part) in enumerate(zip(sections, parts, strict=True)):
        new = part if number == len(sections) - 1 else part.removesuffix("\n")
        if not section.path or new == _shown(section.text):
            continue
        *way, last = section.path
        holder = result
        for step in way:
            holder = holder[step]
        holder[last] = new
    return result, ""
