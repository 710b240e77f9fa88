"""A session as Markdown: text unchanged, calls and results as code. Pure.

The Markdown of models stays Markdown, but cannot imitate the page: headings are demoted, fences closed, HTML
is escaped, images become links. A parser verifies that. Text that is still unsafe is shown as code.
"""

import json
import re
from collections.abc import Iterator

from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.core.text import clean, clean_line
from tui.core.turn.prepared_calls import shown_result
from tui.core.turn.turn_endings import words_of
from tui.core.units import duration, size
from tui.storage.exports.markdown import escaped, fenced
from tui.storage.sessions.transcript import SessionTranscript, day_and_time

LONGEST = 256 * 1024
"""Maximum characters of a text in a readable export."""

PARSED = 64 * 1024
"""Maximum characters of a text that stays Markdown. A longer one is shown as code."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_BLOCKS = r"((?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*)"
_HEADING = re.compile(_BLOCKS + r"(#{1,6})(?=\s|$)")
_UNDERLINE = re.compile(_BLOCKS + r"(=+|-+)\s*")
_TAG, _PICTURE = r"<(?=[A-Za-z/!?])", r"!(?=\[)"
_GENTLE = re.compile(rf"\\.|(`+)(?!`).*?(?<!`)\1(?!`)|{_TAG}|{_PICTURE}")
_STRICT = re.compile(rf"\\[^<!]|{_TAG}|{_PICTURE}")

_LIVE = frozenset({"html_block", "html_inline", "image"})
_OURS = frozenset({"h1", "h2"})


def markdown(shown: SessionTranscript) -> Iterator[str]:
    """Yield the page."""
    yield f"# {escaped(shown.title)}\n\n{escaped(shown.facts)}\n\n"
    if shown.meta.system:
        yield f"## System\n\n{fenced(bounded(shown.meta.system), 'text')}\n\n"
    tools = shown.tools
    for entry, at in shown.entries:
        match entry:
            case Remark():
                if words := clean_line(words_of(entry), 4000).strip():
                    yield f"_{escaped(words)}_\n\n"
            case UserMessage():
                said = f" · {time}" if (time := day_and_time(at)) else ""
                yield f"## You{said}\n\n{isolated(bounded(entry.text))}\n\n"
                yield _attached(entry.attachments)
            case AssistantMessage():
                yield _reply(entry, tools)
            case ToolMessage():
                yield _result(entry, tools)


def bounded(text: str) -> str:
    """Return cleaned text, truncated with a note of how much is missing."""
    shown = clean(text[:LONGEST])
    return f"{shown}\n… {len(text) - LONGEST:,} more characters" if len(text) > LONGEST else shown


def thinking_words(message: AssistantMessage) -> str:
    """Return the heading of a model's reasoning, with its duration."""
    return f"Thinking, {duration(message.thought * 1000)}" if message.thought else "Thinking"


def readable_arguments(call: CallRequest) -> str:
    """Return the arguments of a call, cleaned, JSON indented."""
    try:
        text = json.dumps(json.loads(call.arguments), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = call.arguments
    return bounded(text)


def isolated(text: str) -> str:
    """Return foreign Markdown that cannot affect its surroundings."""
    if len(text) <= PARSED:
        for marks in (_GENTLE, _STRICT):  # the second set also applies in code, where it is visible
            found = _lowered(text, marks)
            if _is_harmless(found):
                return found
    return fenced(text, "text")


def _is_harmless(text: str) -> bool:
    """Return whether `text` has no open block, nothing active, and no headings that look like ours."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(f"{text}\n\n## end")
    headings = [token for token in tokens if token.type == "heading_open"]
    inside = {child.type for token in tokens for child in token.children or ()}
    return (
        bool(headings)
        and (headings[-1].tag, headings[-1].level) == ("h2", 0)
        and not any(token.tag in _OURS for token in headings[:-1])
        and not _LIVE & (inside | {token.type for token in tokens})
    )


def _lowered(text: str, marks: re.Pattern[str]) -> str:
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
        else:
            line = _lowered_line(line, marks, after_text=bool(lines and lines[-1].strip()))
        lines.append(line)
    return "\n".join([*lines, fence] if fence else lines)


def _lowered_line(line: str, marks: re.Pattern[str], *, after_text: bool) -> str:
    if after_text and (found := _UNDERLINE.fullmatch(line)):  # it would turn the previous line into a heading
        return f"{found[1]}\\{line[found.end(1) :]}"
    line = _demoted(line)
    return marks.sub(_text, line)


def _demoted(line: str) -> str:
    found = _HEADING.match(line)
    if found is None:
        return line
    return f"{found[1]}{'#' * min(6, len(found[2]) + 2)}{line[found.end() :]}"


def _text(found: re.Match[str]) -> str:
    return {"<": "&lt;", "!": "\\!"}.get(found.group(), found.group())


def _reply(message: AssistantMessage, tools: dict[str, str]) -> str:
    label = escaped(clean_line(message.model, 80)) or "Model"
    took = f" · {duration(message.seconds * 1000)}" if message.seconds else ""
    parts = [f"## {label}{' · truncated' if message.partial else ''}{took}\n\n"]
    if message.reasoning:
        parts.append(f"_{thinking_words(message)}_\n\n{fenced(bounded(message.reasoning), 'text')}\n\n")
    if message.text:
        parts.append(f"{isolated(bounded(message.text))}\n\n")
    for call in message.calls:
        name = escaped(tools.get(call.id) or clean_line(call.name, 120))
        parts.append(f"**→ {name}**\n\n{fenced(readable_arguments(call), 'json')}\n\n")
    return "".join(parts)


def _result(message: ToolMessage, tools: dict[str, str]) -> str:
    name = escaped(tools.get(message.call_id) or clean_line(message.name, 120))
    text, warning = shown_result(message)
    noted = f"_{escaped(said)}_\n\n" if (said := clean_line(warning, 4000).strip()) else ""
    block = fenced(bounded(text), "text") if text else "_empty_"
    attached = _attached(message.attachments)
    return f"**{'✗' if message.is_error else '←'} {name}**\n\n{noted}{block}\n\n{attached}"


def _attached(attachments: tuple[Attachment, ...]) -> str:
    lines = [
        f"- {escaped(clean_line(one.name, 120) or 'attachment')} "
        f"({escaped(clean_line(one.mime, 60))}, {size(one.size)})\n"
        for one in attachments
    ]
    return "".join([*lines, "\n"]) if lines else ""
