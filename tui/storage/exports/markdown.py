"""A document as Markdown. Pure.

Texts are hostile. A fence is always longer than any run of backticks inside it, and no text of a server is
outside a fence or code span without being escaped. The Markdown of models stays Markdown, but cannot imitate
the page: headings are demoted, fences closed, HTML is escaped, images become links. A parser verifies that.
Text that is still unsafe is shown as code.
"""

import re
from collections.abc import Iterator

from tui.core.attachments import fenced
from tui.core.text import clean_line
from tui.core.units import plural, size
from tui.storage.exports.document import (
    Aside,
    Block,
    Document,
    Files,
    Heading,
    Part,
    Prose,
    Row,
    Rows,
    Timeline,
)

PARSED = 64 * 1024
"""Maximum characters of a text that stays Markdown. A longer one is shown as code."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_BLOCKS = r"((?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*)"
_HEADING = re.compile(_BLOCKS + r"(#{1,6})(?=\s|$)")
_UNDERLINE = re.compile(_BLOCKS + r"(=+|-+)\s*")
_TAG, _PICTURE = r"<(?=[A-Za-z/!?])", r"!(?=\[)"
_ACTIVE = re.compile(rf"\\.|(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|{_TAG}|{_PICTURE}")

_LIVE = frozenset({"html_block", "html_inline", "image"})
_OURS = frozenset({"h1", "h2"})


_MARKS = re.compile(
    r"""([\\`*\[<~$@#]
        | (?<![^\W_])_ | _(?![^\W_])      # inside a word, it has no effect
        | &(?=[#\w])                     # an entity
        | :(?=// | (?!\d\d:)[\w+-]+:)    # a URL or an emoji, but not a time of day
        | (?<=www)\.
        )""",
    re.VERBOSE | re.IGNORECASE,
)
"""Characters with a meaning within a line in CommonMark or on GitHub. A line starts with a heading mark or a
time.
"""


def escaped(text: str) -> str:
    """Return text escaped for use within a Markdown line, not at its start."""
    return _MARKS.sub(r"\\\1", text)


def markdown(document: Document) -> Iterator[str]:
    """Yield the page."""
    facts = f"{escaped(document.facts)}\n\n" if document.facts else ""
    yield f"# {escaped(document.title)}\n\n{facts}"
    number = 0
    for part in document.parts:
        number += 1
        yield _text_of(part)
    if document.is_list:
        yield f"{plural(number, 'entry') if number else 'No entries'}.\n"


def _text_of(part: Part) -> str:
    match part:
        case Timeline(facts):
            return f"_{escaped(facts)}_\n\n" if facts else ""
        case Heading(title, time):
            return f"## {escaped(title)}{f' · {time}' if time else ''}\n\n"
        case Aside(text):
            return f"_{escaped(text)}_\n\n"
        case Prose(text):
            return f"{isolated(text)}\n\n"
        case Block(title, text, language, _, note):
            head = f"**{escaped(title)}**\n\n" if title else ""
            noted = f"_{escaped(note)}_\n\n" if note else ""
            return f"{head}{noted}{_fenced_or_empty(text, language)}\n\n"
        case Files(attachments=attachments):
            names = [escaped(clean_line(one.name, 120) or "attachment") for one in attachments]
            lines = (
                f"- {name} ({escaped(clean_line(one.mime, 60))}, {size(one.size)})\n"
                for name, one in zip(names, attachments, strict=True)
            )
            return "".join(lines) + ("\n" if attachments else "")
        case Row():
            return _row(part)
        case Rows(title, rows):
            return f"**{escaped(title)}**\n\n{''.join(map(_row, rows))}"


def _row(row: Row) -> str:
    outcome = row.outcome or ("answered" if row.took else "")
    ended = f"{outcome} after {row.took}" if row.took else outcome
    facts = escaped(", ".join(filter(None, (row.facts, ended))))
    said = [row.note, *(f"{one.code}: {one.sentence}".rstrip(": ") for one in row.findings)]
    noted = "".join(f"{escaped(one)}\n\n" for one in said if one)
    block = _fenced_or_empty(row.body, "json" if row.body[:1] in ("{", "[") else "text")
    head = f"## {row.number}. {escaped(row.source)} {row.arrow} {escaped(row.name)}"
    return f"{head}\n\n{facts}\n\n{noted}{block}\n\n"


def _fenced_or_empty(text: str, language: str) -> str:
    return fenced(text, language) if text else "_empty_"


def isolated(text: str) -> str:
    """Return foreign Markdown that cannot affect its surroundings."""
    if len(text) <= PARSED and _is_harmless(found := _lowered(text)):
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


def _lowered(text: str) -> str:
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
            line = _lowered_line(line, after_text=bool(lines and lines[-1].strip()))
        lines.append(line)
    return "\n".join([*lines, fence] if fence else lines)


def _lowered_line(line: str, *, after_text: bool) -> str:
    if after_text and (found := _UNDERLINE.fullmatch(line)):  # it would turn the previous line into a heading
        return f"{found[1]}\\{line[found.end(1) :]}"
    if found := _HEADING.match(line):
        line = f"{found[1]}{'#' * min(6, len(found[2]) + 2)}{line[found.end() :]}"
    return _ACTIVE.sub(lambda mark: {"<": "&lt;", "!": "\\!"}.get(mark[0], mark[0]), line)
