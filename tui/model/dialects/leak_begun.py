"""Leaked calls of which so little came that they have no form yet. Pure.

The model was cut off while it wrote which tool it means. Nothing of it can run, but it is no answer either.
"""

import re

from tui.model.dialects.leak_forms import UNKNOWN, Found, Scene

_MARK = r"(?:<[^<>\n]{0,60}>?|\[TOOL_CALLS\]|commentary to=)"
_GAP = r"(?:[ \t]*\n\s*|[ \t]+(?=[\[{<]|\Z))?"
_WORD = r"[^\s<`]{1,140}(?:\s+(?:to=[^\s<`]{0,128}|j\w{0,3}))?"
_HEADER = re.compile(
    rf"(?:{_MARK}{_GAP}){{1,4}}(?:{_WORD})?(?:\s*(?:{_MARK}|`{{1,3}}){_GAP}(?:{_WORD})?){{0,3}}\s*\Z"
)
"""Nothing but marks and words between them; behind a blank comes a word of a sentence."""

_SPECIAL = re.compile(r"<[|｜‖]|<[\w:]{1,30}(?:=| name=)|\[TOOL_CALLS\]|commentary to=")
"""Marks that no sentence ends with, if the name of a tool follows."""

_CHANNEL = re.compile(r"<\|(?:start|channel)\|>(?!.*\bto=)", re.DOTALL)
_NAME = re.compile(r"[\w./-]{1,128}")
_MOST = 400


def begun_form(text: str, at: int, scene: Scene) -> Found | None:
    """Read marks with so little behind them that it is no answer.

    Models end sentences with the name of a tag. So only a reply that the endpoint cut off, or a special mark
    with the name of a tool, is taken for a call.
    """
    if len(text) - at > _MOST or _CHANNEL.match(text, at) or not _HEADER.match(text, at):
        return None
    named = (scene.tool(word.group()) for word in _NAME.finditer(text, at))
    tool = next(filter(None, named), UNKNOWN)
    if not scene.cut and (tool is UNKNOWN or not _SPECIAL.search(text, at)):
        return None
    return scene.lost(text, at, tool)
