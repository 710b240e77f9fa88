"""The line of a server in the servers pane; `toggle_server` starts or stops it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.core.language.translate import N_, _, localized, n_, sentences
from tui.core.servers import (
    ServerSpec,
    ServerState,
    ServerStatus,
    StopReason,
    not_configured,
)
from tui.core.text import abridged, cells_of, clean_line, padded, quoted_name
from tui.core.workbench import ServerIdentity
from tui.ui.widgets.rows import Row, crop, pad, spread, width_of, wrap
from tui.ui.widgets.server_facts import fact_rows, server_facts, token_count
from tui.ui.widgets.symbols import symbols_for
from tui.ui.widgets.times import age, clock

if TYPE_CHECKING:
    from tui.core.context.context_parts import DefinitionTokens
    from tui.host.host import Host

LEAST_GAP = 3
"""Minimum columns between a server's reason and its age, so that the age is a separate column."""

PID_FROM = 54
"""Minimum columns for showing the process id."""

MOVING = (ServerState.STARTING, ServerState.STOPPING)

WAITING = (StopReason.NEEDS_CONSENT, StopReason.NEEDS_SIGN_IN)
"""Reasons of a server that waits for the user."""

DETAIL_ROWS = 3

STATE_STYLES = {
    ServerState.RUNNING: "ok",
    ServerState.STARTING: "warn",
    ServerState.STOPPING: "warn",
    ServerState.STOPPED: "dim",
}


@dataclass(frozen=True, slots=True)
class Look:
    """Settings that the rows of all servers share; `turn` is the frame of the spinner.

    `tokens` are those of each server's definitions, and `attached` says which commands of other processes use
    it, by server name. Without `ages`, they use the last column;
    without `units`, it only has the number, and without `translated`, states only have the protocol's word.
    """

    columns: int
    name_cells: int
    turn: int
    now_ns: int
    tokens: Mapping[str, "DefinitionTokens"] = field(default_factory=dict)
    attached: Mapping[str, str] = field(default_factory=dict)
    ages: bool = True
    units: bool = True
    translated: bool = True


def server_rows(status: ServerStatus, look: Look, *, selected: bool, unfolded: bool) -> list[Row]:
    """Return the line of a server, followed by its next step if `selected`, and all details if `unfolded`."""
    rows = [head_row(status, look)]
    rows.extend(((("  ", ""), *row)) for row in _detail(status, look, selected))
    if unfolded:
        tokens = look.tokens.get(status.name)
        sections = server_facts(status, ServerIdentity(), tokens)
        facts = [fact for _, found in sections for fact in found]
        if status.spec.send_as_is:
            facts.append((_("secrets"), _("sent to the model as is"), "warn"))
        if status.stderr_last and status.state is ServerState.RUNNING:
            facts.append(("stderr", clean_line(status.stderr_last), "dim"))
        rows += fact_rows(facts, look.columns, "  ")
    return rows


def head_row(status: ServerStatus, look: Look) -> Row:
    """Return the line of a server: sign, name, state, tools or reason, tokens, age."""
    left, right = _head(status, look)
    least = LEAST_GAP if status.state is ServerState.STOPPED else 1
    if status.state not in MOVING and width_of((*left, *right)) + least > look.columns:
        right = ()
    return spread(left, right, look.columns)


def _head(status: ServerStatus, look: Look) -> tuple[Row, Row]:
    sign, style = sign_of(status, look.turn)
    name = abridged(clean_line(status.name, 64), look.name_cells)
    gap = "  " if look.columns >= 44 else " "
    states = {one: one.in_words if look.translated else one.value for one in ServerState}
    state = (gap + padded(states[status.state], max(map(cells_of, states.values()))) + gap, style)
    left: Row = ((f"{sign} ", style), *pad(((name, "text"),), look.name_cells), state, *_what(status))
    right = _since(status, look)
    if not look.ages:
        left, right = (*left, *right) if status.state in MOVING else left, ()
    tokens = look.tokens.get(status.name)
    if tokens is not None and status.state is ServerState.RUNNING:
        words = token_words(tokens) if look.units else token_count(tokens)
        right = ((words, "dim"), ("   " if right else "", ""), *right)
    return left, right


def fitted(statuses: Sequence[ServerStatus], look: Look) -> Look:
    """Return a look that fits all running servers, without ages or units of tokens or both if necessary.

    If one has no room for a column, no row has it: a column has one meaning.
    """
    running = [status for status in statuses if status.state is ServerState.RUNNING]
    least = replace(look, tokens={}, ages=False)
    fits = all(width_of(_head(status, least)[0]) < look.columns for status in statuses)
    look = replace(look, translated=fits)
    for tokens in (look.tokens, {}):
        for ages, words in ((True, True), (False, True), (True, False), (False, False)):
            found = replace(look, tokens=tokens, ages=ages, units=words)
            heads = (_head(status, found) for status in running)
            if all(width_of((*left, *right)) < look.columns for left, right in heads):
                return found
    return found


