"""Harmony, the form of gpt-oss, as it leaks into text: channels with a message each, marked or not. Pure.

`analysis` is thinking, `final` and `commentary` are said, and `commentary to=functions.x` is a call. Some
servers strip the marks, and `analysis…assistantfinal…` is what is left.
"""

import re

from tui.core.ports import ReasoningPart, TextPart
from tui.model.dialects.leak_forms import NAME, Found, Item, Scene
from tui.model.dialects.mend import Unreadable, mend
from tui.model.dialects.reader import span

_HEADER = re.compile(
    rf"(?:<\|start\|>\s*(?:assistant|functions\.[\w.-]+)?(?:\s*to=(?P<before>{NAME}))?\s*)?"
    rf"<\|channel\|>\s*(?P<channel>analysis|commentary|final)(?:\s*to=(?P<behind>{NAME}))?"
    r"\s*(?:<\|constrain\|>\s*)?(?:json|code)?\s*<\|message\|>"
)
_END = re.compile(r"\s*<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)|\Z")
_TERMINATOR = re.compile(r"\s*<\|(?:end|call|return)\|>")
_STRIPPED = re.compile(r"\s*(?:assistant)?(?P<channel>analysis|commentary|final)")
_NEXT = re.compile(r"(?:assistant)(?=analysis|commentary|final)")
_TO = re.compile(rf"\s*to=({NAME}?)\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*(?={{)")


def channel_form(text: str, at: int, scene: Scene) -> Found | None:
    """Read messages of channels with their marks, one behind the other."""
    items: list[Item] = []
    begun = at
    while (header := _HEADER.match(text, at)) is not None:
        name = header["before"] or header["behind"] or ""
        start = header.end()
        if name:
            found = _call(text, start, name, scene)
            if found is None:
                return Found(at, tuple(items)) if items else Found(len(text), ())
            items.extend(found.items)
            closed = _TERMINATOR.match(text, found.end)
            at = closed.end() if closed else found.end
            continue
        end = _END.search(text, start)
        assert end is not None
        items.extend(_said(header["channel"], text[start : end.start()]))
        at = end.end()
    return Found(at, tuple(items)) if at > begun else None  # empty messages are text, and read only once


def stripped_form(text: str, at: int, scene: Scene) -> Found | None:
    """Read messages of channels whose marks were stripped; the first one must be thinking or a call."""
    items: list[Item] = []
    known = 0
    while (header := _STRIPPED.match(text, at)) is not None:
        start = header.end()
        to = _TO.match(text, start)
        if to is not None and header["channel"] != "final":
            found = _call(text, to.end(), to[1], scene)
            if found is None:
                break
            items.extend(found.items)
            at, known = found.end, known + 1
            continue
        following = _NEXT.search(text, start)
        if following is None and header["channel"] != "final":
            break
        end = following.start() if following else len(text)
        items.extend(_said(header["channel"], text[start:end]))
        at = end
        if header["channel"] == "final":
            known += 1
    return Found(at, tuple(items)) if known else None


def _said(channel: str, text: str) -> list[Item]:
    text = text.strip()
    if not text:
        return []
    return [ReasoningPart(text) if channel == "analysis" else TextPart(text)]


def _call(text: str, start: int, name: str, scene: Scene) -> Found | None:
    """Read the call of a tool whose arguments begin at `start`."""
    tool = scene.tool(name) or scene.tool(name.removesuffix("json")) or scene.tool(name.removesuffix("code"))
    if tool is None:
        return None
    start += len(text[start:]) - len(text[start:].lstrip())
    end = span(text, start) if text.startswith("{", start) else -1
    if end < 0:
        cut = text.startswith("{", start) or start >= len(text)
        return scene.lost(text, start, tool) if cut else None
    try:
        value = mend(text[start:end]).value
    except Unreadable:
        return None if text[end:].strip() else scene.lost(text, start, tool)
    return Found(end, (scene.maker.of_value(tool.name, value, recovered=True),))
