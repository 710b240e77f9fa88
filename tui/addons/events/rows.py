"""The rows of the list of events: event types, subscriptions, and the inbox; and what is shown of one."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui.addons.events.events import Subscribed
from tui.addons.events.inbox import InboxItem
from tui.addons.events.rules import ON, ActedTurn, EventRule
from tui.addons.events.subscription import State
from tui.addons.events.wire import PUSH_MODE, EventType
from tui.core.hidden_text.readable import readable
from tui.core.language.translate import N_, Message, _, c_, localized, n_, sentences
from tui.core.text import cells_of, clean, clean_line, compact, padded, start_of
from tui.core.units import clock_time
from tui.ui.widgets.rows import EMPTY, Row, wrap
from tui.ui.widgets.symbols import symbols_for

Line = EventType | Subscribed | InboxItem | EventRule | ActedTurn
"""What a row of the list is about."""

STYLES = {
    State.LIVE: "ok",
    State.POLLING: "ok",
    State.LOST: "warn",
    State.ENDED: "bad",
}
LABEL = 16
UNATTENDED = N_(
    "Calls run only if a rule under [approvals] allows them, or if a server that you trust marks the tool as "
    "read-only. All other calls are denied, because nobody is asked."
)
MAX_CHARS = 20_000
"""Characters of data, or of a schema, that are shown below the list."""


def translated(text: str) -> str:
    """Return a text of this add-on that may be stored, in English, in the user's language."""
    return localized(text) if isinstance(text, Message) else _(text)


def _head(text: str, more: str = "") -> Row:
    return ((f" {text}", "dim bold"), (f"  {more}" if more else "", "dim"))


