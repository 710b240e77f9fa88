"""What `/status` shows about this run: model, servers, limits, cost, session, theme, files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tui.core import units
from tui.core.conversation.sessions import SessionInfo
from tui.core.files import short_path
from tui.core.language.translate import _, localized, n_
from tui.core.ports import Meters
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import cells_of, clean_line, padded
from tui.core.turn.limits import Limits
from tui.runtime.runtime import Runtime
from tui.settings.locations import data_dir, state_dir
from tui.ui.widgets import times
from tui.ui.widgets.rows import Row, pad, width_of, wrap
from tui.ui.widgets.server_rows import reason_words, running_words, sign_of, tool_words

MOST_SERVERS = 12

Line = tuple[str, Row]
"""A label, which is empty for more of the last one, and what stands beside it."""


def model_lines(label: str, meters: Meters) -> Iterator[Line]:
    """Yield the model, the part of its window that is in use, and what the conversation has cost."""
    about = "~" if meters.estimated else ""
    yield _("Model"), ((clean_line(localized(label), 120), "text"),)
    if meters.window:
        used, window = about + units.count(meters.context), units.count(meters.window)
        yield _("Context"), ((_("{used} of {window} tokens", used=used, window=window), "text"),)
    cost = "" if meters.cost is None else about + units.money(meters.cost, meters.currency)
    tokens = _("{tokens} tokens", tokens=about + units.count(meters.tokens))
    words = _("{cost} for {tokens}", cost=cost, tokens=tokens) if cost else tokens
    yield _("Cost") if cost else _("Used"), ((words, "text"),)


def server_lines(statuses: Sequence[ServerStatus]) -> Iterator[Line]:
    """Yield how many servers run, then each with its state and tools, or why it does not run."""
    yield _("Servers"), ((running_words(statuses) or _("none"), "text"),)
    cells = max((width_of(_name(status)) for status in statuses[:MOST_SERVERS]), default=0)
    state_cells = max(cells_of(status.state.in_words) for status in statuses) if statuses else 0
    for status in statuses[:MOST_SERVERS]:
        sign, style = sign_of(status)
        about = ""
        if status.state is ServerState.RUNNING:
            about = tool_words(status)
        elif status.state is ServerState.STOPPED:
            about = reason_words(status)
        name, state = pad(_name(status), cells + 2), f"{padded(status.state.in_words, state_cells)}  "
        yield "", ((f"{sign} ", style), *name, (state, style), (about, "dim"))
    if (more := len(statuses) - MOST_SERVERS) > 0:
        yield "", ((n_("and {n} more", "and {n} more", more), "dim"),)


def _name(status: ServerStatus) -> Row:
    return ((clean_line(status.name, 40), "text"),)


def limit_lines(limits: Limits) -> Iterator[Line]:
    """Yield the limits of a turn."""
    steps = n_("{n} step", "{n} steps", limits.max_steps)
    calls = n_("{n} call", "{n} calls", limits.max_tool_calls)
    turn, call = times.clock(limits.turn_seconds), times.clock(limits.tool_seconds)
    words = _(
        "{steps}, {calls}, {turn} a turn, {call} a call", steps=steps, calls=calls, turn=turn, call=call
    )
    yield _("Limits"), ((words, "text"),)
    tokens = _("{tokens} tokens", tokens=units.count(limits.turn_tokens)) if limits.turn_tokens else ""
    cost = str(limits.turn_cost) if limits.turn_cost is not None else ""
    if tokens or cost:
        budget = _(", ").join(filter(None, (tokens, cost)))
        yield "", ((_("{budget} a turn", budget=budget), "text"),)


def session_lines(info: SessionInfo | None, unsaved: str) -> Iterator[Line]:
    """Yield the title and the id of the session, or why it is not saved."""
    words = _("not saved: {reason}", reason=clean_line(unsaved, 200)) if unsaved else ""
    if info is None or not info.id:
        words = words or _("begins with the first message")
    else:
        title = clean_line(info.title, 80)
        words = words or (f"{title}  {info.id}" if title else info.id)
    yield _("Session"), ((words, "warn" if unsaved else "text"),)


def file_lines(files: Sequence[tuple[str, str | Path]]) -> Iterator[Line]:
    """Yield where things are stored."""
    for label, path in files:
        yield label, ((clean_line(short_path(str(path)), 300), "text"),)


def status_lines(runtime: Runtime, theme: str) -> list[Line]:
    """Return everything about a run."""
    conversations, recording = runtime.conversations, runtime.traffic.path
    files: list[tuple[str, str | Path]] = [
        (_("Settings"), runtime.approvals.path),
        (_("Sessions"), data_dir() / "sessions"),
        (_("Recording"), recording if recording != Path() else _("none")),
        (_("Log"), state_dir() / "mcptui.log"),
    ]
    return [
        *model_lines(runtime.model_label, conversations.meters),
        *server_lines(runtime.host.statuses()),
        *limit_lines(runtime.turn_context.limits),
        *session_lines(conversations.info, runtime.unsaved),
        (_("Theme"), ((clean_line(theme, 60), "text"),)),
        *file_lines(files),
    ]


def status_rows(lines: Sequence[Line], width: int) -> list[Row]:
    """Return the lines wrapped, with their labels in a column."""
    cells = max(width_of(((label, ""),)) for label, _words in lines) + 2
    rows: list[Row] = []
    for label, words in lines:
        rows += wrap(words, width, first=((label + " " * (cells - width_of(((label, ""),))), "dim"),))
    return rows
