"""The rows of sessions, and of matches in them. Pure."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from tui.core import units
from tui.core.conversation.conversation import AssistantMessage, Message, ToolMessage, UserMessage
from tui.core.conversation.sessions import SessionInfo, SessionMatch
from tui.core.text import clean_line, fold, preview, spans
from tui.core.turn.prepared_calls import shown_result
from tui.ui.lists.finder_list import FinderItem
from tui.ui.widgets.rows import EMPTY, Row, crop, marked, pad, spread, text_of, width_of
from tui.ui.widgets.symbols import Symbols
from tui.ui.widgets.times import exactly, when

WHEN_CELLS, TURNS_CELLS, MODEL_CELLS, USED_CELLS = 12, 9, 18, 20
WITH_MODEL, WITH_USED = 76, 104
"""Minimum columns of the list for showing the model, and tokens and cost."""

SHOWN_MESSAGES = 8
SHOWN_CHARS = 1200
LONG_SESSION = 5000
"""Number of messages from which reading a session takes too long for a preview."""


def session_item(info: SessionInfo, here: str, now: float, symbols: Symbols) -> FinderItem:
    """Return the row of a session; `here` is the id of the current one."""
    return FinderItem(info.id, partial(_session_rows, info, info.id == here, now, symbols))


def _session_rows(info: SessionInfo, here: bool, now: float, symbols: Symbols, width: int) -> Sequence[Row]:
    sign, style = (symbols.running, "accent") if here else (" ", "")
    if info.problem:
        sign, style = symbols.failed, "bad"
    elif info.in_use and not here:
        sign, style = symbols.stopped, "warn"
    title = clean_line(info.title, 200).strip() or "untitled"
    left: list[tuple[str, str]] = [(f"{sign} ", style), (title, "dim" if info.problem else "text")]
    if info.parent:
        left.append(("  branch", "dim"))
    if here:
        left.append(("  current", "accent"))
    if info.problem:
        left.append((f"  {clean_line(info.problem, 200)}", "bad"))
    elif info.in_use and not here:
        left.append(("  open in another mcptui", "warn"))
    closed = bool(info.problem) or (info.in_use and not here)
    right = _columns(info, now, 0 if closed and width < WITH_MODEL else width)
    return [spread(tuple(left), right, width, gap=2)]


def _columns(info: SessionInfo, now: float, width: int) -> Row:
    """Return the columns of a row, aligned with the other rows; only the time if `width` is 0."""
    cells = [(when(info.changed, now), WHEN_CELLS, True)]
    if width:
        cells.append((units.plural(info.turns, "turn"), TURNS_CELLS, True))
    if width >= WITH_MODEL:
        cells.append((text_of(crop(((clean_line(info.model, 60), ""),), MODEL_CELLS)), MODEL_CELLS, False))
    if width >= WITH_USED:
        cells.append((used(info), USED_CELLS, True))
    row: list[tuple[str, str]] = []
    for text, room, to_right in cells:
        gap = " " * max(0, room - width_of(((text, ""),)))
        row.append((gap + text if to_right else f"   {text}{gap}", "dim"))
    return (*row, (" ", ""))


def used(info: SessionInfo) -> str:
    """Return the usage of a session: "34 k tokens  $0.12"."""
    about = "~" if info.estimated else ""
    parts = [f"{about}{units.count(info.tokens)} tokens"] if info.tokens else []
    if info.cost is not None:
        parts.append(about + units.money(info.cost))
    return "  ".join(parts)


def about_session(info: SessionInfo, parent: SessionInfo | None) -> Row:
    """Return a line with the details that do not fit in the row of a session."""
    if info.problem:
        return ((clean_line(info.problem, 400), "bad"),)
    parts = [
        f"began {exactly(info.created)}",
        f"{units.plural(info.turns, 'turn')}, {units.plural(info.messages, 'message')}",
        clean_line(info.model, 60),
        used(info),
    ]
    if info.parent:
        name = clean_line(parent.title, 60) if parent is not None else "a deleted session"
        parts.append(f"branch of “{name}”")
    return (("   ".join(part for part in parts if part), "dim"),)


def preview_rows(messages: Sequence[Message], upto: int | None = None) -> list[Row]:
    """Return the end of a conversation as paragraphs; with `upto`, up to that message."""
    shown = messages if upto is None else messages[: upto + 1]
    rows: list[Row] = []
    for message in shown[-SHOWN_MESSAGES:]:
        match message:
            case UserMessage(text=text):
                head: Row = (("you", "user bold"),)
            case AssistantMessage(text=text, model=model):
                head = ((clean_line(model, 60) or "model", "model bold"),)
                names = ", ".join(_tool_name(call.name) for call in message.calls)
                text = "\n".join(filter(None, (text, f"→ {names}" if names else "")))
            case ToolMessage(name=name):
                text, _ = shown_result(message)
                head, text = ((_tool_name(name), "tool"),), text[: SHOWN_CHARS // 6]
        lines = [line for line in preview(text[-SHOWN_CHARS:]).text.split("\n") if line.strip()]
        style = "dim" if isinstance(message, ToolMessage) else "text"
        if lines:
            rows += [head, *(((line.expandtabs(4), style),) for line in lines), EMPTY]
    return rows[:-1]


def _tool_name(qualified: str) -> str:
    """Return the name of a tool as rules write it: "notes/search_notes"."""
    return clean_line(qualified.replace("__", "/", 1), 60)


def found_key(found: SessionMatch) -> str:
    """Return the key of a match: session and message."""
    return f"{found.session.id}\n{found.index}"


def place_of(key: str) -> tuple[str, int | None]:
    """Return the session and the message of a key; None for the whole session."""
    session, separator, index = key.partition("\n")
    return session, int(index) if separator else None


def found_items(finds: Sequence[SessionMatch], text: str, now: float) -> Iterator[FinderItem]:
    """Yield the matches, the title of each session above its first one."""
    last = ""
    for found in finds:
        if found.session.id != last:
            last = found.session.id
            title = clean_line(found.session.title, 200).strip() or "untitled"
            yield FinderItem("", partial(_title_rows, title, when(found.session.changed, now)))
        yield FinderItem(found_key(found), partial(_found_rows, found.excerpt, text))


def _title_rows(title: str, at: str, width: int) -> Sequence[Row]:
    return [spread((("  ", ""), (title, "text")), ((f"{at} ", "dim"),), width, gap=2)]


def _found_rows(excerpt: str, text: str, width: int) -> Sequence[Row]:
    row: Row = (("     ", ""), (clean_line(excerpt, 400), "dim"))
    shown = text_of(row)
    for word in fold(text).split():
        for start, end in islice(spans(shown, word), 1):
            row = marked(row, start, end, "accent bold")
    return [pad(row, width)]
