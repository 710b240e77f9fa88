"""What stands behind the keywords of the dialect `react`: names of tools, and inputs in any form. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tui.core.ports import ToolSpec
from tui.model.dialects.mend import Unreadable, mend, read_json
from tui.model.dialects.typed import keywords, properties_of, sole_property, typed

WORDS = ("thought", "action input", "action_input", "action", "observation", "final answer", "final_answer")
_LEAD = r"[ \t]*(?:#{1,6}[ \t]+)?"
_WORD = r"(thought|action[ _]input|action|observation|final[ _]answer)(?:[ \t]+\d{1,3})?"
_EMPHASIS = r"(\*{0,3}|_{0,2})"
_KEYWORD = re.compile(rf"{_LEAD}{_EMPHASIS}{_WORD}{_EMPHASIS}[ \t]*[:：]", re.IGNORECASE)
KEYWORD_LINE = re.compile(rf"\n{_LEAD}{_EMPHASIS}{_WORD}{_EMPHASIS}[ \t]*[:：]", re.IGNORECASE)
_NONE = re.compile(
    r"(?:none|n/?a|no action|no tool|nothing|null|-+)?(?: (?:needed|required|necessary))?[.!]?", re.I
)
_ANSWER = re.compile(r"(?:final[ _]?answer|finish|answer|respond)", re.IGNORECASE)
_APPLIED = re.compile(r"([\w./:-]{1,128})[ \t]*([(\[])")
_INLINE_INPUT = re.compile(r"[,;]?[ \t]*(?:\*\*)?Action[ _]Input(?:\*\*)?[ \t]*[:：]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword at the beginning of a line: which ("thought", "input", …), and the size of it all."""

    kind: str
    size: int


def keyword(head: str, *, ended: bool) -> Keyword | bool | None:
    """Return the keyword that `head` begins with, False if it has none, None if that cannot be told yet.

    Args:
        head: the beginning of a line.
        ended: nothing comes behind it.
    """
    found = _KEYWORD.match(head)
    if found is not None:
        end = found.end()
        if found[1] and not found[3]:  # the emphasis may be closed behind the colon
            rest = head[end : end + len(found[1])]
            if len(rest) < len(found[1]) and found[1].startswith(rest) and not ended:
                return None
            end += len(found[1]) if rest == found[1] else 0
        word = found[2].lower().replace("_", " ")
        return Keyword({"action input": "input", "final answer": "answer"}.get(word, word), end)
    line, newline, _ = head.partition("\n")
    if newline or ended or len(line) > 80:
        return False
    bare = line.lstrip(" \t#*_").lower()
    for word in WORDS:
        if word.startswith(bare) or (
            bare.startswith(word) and not bare.removeprefix(word).strip(" \t*_0123456789")
        ):
            return None
    return False


@dataclass(frozen=True, slots=True)
class Action:
    """What stands behind `Action:`.

    Attributes:
        name: of the tool, without marks around it.
        inner: what stands in brackets behind the name, or None.
        inline: where on the line an `Action Input:` begins whose text is on the same line; -1 if none does.
        bracket: offset of the bracket that opens `inner`, or -1.
    """

    name: str
    inline: int = -1
    bracket: int = -1

    @property
    def nothing(self) -> bool:
        """Whether the model says that it wants no tool."""
        return bool(_NONE.fullmatch(self.name))

    @property
    def answers(self) -> bool:
        """Whether the model takes answering for a tool."""
        return bool(_ANSWER.fullmatch(self.name))


def action(line: str) -> Action:
    """Return what a line behind `Action:` says."""
    inline = found.end() if (found := _INLINE_INPUT.search(line)) else -1
    name = line[: found.start()] if found else line
    bare = name.strip().strip("*`\"' \t").rstrip(".,;:").strip("*`\"' \t")
    lead = name.find(bare) if bare else 0
    applied = _APPLIED.match(bare)
    if applied is not None:
        return Action(applied[1], inline, lead + applied.start(2))
    return Action(bare.split("\n")[0][:200], inline)


def meant_by(text: str, tool: ToolSpec | None) -> tuple[Any, bool] | str:
    """Return the arguments that an input means and whether it took a guess, or what is wrong with it."""
    text = text.strip()
    schema: Mapping[str, Any] = tool.schema if tool else {}
    if _NONE.fullmatch(text.strip("`")) or text in ("{}", '""', "()"):
        return {}, False
    if text.startswith(("{", "```", "~~~")):
        try:
            mended = mend(text)
            return mended.value, mended.guessed
        except Unreadable as error:
            if text.startswith("{"):
                return f"the Action Input is not valid JSON ({error})"
            text = text.strip("`~ \n")
    sole = sole_property(schema)
    named = keywords(text)
    properties = properties_of(schema)
    if named and properties and all(name in properties for name in named):
        return named, False
    if sole:
        if named and list(named) == ["0"]:
            return {sole: named["0"]}, False
        return {sole: typed(_unquoted(text), properties[sole])}, False
    if named and properties and all(name.isdecimal() for name in named) and len(named) <= len(properties):
        return dict(zip(properties, named.values(), strict=False)), True
    return "the Action Input must be one JSON object"


def _unquoted(text: str) -> str:
    """Return `text` without the quotes or backticks around the whole of it."""
    if text[:1] == text[-1:] == '"':
        try:
            return str(read_json(text))
        except Unreadable:
            return text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'`" and text[0] not in text[1:-1]:
        return text[1:-1]
    return text
