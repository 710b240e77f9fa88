"""Native calls that leak as tags, one for each parameter: Qwen, MiniMax, DeepSeek's DSML, Llama, Kimi. Pure.

Values are plain text, so a closing tag in a value looks like the one that ends it. It ends the value only if
it closes no tag that the value opened, and the next parameter or the end of the call follows.
"""

import re
from collections.abc import Mapping
from typing import Any

from tui.core.ports import ToolSpec
from tui.model.dialects.argument_repair import UnreadableJson, mend, properties_of, span, typed
from tui.model.dialects.leaked_call_forms import NAME, Leak, LeakContext

_D = r"(?:\s*[|｜‖]*\s*DSML\s*[|｜‖]*\s*)?(?:[a-z_]{1,20}:)?"
_WRAPPER = rf"<{_D}(?:tool_calls?|function_calls?)\s*>"
_OPENER = re.compile(
    rf"(?:{_WRAPPER}\s*){{0,4}}<(?P<dsml>{_D})(?:function|invoke|tool)"
    r"(?:\s*=\s*[\"']?(?P<bare>[\w.:/-]{1,128})[\"']?|\s+name\s*=\s*[\"']?(?P<named>[^\"'>\s]{1,128})[\"']?)"
    r"(?P<rest>[^<>{}]{0,200})>"
)
_PARAMETER = re.compile(
    rf"\s*<{_D}parameter(?:\s*=\s*[\"']?(?P<bare>[^\"'>]{{1,200}}?)[\"']?"
    r"|\s+name\s*=\s*[\"']?(?P<named>[^\"'>]{1,200}?)[\"']?)(?P<rest>(?:\s[^>]{0,200})?)>"
)
_ANY_PARAMETER = re.compile(rf"<(?P<close>/)?{_D}parameter(?(close)\s*|[\s=][^>]{{0,400}})>")
_BOUNDARY = re.compile(
    rf"\s*(?:<{_D}parameter[\s=]|</{_D}(?:function|invoke|tool|tool_calls?|function_calls?)\s*>|\Z)"
)
_BRACKET = re.compile(r"[(\[]\s*(?={)")
_BRACKETS = re.compile(r"\s*[)\]]+")
_END = re.compile(
    rf"\s*</{_D}(?:function|invoke|tool)\s*>"
    rf"|\s*(?=</{_D}(?:tool_calls?|function_calls?)\s*>)"
)
_BREAKS = re.compile(r"\A\r?\n|\r?\n\Z")
_STRING = re.compile(r"string\s*=\s*[\"']?(true|false)")


def tag_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read a call between tags, its parameters between tags or as one JSON object."""
    opener = _OPENER.match(text, at)
    tool = scene.tool(opener["bare"] or opener["named"]) if opener else None
    if opener is None or tool is None:
        return None
    inner = re.compile(r"\s*").match(text, opener.end())
    start = inner.end() if inner else opener.end()
    if opener["rest"].rstrip().endswith("/"):
        return Leak(opener.end(), (scene.maker.of_value(tool.name, {}, recovered=True),))
    if (bracket := _BRACKET.match(text, start)) is not None:
        read = _json_body(text, bracket.end())
        if read is not None and (behind := _BRACKETS.match(text, read[1])) is not None:
            read = (read[0], behind.end())
    elif text.startswith("{", start):
        read = _json_body(text, start)
    else:
        read = _parameters(text, opener.end(), tool, exact="DSML" in opener["dsml"], cut=scene.cut)
    if read is None:
        whole = span(text, start) if text.startswith("{", start) else -1
        return scene.lost(text, start, None if whole >= 0 and text[whole:].strip() else tool)
    return scene.between_tags(text, start, tool, *read, _END)


def _json_body(text: str, start: int) -> tuple[Any, int] | None:
    end = span(text, start)
    try:
        return (mend(text[start:end]).value, end) if end >= 0 else None
    except UnreadableJson:
        return None


def _parameters(
    text: str, at: int, tool: ToolSpec, *, exact: bool, cut: bool
) -> tuple[dict[str, Any], int] | None:
    """Return the parameters from `at` on and where they end; None if one of them has no end."""
    properties = properties_of(tool.schema)
    values: dict[str, Any] = {}
    while (opener := _PARAMETER.match(text, at)) is not None:
        ends = _value_end(text, opener.end(), properties, cut)
        if ends is None:
            return None
        value = text[opener.end() : ends[0]]
        name = (opener["bare"] or opener["named"]).strip()
        at = ends[1]
        said = _STRING.search(opener["rest"])
        if not exact:  # without the line breaks next to the tags
            value = _BREAKS.sub("", value)
        values.setdefault(name, value if said and said[1] == "true" else typed(value, properties.get(name)))
    return values, at


def _value_end(text: str, start: int, properties: Mapping[str, Any], cut: bool) -> tuple[int, int] | None:
    """Return where a value and its closing tag end, or None.

    Tags that the value opens are counted first. If that finds no end, one of them was only a word, or the
    next parameter after an unclosed one; or the reply was truncated (`cut`).
    """
    depth = 0
    first: tuple[int, int] | None = None
    for found in _ANY_PARAMETER.finditer(text, start):
        if not found["close"]:
            depth += 1
            continue
        if _BOUNDARY.match(text, found.end()):
            if not depth:
                return found.start(), found.end()
            first = first or (found.start(), found.end())
        depth = max(0, depth - 1)
    if cut or first is None:
        return None
    for found in _ANY_PARAMETER.finditer(text, start, first[0]):
        opener = _PARAMETER.match(text, found.start())
        if opener and (opener["bare"] or opener["named"]) in properties:
            return found.start(), found.start()
    return first


# ---- Kimi K3: <|open|>call tool="name"<|sep|>, and <|open|>argument key="key" type="type"<|sep|> for each

_XTML = re.compile(
    r"<\|open\|>\s*(?:tools\s*(?:<\|sep\|>\s*<\|open\|>\s*)?)?call\s+tool=\""
    rf"(?:functions\.)?({NAME})\"[^<>]{{0,60}}<\|sep\|>"
)
_XTML_ARGUMENT = re.compile(
    r"\s*<\|open\|>\s*argument\s+key=\"([^\"]{1,200})\"(?:\s+type=\"(\w{1,20})\")?[^<>]{0,60}<\|sep\|>"
    r"(.*?)<\|close\|>\s*argument\s*<\|sep\|>",
    re.DOTALL,
)
_XTML_END = re.compile(r"\s*<\|close\|>\s*call\s*<\|sep\|>(?:\s*<\|close\|>\s*tools\s*<\|sep\|>)?")


def xtml_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read a call of Kimi K3; the type beside a value says whether it is text or JSON."""
    opener = _XTML.match(text, at)
    tool = scene.tool(opener[1]) if opener else None
    if opener is None or tool is None:
        return None
    properties, values, end = properties_of(tool.schema), dict[str, Any](), opener.end()
    while (found := _XTML_ARGUMENT.match(text, end)) is not None:
        value = found[3] if found[2] == "string" else typed(found[3], properties.get(found[1]))
        values.setdefault(found[1], value)
        end = found.end()
    if (closed := _XTML_END.match(text, end)) is None:
        return scene.lost(text, opener.end(), tool)
    return Leak(closed.end(), (scene.maker.of_value(tool.name, values, recovered=True),))