def sign_of(status: ServerStatus, turn: int = 0) -> tuple[str, str]:
    """Return the sign of a server's state, and its style; `turn` is the frame of the spinner."""
    symbols = symbols_for()
    if status.failed:
        return symbols.failed, "bad"
    signs = {ServerState.RUNNING: symbols.running, ServerState.STOPPED: symbols.stopped}
    spinner = symbols.spinner[turn % len(symbols.spinner)]
    return signs.get(status.state, spinner), STATE_STYLES[status.state]


def _what(status: ServerStatus) -> Iterator[tuple[str, str]]:
    match status.state:
        case ServerState.STARTING if status.sign_in.startswith("waiting"):
            yield localized(status.sign_in), "warn"
        case ServerState.RUNNING:
            yield tool_words(status), "dim"
            if remark := status.spec.transport.remark:
                yield f" {_(remark)}", "warn"
            if status.fault_rules:
                yield f"  {_('faults')}", "warn"
            if status.spec.act_as:
                yield f"  {_('as {name}', name=clean_line(status.spec.act_as, 20))}", "warn"
        case ServerState.STOPPED:
            asks = status.reason in WAITING
            yield reason_words(status), "bad" if status.failed else "warn" if asks else "dim"


def running_words(statuses: Sequence[ServerStatus]) -> str:
    """Return how many enabled servers are running: "3 of 4"."""
    enabled = sum(not status.spec.disabled for status in statuses)
    running = sum(status.state is ServerState.RUNNING for status in statuses)
    if not enabled:
        return _("all disabled") if statuses else ""
    return _("{n} of {all}", n=running, all=enabled)


def tool_words(status: ServerStatus) -> str:
    """Return the number of tools: "12 tools, 3 off, 1 task" if a task waits.

    If some are not offered for another reason: "9 of 12 tools".
    """
    if status.withheld > status.tools_off:
        offered = status.tools - status.withheld
        words = [n_("{offered} of {n} tool", "{offered} of {n} tools", status.tools, offered=offered)]
    else:
        words = [n_("{n} tool", "{n} tools", status.tools)]
        words += [_("{n} off", n=status.tools_off)] if status.tools_off else []
    words += [n_("{n} task", "{n} tasks", status.tasks)] if status.tasks else []
    return _(", ").join(words)


def not_offered_words(status: ServerStatus) -> str:
    """Return which tools the model cannot be offered, and why the first is not."""
    (name, why), more = status.not_offered[0], len(status.not_offered) - 1
    tool, reason = clean_line(name, 60), clean_line(why, 200)
    if not more:
        return _("{tool} is not offered to the model: {why}", tool=tool, why=reason)
    return n_(
        "{tool} and {n} more tool are not offered to the model: {why}",
        "{tool} and {n} more tools are not offered to the model: {why}",
        more,
        tool=tool,
        why=reason,
    )


def reason_words(status: ServerStatus) -> str:
    """Return why a server is stopped: "exited, code 1", "crashed, SIGSEGV", "by you"."""
    match status.reason:
        case StopReason.REQUESTED:
            return _("by you")
        case StopReason.EXITED | StopReason.CRASHED if status.signal:
            return _(", ").join((_(status.reason.value), clean_line(status.signal, 16)))
        case StopReason.EXITED | StopReason.CRASHED if status.exit_code is not None:
            if status.reason is StopReason.EXITED:
                return _("exited, code {code}", code=status.exit_code)
            return _("crashed, code {code}", code=status.exit_code)
    return _(str(status.reason or ""))


def _since(status: ServerStatus, look: Look) -> Row:
    unstarted = status.reason in (StopReason.NOT_STARTED, StopReason.DISABLED, *WAITING)
    if status.state is ServerState.STOPPED and unstarted:
        return ()
    seconds = (look.now_ns - status.since_ns) / 1e9
    since = clock(seconds) if status.state in MOVING else age(seconds)
    where, style = f"pid {status.pid}" if status.pid is not None else "", "dim"
    if status.reach is not None and status.reach.words:
        where, style = localized(status.reach.words), "warn" if status.reach.silent else "dim"
    if not where or look.columns < PID_FROM:
        return ((since, "dim"),)
    return ((f"{where}   ", style), (padded(since, 9, right=True), "dim"))


