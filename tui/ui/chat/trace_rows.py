"""Rows of the trace pane: turns, steps, calls and notes.

Lines of a collapsed call are cropped, not wrapped, so their number does not depend on the width. An expanded
call shows everything that is stored of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tui.core.events import call_word
from tui.core.language.translate import _, localized, n_
from tui.core.ports import ANSWER_WORDS, Usage
from tui.core.text import abridged, cells_of, padded
from tui.core.units import count, progress, share
from tui.traffic.spans.span_values import (
    CallSpan,
    CallState,
    NoteKind,
    NoteSpan,
    Span,
    StepSpan,
    StepState,
    TurnSpan,
)
from tui.ui.chat.transcript.blocks import end_text, in_words, more_characters, outcome_words
from tui.ui.widgets.rows import EMPTY, Row, crop, progress_bar, spread, width_of, wrap
from tui.ui.widgets.symbols import Symbols
from tui.ui.widgets.times import clock, duration

BRIEF_ARGUMENTS = 3
"""Number of arguments that a collapsed call shows."""

NAME_CELLS = 14
BAR_CELLS = 10
INDENT = "      "

# state: (style of its sign and its word, the name of the sign)
_CALL_LOOKS = {
    CallState.WAITING: ("dim", "waiting"),
    CallState.ASKING: ("warn bold", "asks"),
    CallState.RUNNING: ("tool", "waiting"),
    CallState.DONE: ("ok", "done"),
    CallState.FAILED: ("bad", "failed"),
    CallState.DENIED: ("warn", "failed"),
    CallState.CANCELLED: ("dim", "stopped"),
    CallState.NOT_RUN: ("dim", "stopped"),
}


@dataclass(frozen=True, slots=True)
class TraceLook:
    """Settings that all rows of a trace have in common."""

    columns: int
    symbols: Symbols
    now_ns: int


def span_rows(span: Span, look: TraceLook, *, open: bool, first: bool = False) -> list[Row]:
    """Return the rows of an entry; at least one.

    An `open` call shows everything, an open turn or step is followed by its contents. There is no blank line
    above the `first` turn.
    """
    match span:
        case TurnSpan():
            return _turn_rows(span, look, open, first)
        case StepSpan():
            return list(_step_rows(span, look, open))
        case CallSpan():
            return list(_call_rows(span, look, open))
        case NoteSpan(kind=NoteKind.ENDED, text=text):
            return [crop(((f"    {in_words(text)}", "dim"),), look.columns)]
        case NoteSpan(kind=NoteKind.LIMIT, text=text):
            return [crop(((f"    {look.symbols.warning} {in_words(text)}", "warn"),), look.columns)]
        case NoteSpan(text=text):
            return wrap(((in_words(text), "bad"),), look.columns, ((f"    {look.symbols.failed} ", "bad"),))


def _turn_rows(turn: TurnSpan, look: TraceLook, open: bool, first: bool) -> list[Row]:
    symbols = look.symbols
    sign = symbols.unfolded if open else symbols.folded
    left = ((f"{sign} ", "dim bold aside"), (_("turn {n}", n=turn.number) + " ", "dim bold"))
    if turn.past:
        note = n_("{n} call", "{n} calls", turn.calls)
    elif turn.ms is None:
        note = localized(turn.model)
    else:
        calls = n_("{n} call", "{n} calls", turn.calls)
        note = f"{calls} {symbols.separator} {duration(turn.ms)}"
    right: Row = ((f" {note}", "dim"),) if note else EMPTY
    free = max(0, look.columns - width_of(left) - width_of(right))
    line: Row = spread((*left, (symbols.rule * free, "rule")), right, look.columns, gap=0)
    return [line] if first else [EMPTY, line]


def _step_rows(step: StepSpan, look: TraceLook, open: bool) -> Iterator[Row]:
    symbols = look.symbols
    left = [
        (f"{symbols.unfolded if open else symbols.folded} ", "dim aside"),
        (_("step {place}", place=step.number), "text"),
    ]
    if step.ms is None and not step.state.over:
        seconds = clock((look.now_ns - step.started_ns) / 1e9)
        left.append((f"   {_(step.state)}", "accent"))
        if step.state is StepState.CALLING:
            left.append((f" {step.detail}", "tool"))
        yield spread(tuple(left), ((seconds, "dim"),), look.columns)
        if step.state is StepState.RETRYING:
            yield crop(((f"    {in_words(step.detail)}", "warn"),), look.columns)
        return
    if step.final:
        left.append((_(" (last)"), "dim"))
    if step.state is not StepState.DONE:
        left.append((f"   {_(step.state)}", "bad" if step.state is StepState.FAILED else "dim"))
    else:
        left.append((f"   {_('model')}", "dim"))
    if step.ms is not None:
        left.append((f"  {duration(step.ms)}", "dim"))
    usage = step.usage or Usage()
    tokens = usage.prompt + usage.completion
    about = "~" if usage.estimated else ""
    words = _("{tokens} tokens", tokens=about + count(tokens)) if tokens else ""
    yield spread(tuple(left), ((words, "dim"),), look.columns)


def _call_rows(call: CallSpan, look: TraceLook, open: bool) -> Iterator[Row]:
    def line(text: str, style: str = "dim") -> Row:
        return crop(((f"{INDENT}{text}", style),), look.columns)

    yield _call_head(call, look)
    yield from _arguments(call, look, open)
    if call.state is CallState.ASKING and call.why:
        yield line(in_words(call.why), "warn")
    if call.state is CallState.RUNNING:
        words = progress(call.progress, call.total, call.message, f" {look.symbols.separator} ")
        bar: Row = EMPTY
        if (done := share(call.progress, call.total)) is not None:
            bar = (*progress_bar(done, BAR_CELLS, look.symbols.thin, look.symbols.rule), ("  ", ""))
        if words:
            yield crop(((INDENT, ""), *bar, (words, "tool")), look.columns)
    if open and call.answer is not None:
        words = _(ANSWER_WORDS[call.answer])
        if call.waited_ms:
            words = _("{answer} after {time}", answer=words, time=duration(call.waited_ms))
        yield line(words)
    if call.rule and (open or call.state is CallState.DENIED):
        yield line(_("rule: {rule}", rule=call.rule))
    if open and call.state is CallState.DONE and call.ms is not None:
        took = duration(call.ms)
        yield line(_("took {time} in total. Press f8 for the time on the wire", time=took))
    if call.state.over and (word := call_word(call.why, call.state)):
        yield from _noted(in_words(word), "warn", look, open)
    yield from _result(call, look, open)
    if call.warning:
        yield from _noted(in_words(call.warning), "warn", look, open)


def _noted(text: str, style: str, look: TraceLook, open: bool) -> Iterator[Row]:
    lead: Row = ((f"{INDENT}{look.symbols.warning} ", style),)
    line: Row = ((text, style),)
    yield from wrap(line, look.columns, lead) if open else [crop((*lead, *line), look.columns)]


def _call_head(call: CallSpan, look: TraceLook) -> Row:
    symbols = look.symbols
    style, sign = _CALL_LOOKS[call.state]
    left: list[tuple[str, str]] = [(f"  {getattr(symbols, sign)} ", style)]
    if call.server:
        left += [(call.server, "tool"), (f" {symbols.within} ", "dim")]
    left.append((call.tool or _("unknown tool"), "text"))
    return spread(tuple(left), _call_time(call, look, style), look.columns)


def _call_time(call: CallSpan, look: TraceLook, style: str) -> Row:
    match call.state:
        case CallState.DONE:
            return ((duration(call.ms), "dim"),) if call.ms is not None else EMPTY
        case CallState.FAILED:
            took = f"  {duration(call.ms)}" if call.ms is not None else ""
            return ((_("failed"), style), (took, "dim"))
        case CallState.RUNNING if call.started_ns is not None:
            return ((_("running"), style), (f"  {clock((look.now_ns - call.started_ns) / 1e9)}", "dim"))
        case CallState.ASKING if call.asked_ns is not None:
            return ((_(call.state), style), (f"  {clock((look.now_ns - call.asked_ns) / 1e9)}", "dim"))
        case _:
            return ((_(call.state), style),)


def _arguments(call: CallSpan, look: TraceLook, open: bool) -> Iterator[Row]:
    shown = call.arguments if open else call.arguments[:BRIEF_ARGUMENTS]
    names = [abridged(name, NAME_CELLS) for name, _value in shown]
    wide = max(map(cells_of, names), default=0) + 2
    for name, (_name, value) in zip(names, shown, strict=True):
        lead: Row = ((INDENT + padded(name, wide), "dim"),)
        line: Row = ((localized(value), "text"),)
        yield from wrap(line, look.columns, lead) if open else [crop((*lead, *line), look.columns)]
    if len(call.arguments) > len(shown):
        more = _("… {n} more", n=len(call.arguments) - len(shown))
        yield crop(((INDENT + more, "dim"),), look.columns)


def _result(call: CallSpan, look: TraceLook, open: bool) -> Iterator[Row]:
    if call.result is None or not call.result.text.strip():
        return
    style = "bad" if call.state is CallState.FAILED else "text"
    lead: Row = ((f"{INDENT}{look.symbols.result} ", "dim"),)
    said = end_text(call.result.text.strip("\n"), call.why, call.state)
    if call.state in (CallState.NOT_RUN, CallState.DENIED, CallState.CANCELLED):
        said = outcome_words(said, call.state, brief=call.state is CallState.NOT_RUN)  # the head says so, too
    if not open and said.lstrip().startswith(("{", "[")):  # JSON may be indented
        said = re.sub(r"(?<=[{\[]) | (?=[}\]])", "", " ".join(said.split()))
    lines = said.split("\n")
    if not open:
        more = " …" if len(lines) > 1 or call.result.omitted else ""
        brief = " ".join(lines[0].split())
        line = crop((*lead, (brief, style)), look.columns - len(more))
        yield (*line, (more, "dim")) if more else line
        return
    rest: Row = ((INDENT + "  ", ""),)
    for number, text in enumerate(lines):
        yield from wrap(((text.replace("\t", "    "), style),), look.columns, rest if number else lead, rest)
    if call.result.omitted:
        yield (*rest, (more_characters(call.result.omitted), "dim"))