def _type_rows(kind: EventType, width: int) -> Sequence[Row]:
    name = padded(clean_line(kind.name, 40), min(40, max(16, width // 4)))
    if kind.why_not:
        return wrap(((translated(kind.why_not), "dim"),), width, first=((f"   {name} ", "dim"),))
    modes, about = padded(", ".join(kind.modes), 12), clean_line(kind.description, 300)
    return [((f"   {name} ", "text bold"), (modes, "dim"), (about, "dim"))]


def _subscription_row(one: Subscribed, now: float, *, names_server: bool) -> Row:
    state = one.state
    name = one.key if names_server else one.kept.name
    given = clean_line(compact(one.kept.arguments, 60), 60) if one.kept.arguments else ""
    facts = [_("{n} received", n=state.received) if state.received else ""]
    facts.append(_("last {time}", time=clock_time(state.event_at, now)) if state.event_at else "")
    facts.append(n_("{n} gap", "{n} gaps", state.gaps) if state.gaps else "")
    return (
        (f"   {symbols_for().cursor} ", STYLES.get(state.state, "dim")),
        (padded(_(state.state), 23), STYLES.get(state.state, "dim")),
        (f"{clean_line(name, 60)}  ", "text"),
        (f"{given}  " if given else "", "dim"),
        (_(", ").join(filter(None, facts)), "dim"),
        (f"  {clean_line(translated(state.problem), 200)}" if state.problem else "", "warn"),
    )


def _item_row(item: InboxItem, now: float, *, names_server: bool) -> Row:
    weight = "" if item.is_read else " bold"
    name = f"{item.server}/{item.event}" if names_server else item.event
    return (
        ("     " if item.is_read else f"   {symbols_for().cursor} ", "accent"),
        (padded(clock_time(item.at, now), 17), "dim"),
        (f"{clean_line(name, 60)}  ", f"text{weight}"),
        (item.line, "text" if not item.problem else "warn"),
    )


def detail_rows(line: Line | None, now: float, width: int) -> Iterator[Row]:
    """Yield what is known about a row of the list."""
    if isinstance(line, EventType):
        facts = [(_("event type"), line.name), (_("about"), line.description)]
        facts += [(_("delivery"), ", ".join(line.delivery) or _("none")), ("", translated(line.why_not))]
        yield from _facts(facts, width)
        schemas = ((_("arguments"), line.input_schema), (_("data"), line.payload_schema))
        for label, schema in schemas:
            yield from _text(label, json.dumps(schema, indent=2, ensure_ascii=False) if schema else "", width)
    elif isinstance(line, Subscribed):
        yield from _facts(_subscription_facts(line, now), width)
    elif isinstance(line, InboxItem):
        facts = [(_("event"), f"{line.server}/{line.event}"), (_("arrived"), clock_time(line.at, now))]
        facts += [(_("happened"), line.timestamp), ("id", line.id), (_("problem"), translated(line.problem))]
        yield from _facts(facts, width)
        yield from _text(_("data"), line.text, width)
    elif isinstance(line, EventRule):
        about = (_("rule"), _("Events are asked about in conversations of their own."))
        yield from _facts([about, *_rule_facts(line)], width)
    elif isinstance(line, ActedTurn):
        cost = "" if line.cost is None else f"{line.cost:g}"
        facts = [
            (_("turn"), line.title),
            (c_("time of a turn", "asked"), clock_time(line.at, now)),
            (c_("how a turn went", "ended"), _(line.outcome)),
        ]
        facts += [(_("cost"), cost), ("", _("Its conversation has this title in the sessions."))]
        yield from _facts(facts, width)


def _subscription_facts(one: Subscribed, now: float) -> Sequence[tuple[str, str]]:
    kept, state = one.kept, one.state
    since = {"state": _(state.state), "time": clock_time(kept.at, now)}
    by_stream = kept.mode == PUSH_MODE
    how = (
        _("{state}, by stream, since {time}", **since)
        if by_stream
        else _("{state}, by poll, since {time}", **since)
    )
    counts = n_(
        "{received} received, {n} duplicate",
        "{received} received, {n} duplicates",
        state.duplicates,
        received=state.received,
    )
    position = _("none: what happens while nobody listens is not delivered")
    if state.cursor is not None:
        heard = clock_time(state.heard_at, now)
        position = _("kept, from {time}", time=heard) if heard else _("kept, from an earlier run")
    gaps = _(
        "{n}, the last at {time}: the server skipped events", n=state.gaps, time=clock_time(state.gap_at, now)
    )
    return [
        (_("subscription"), one.key),
        (_("arguments"), compact(kept.arguments, 1_000)),
        (_("state"), how),
        ("", translated(state.problem)),
        (_("this run"), counts),
        (_("last event"), clock_time(state.event_at, now)),
        (_("position"), position),
        (_("gaps"), gaps if state.gaps else ""),
    ]


def _label(text: str) -> str:
    return padded(text, max(LABEL, cells_of(text) + 2))


def _facts(facts: Sequence[tuple[str, str]], width: int) -> Iterator[Row]:
    yield EMPTY
    for label, text in facts:
        if text:
            yield from wrap(((clean_line(text, 2_000), "text"),), width, first=((_label(label), "dim"),))


def _text(label: str, text: str, width: int) -> Iterator[Row]:
    for number, line in enumerate(clean(start_of(text, MAX_CHARS)).splitlines()):
        first = label if not number else ""
        yield from wrap(((line, "text"),), width, first=((_label(first), "dim"),))


def rule_rows(rule: EventRule) -> Iterator[Row]:
    """Yield the question whether events may be asked about by a rule."""
    yield ((_("Ask the model about these events automatically?"), "text bold"),)
    yield EMPTY
    for label, text in _rule_facts(rule):
        yield (_label(label), "dim"), (readable(text), "text")
    yield EMPTY
    yield ((_(UNATTENDED), "dim"),)


def _rule_facts(rule: EventRule) -> Iterator[tuple[str, str]]:
    for label, text in rule.facts():
        yield c_("events of a rule", "on") if label == ON else localized(label), localized(text)


Rows = list[tuple[Line | None, Row]]


@dataclass(frozen=True, slots=True)
class Shown:
    """What the list shows: of a server, or of all servers if there are no `types`.

    `rules` each have their standing in words, `turns` the newest first. `empty` is said if there is
    nothing to subscribe to.
    """

    types: Sequence[EventType] | None
    subscriptions: Sequence[Subscribed]
    items: Sequence[InboxItem]
    unread: int
    rules: Sequence[tuple[EventRule, str]] = ()
    turns: Sequence[ActedTurn] = ()
    empty: str = ""


def list_rows(shown: Shown, now: float, width: int) -> Rows:
    """Return the rows of the list, each with what it is about."""
    is_all = shown.types is None
    rows: Rows = []
    if shown.types is not None:
        rows.append((None, _head(_("EVENT TYPES"))))
        for kind in shown.types:
            first, *others = _type_rows(kind, width)
            rows += [(kind, first), *((None, other) for other in others)]
        if not shown.types:
            rows.append((None, ((f"   {shown.empty}", "dim"),)))
    if shown.subscriptions:
        rows.append((None, _head(_("SUBSCRIPTIONS"), str(len(shown.subscriptions)))))
        rows += [(one, _subscription_row(one, now, names_server=is_all)) for one in shown.subscriptions]
    if shown.rules:
        rows.append((None, _head(_("RULES"))))
        rows += [(rule, _rule_row(rule, standing)) for rule, standing in shown.rules]
    rows.append((None, _head(_("INBOX"), _("{n} unread", n=shown.unread) if shown.unread else "")))
    rows += [(item, _item_row(item, now, names_server=is_all)) for item in shown.items]
    if not shown.items:
        is_new = is_all and not shown.subscriptions
        said = sentences(_("No events."), shown.empty) if is_new else _("No events")
        rows += [(None, row) for row in wrap(((said, "dim"),), width, first=(("   ", ""),))]
    if shown.turns:
        rows.append((None, _head(_("TURNS"))))
        rows += [(turn, _turn_row(turn, now)) for turn in shown.turns]
    return rows


def _rule_row(rule: EventRule, standing: str) -> Row:
    style = {"on": "ok", "asking": "ok", "not confirmed": "warn"}.get(standing, "dim")
    return (
        (f"   {symbols_for().cursor} ", style),
        (padded(_(standing), 23), style),
        (f"{clean_line(rule.on, 60)}  ", "text"),
        (clean_line(rule.prompt, 200), "dim"),
    )


def _turn_row(turn: ActedTurn, now: float) -> Row:
    style = "ok" if turn.outcome == "answered" else "warn"
    return (
        ("     ", ""),
        (padded(clock_time(turn.at, now), 17), "dim"),
        (f"{clean_line(turn.title, 80)}  ", "text"),
        (clean_line(_(turn.outcome), 120), style),
    )