def _detail(status: ServerStatus, look: Look, selected: bool) -> Iterator[Row]:
    room = look.columns - 2
    last, sentence = clean_line(status.stderr_last, room), clean_line(localized(status.detail), 600)
    if status.state is ServerState.STARTING and last:
        yield crop(((last, "dim"),), room)
    if status.state is ServerState.RUNNING:
        yield from _warnings(status, room)
        if selected and status.not_offered:
            yield from wrap(((not_offered_words(status), "dim"),), room)[:DETAIL_ROWS]
        if words := look.attached.get(status.name):
            yield crop(((localized(words), "dim"),), room)
    if words := status.printed_words:
        first = clean_line(f": {status.printed}" if selected and status.printed else "", room)
        yield crop((("! ", "warn"), (localized(words), "warn"), (first, "dim")), room)
    if status.invalid:
        yield crop((("! ", "warn"), (localized(status.invalid), "warn")), room)
    if status.failed and status.reason in (StopReason.EXITED, StopReason.CRASHED) and last:
        yield crop(((sentences(f"{_('last:')} "), "dim"), (last, "bad")), room)
    elif status.failed and sentence:
        yield from wrap(((sentence, "bad"),), room)[: None if selected else DETAIL_ROWS]
    if selected and status.next_step and (status.failed or status.reason in WAITING):
        yield from wrap(((clean_line(localized(status.next_step), 400), "dim"),), room)


def _warnings(status: ServerStatus, room: int) -> Iterator[Row]:
    if status.reach is not None and status.reach.silent:
        yield from wrap(((clean_line(localized(status.reach.problem), 400), "warn"),), room)[:DETAIL_ROWS]
    if status.listing_problem:
        yield crop(((clean_line(f"tools/list: {localized(status.listing_problem)}"), "warn"),), room)
    if status.changes:
        yield from wrap(((localized(status.change_words), "warn"),), room)[:DETAIL_ROWS]
    if status.quarantined:
        words = n_("{n} tool omitted", "{n} tools omitted", len(status.quarantined))
        yield crop(((words, "warn"),), room)
    if status.hidden:
        yield crop((("! ", "warn"), (hidden_words(status), "warn")), room)


def trust_words(server: str, key: str, *, trusted: bool) -> str:
    """Return the effect of a change of trust in a server, and the key that undoes it."""
    name = quoted_name(server)
    if trusted:
        return _(
            "The server {name} is trusted. Its read-only tools run without approval. Press {key} to undo.",
            name=name,
            key=key,
        )
    return _(
        "The server {name} is not trusted. Its calls need approval. Press {key} to undo.", name=name, key=key
    )


def token_words(tokens: "DefinitionTokens") -> str:
    """Return `token_count` with its unit: "~210 tokens"."""
    n = tokens.total - tokens.left_out
    return n_("{count} token", "{count} tokens", n, count=token_count(tokens))


def hidden_words(status: ServerStatus) -> str:
    """Return how many definitions have hidden text: "2 tools have hidden text"."""
    tools = sum(name != "instructions" for name, _ in status.hidden)
    if tools == len(status.hidden):
        return n_("{n} tool has hidden text", "{n} tools have hidden text", tools)
    if not tools:
        return _("the instructions have hidden text")
    return n_(
        "{n} tool and the instructions have hidden text",
        "{n} tools and the instructions have hidden text",
        tools,
    )


def why_only_listed(
    spec: ServerSpec, key_of: Callable[[str], str], *, elsewhere: bool = False, named: bool = True
) -> str:
    """Return why a server cannot be started and which key helps, or "" if it can.

    `elsewhere`: the text is shown on another screen than that of the key. Without `named`, it is below the
    server's name.
    """
    name = quoted_name(spec.name)
    if spec.disabled:
        why = _("The server {name} is disabled.", name=name) if named else _("It is disabled.")
        key = key_of("servers.disable")
        here = _("Press {key} to enable it.", key=key)
        return sentences(
            why, _("Press {key} in the servers pane to enable it.", key=key) if elsewhere else here
        )
    if spec.problem:
        why = _("Its configuration is invalid.")
        if named:
            why = _("The configuration of the server {name} is invalid.", name=name)
        key = key_of("config.edit")
        here = _("Press {key} to edit it.", key=key)
        return sentences(
            why, _("Press {key} in the servers pane to edit it.", key=key) if elsewhere else here
        )
    return ""


STARTS_IT = N_("{key} starts it")


def start_words(
    status: ServerStatus, key_of: Callable[[str], str], words: str = N_("Press {key} to start it.")
) -> Row:
    """Return `words` with the key that starts a stopped server, or why no key does."""
    if why := why_only_listed(status.spec, key_of, elsewhere=True, named=False):
        return ((why, "dim"),)
    before, _key, after = _(words).partition("{key}")
    return ((before, "dim"), (key_of("bench.toggle"), "text bold"), (after, "dim"))


def configured(host: "Host", server: str, notify: Callable[..., None]) -> ServerStatus | None:
    """Return the status of a server; if it is no longer configured, say so and return None."""
    if (status := host.find(server)) is None:
        notify(not_configured(server), severity="warning", markup=False)
    return status


def toggle_server(host: "Host", status: ServerStatus) -> None:
    """Start a server that is stopped or stopping; stop any other one."""
    if status.state in (ServerState.STOPPED, ServerState.STOPPING):
        host.request_start(status.name)
    else:
        host.request_stop(status.name)
