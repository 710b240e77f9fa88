"""The rows of a server in the servers pane: its line and details; `toggle_server` starts or stops it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.core.secrets.redact import Redactor
from tui.core.servers import PRINT_STEP, ServerSpec, ServerState, ServerStatus, StopReason
from tui.core.text import clean_line, quoted_name
from tui.core.units import age, clock, count, duration, plural
from tui.ui.widgets.bar import key_cap
from tui.ui.widgets.rows import Row, crop, head_of, pad, spread, text_of, width_of, wrap
from tui.ui.widgets.symbols import Symbols

if TYPE_CHECKING:
    from tui.core.context.context_parts import DefinitionTokens
    from tui.host.host import Host

Fact = tuple[str, str, str]
"""The name, the value and the style of a fact."""

STATE_CELLS = 8
LEAST_GAP = 3
"""Minimum columns between a server's reason and its age, so that the age is a separate column."""

PID_FROM = 54
"""Minimum columns for showing the process id."""

MOVING = (ServerState.STARTING, ServerState.STOPPING)

WAITING = (StopReason.NEEDS_CONSENT, StopReason.NEEDS_SIGN_IN)
"""Reasons of a server that waits for the user."""

IN_SERVERS = " in the servers pane"
"""Says, on other screens, where the keys for enabling and editing a server work."""

DETAIL_ROWS = 3
FACT_CELLS = 10

STATE_STYLES = {
    ServerState.RUNNING: "ok",
    ServerState.STARTING: "warn",
    ServerState.STOPPING: "warn",
    ServerState.STOPPED: "dim",
}


@dataclass(frozen=True, slots=True)
class Look:
    """Settings that the rows of all servers share; `turn` is the frame of the spinner.

    `tokens` are those of each server's definitions, by server name. Without `ages`, they use the last column;
    without `units`, it only has the number.
    """

    columns: int
    name_cells: int
    symbols: Symbols
    turn: int
    now_ns: int
    redactor: Redactor
    tokens: Mapping[str, "DefinitionTokens"] = field(default_factory=dict)
    ages: bool = True
    units: bool = True


def server_rows(status: ServerStatus, look: Look, *, selected: bool, unfolded: bool) -> list[Row]:
    """Return the line of a server, followed by its next step if `selected`, and all details if `unfolded`."""
    rows = [head_row(status, look)]
    rows.extend(((("  ", ""), *row)) for row in _detail(status, look, selected))
    if unfolded:
        for name, value, style in _facts(status, look):
            first: Row = (("  " + name.ljust(FACT_CELLS), "dim"),)
            rows.extend(wrap(((value, style),), look.columns, first))
    return rows


def head_row(status: ServerStatus, look: Look) -> Row:
    """Return the line of a server: sign, name, state, tools or reason, tokens, age."""
    sign, style = _sign(status, look)
    name = clean_line(status.name, 64)
    left: list[tuple[str, str]] = [(f"{sign} ", style)]
    left.extend(pad(((head_of(name, look.name_cells), "text"),), look.name_cells))
    gap = "  " if look.columns >= 44 else " "
    left.append((gap + status.state.ljust(STATE_CELLS) + gap, style))
    left.extend(_what(status))
    right = _since(status, look)
    if not look.ages:
        left += [] if status.state not in MOVING else right
        right = ()
    tokens = look.tokens.get(status.name)
    if tokens is not None and status.state is ServerState.RUNNING:
        words = (_token_words(tokens, look), "dim")
        if right and width_of((*left, words, *right)) + 4 <= look.columns:
            right = (words, ("   ", ""), *right)
        elif width_of((*left, words)) + 2 <= look.columns:
            right = (words,)
    least = LEAST_GAP if status.state is ServerState.STOPPED else 1
    if status.state not in MOVING and width_of((*left, *right)) + least > look.columns:
        right = ()
    return spread(tuple(left), right, look.columns)


def _token_words(tokens: "DefinitionTokens", look: Look) -> str:
    return tokens.words() if look.units else tokens.words().removesuffix("s").removesuffix(" token")


def fitted(statuses: Sequence[ServerStatus], look: Look) -> Look:
    """Return a look that fits all rows, if necessary without ages, or without units of tokens.

    If one running server has no room for a column, no row has it: a column has one meaning.
    """
    running = [status for status in statuses if status.state is ServerState.RUNNING]

    def tokens_fit(look: Look) -> bool:
        return all(
            _token_words(look.tokens[status.name], look) in text_of(head_row(status, look))
            for status in running
            if status.name in look.tokens
        )

    def ages_fit(look: Look) -> bool:
        return all(
            text_of(head_row(status, look)).rstrip().endswith(text_of(_since(status, look)).rstrip())
            for status in running
        )

    for ages, units in ((True, True), (False, True), (True, False), (False, False)):
        found = replace(look, ages=ages, units=units)
        if tokens_fit(found) and (not ages or ages_fit(found)):
            return found
    sizes = [_token_words(tokens, found) for tokens in look.tokens.values()]
    shown = [text_of(head_row(status, found)) for status in statuses]
    has_tokens = any(size in row for size in sizes for row in shown)
    bare = replace(look, tokens={})
    return found if has_tokens or not ages_fit(bare) else bare


def _sign(status: ServerStatus, look: Look) -> tuple[str, str]:
    symbols = look.symbols
    if status.failed:
        return symbols.failed, "bad"
    style = STATE_STYLES[status.state]
    match status.state:
        case ServerState.RUNNING:
            return symbols.running, style
        case ServerState.STOPPED:
            return symbols.stopped, style
        case _:
            return symbols.spinner[look.turn % len(symbols.spinner)], style


def _what(status: ServerStatus) -> Iterator[tuple[str, str]]:
    match status.state:
        case ServerState.STARTING if status.sign_in.startswith("waiting"):
            yield status.sign_in, "warn"
        case ServerState.RUNNING:
            yield tool_words(status), "dim"
            if remark := status.spec.transport.remark:
                yield f" {remark}", "warn"
        case ServerState.STOPPED:
            asks = status.reason in WAITING
            yield reason_words(status), "bad" if status.failed else "warn" if asks else "dim"


def running_words(statuses: Sequence[ServerStatus]) -> str:
    """Return how many enabled servers are running: "3 of 4"."""
    enabled = sum(not status.spec.disabled for status in statuses)
    running = sum(status.state is ServerState.RUNNING for status in statuses)
    return f"{running} of {enabled}" if enabled else "all disabled" if statuses else ""


def tool_words(status: ServerStatus) -> str:
    """Return the number of tools: "12 tools, 3 off, 1 task" if a task waits.

    If some are not offered for another reason: "9 of 12 tools".
    """
    tasks = f", {plural(status.tasks, 'task')}" if status.tasks else ""
    if status.withheld > status.tools_off:
        return f"{status.tools - status.withheld} of {plural(status.tools, 'tool')}{tasks}"
    off = f", {status.tools_off} off" if status.tools_off else ""
    return f"{plural(status.tools, 'tool')}{off}{tasks}"


def reason_words(status: ServerStatus) -> str:
    """Return why a server is stopped: "exited, code 1", "crashed, SIGSEGV", "by you"."""
    match status.reason:
        case StopReason.REQUESTED:
            return "by you"
        case StopReason.EXITED | StopReason.CRASHED if status.signal:
            return f"{status.reason}, {clean_line(status.signal, 16)}"
        case StopReason.EXITED | StopReason.CRASHED if status.exit_code is not None:
            return f"{status.reason}, code {status.exit_code}"
    return str(status.reason)


def _since(status: ServerStatus, look: Look) -> Row:
    unstarted = status.reason in (StopReason.NOT_STARTED, StopReason.DISABLED, *WAITING)
    if status.state is ServerState.STOPPED and unstarted:
        return ()
    seconds = (look.now_ns - status.since_ns) / 1e9
    since = clock(seconds) if status.state in MOVING else age(seconds)
    if status.reach is not None and status.reach.words and look.columns >= PID_FROM:
        style = "warn" if status.reach.silent else "dim"
        return ((f"{status.reach.words}   ", style), (since.rjust(9), "dim"))
    if status.pid is not None and look.columns >= PID_FROM:
        return ((f"pid {status.pid}   ", "dim"), (since.rjust(9), "dim"))
    return ((since, "dim"),)


def _detail(status: ServerStatus, look: Look, selected: bool) -> Iterator[Row]:
    room = look.columns - 2
    last = clean_line(status.stderr_last, room)
    if status.state is ServerState.STARTING and last:
        yield crop(((last, "dim"),), room)
    if status.state is ServerState.RUNNING:
        yield from _warnings(status, room)
    if words := status.printed_words:
        first = clean_line(f": {status.printed}" if selected and status.printed else "", room)
        yield crop((("! ", "warn"), (words, "warn"), (first, "dim")), room)
    if selected and status.reason in WAITING:
        yield from wrap(((clean_line(status.next_step, 400), "dim"),), room)
    if not status.failed:
        return
    sentence = clean_line(status.detail, 600)
    if status.reason in (StopReason.EXITED, StopReason.CRASHED) and last:
        yield crop((("last: ", "dim"), (last, "bad")), room)
    elif sentence:
        lines = wrap(((sentence, "bad"),), room)
        yield from lines[: None if selected else DETAIL_ROWS]
    if selected and status.next_step:
        yield from wrap(((clean_line(status.next_step, 400), "dim"),), room)


def _warnings(status: ServerStatus, room: int) -> Iterator[Row]:
    """Yield what is wrong with a running server."""
    if status.reach is not None and status.reach.silent:
        yield from wrap(((clean_line(status.reach.problem, 400), "warn"),), room)[:DETAIL_ROWS]
    if status.listing_problem:
        yield crop(((clean_line(f"tools/list: {status.listing_problem}"), "warn"),), room)
    if status.changes:
        yield from wrap(((status.change_words, "warn"),), room)[:DETAIL_ROWS]
    if status.quarantined:
        yield crop(((f"{plural(len(status.quarantined), 'tool')} omitted", "warn"),), room)
    if status.hidden:
        yield crop((("! ", "warn"), (hidden_words(status), "warn")), room)


def _facts(status: ServerStatus, look: Look) -> Iterator[Fact]:
    spec = status.spec
    command = spec.shown_url or " ".join(spec.shown_command)
    yield "address" if spec.url else "command", look.redactor.redact_line(command, 400), "text"
    if status.reach is not None:
        silent = status.reach.silent
        how = ", ".join(filter(None, (status.reach.kind, status.reach.words)))
        yield "transport", how, "warn" if silent else "text"
    if status.title or status.version:
        yield "server", clean_line(f"{status.title} {status.version}", 120), "text"
    if status.sign_in:
        yield "sign-in", status.sign_in, "text"
    if status.protocol:
        yield "protocol", f"{clean_line(status.protocol, 40)} {status.spec.transport.remark}".rstrip(), "text"
    if status.state is ServerState.RUNNING:
        yield "offers", ", ".join(_offers(status)), "text"
    if spec.send_as_is:
        yield "secrets", "sent to the model as is", "warn"
    if (tokens := look.tokens.get(status.name)) is not None:
        yield "tokens", token_facts(tokens), "text"
    yield from _process(status)
    yield from _tool_problems(status)
    if status.noise:
        yield "stdout" if status.printed_words else "noise", noise_words(status), "warn"
    if status.stderr_last and status.state is ServerState.RUNNING:
        yield "stderr", clean_line(status.stderr_last), "dim"


def _process(status: ServerStatus) -> Iterator[Fact]:
    process = []
    if status.pid is not None:
        process.append(f"pid {status.pid}")
    if status.start_ms is not None:
        process.append(f"started in {duration(status.start_ms)}")
    if status.restarts:
        process.append(f"restarted {status.restarts} times" if status.restarts > 1 else "restarted once")
    if process:
        yield "start" if status.spec.url else "process", ", ".join(process), "text"


def trust_words(server: str, key: str, *, trusted: bool) -> str:
    """Return the effect of a change of trust in a server, and the key that undoes it."""
    if trusted:
        means = "is trusted. Its read-only tools run without approval."
    else:
        means = "is not trusted. Its calls need approval."
    return f"The server {quoted_name(server)} {means} Press {key} to undo."


def noise_words(status: ServerStatus) -> str:
    """Return how much output was not messages."""
    if status.reach is not None:
        return f"{plural(status.noise, 'non-protocol response')}"
    return f"{status.printed_words}, in its log. {PRINT_STEP}"


def token_facts(tokens: "DefinitionTokens") -> str:
    """Return the tokens of a server in each request: "~210 in each request, ~20 of them instructions"."""
    sign = "" if tokens.measured else "~"
    words = [f"{sign}{count(tokens.total - tokens.left_out)} in each request"]
    if tokens.instructions:
        words.append(f"{sign}{count(tokens.instructions)} of them instructions")
    if tokens.left_out:
        words.append(f"{sign}{count(tokens.left_out)} more in tools that are not loaded")
    return ", ".join(words)


def _tool_problems(status: ServerStatus) -> Iterator[Fact]:
    if status.listing_problem:
        yield "listing", clean_line(f"tools/list: {status.listing_problem}"), "warn"
    for name, what in status.hidden[:8]:
        yield "hidden", f"{clean_line(name, 64)}: {clean_line(what, 300)}", "warn"
    if len(status.hidden) > 8:
        yield "", f"and {len(status.hidden) - 8} more with hidden text", "warn"
    for name, why in status.quarantined[:8]:
        yield "omitted", f"{clean_line(name, 64)}: {clean_line(why)}", "warn"
    if len(status.quarantined) > 8:
        yield "", f"and {len(status.quarantined) - 8} more tools", "warn"


def hidden_words(status: ServerStatus) -> str:
    """Return how many definitions have hidden text: "2 tools have hidden text"."""
    tools = sum(name != "instructions" for name, _ in status.hidden)
    about = [plural(tools, "tool")] if tools else []
    about += ["the instructions"] if tools < len(status.hidden) else []
    return f"{' and '.join(about)} {'has' if tools == 1 == len(status.hidden) else 'have'} hidden text"


def _offers(status: ServerStatus) -> Iterator[str]:
    yield plural(status.tools, "tool")
    if hidden := status.withheld - status.tools_off:
        yield f"{count(hidden)} not offered to the model"
    if status.resources is not None:
        yield plural(status.resources, "resource")
    if status.prompts is not None:
        yield plural(status.prompts, "prompt")


def why_only_listed(
    spec: ServerSpec, key_of: Callable[[str], str], where: str = "", *, named: bool = True
) -> str:
    """Return why a server cannot be started and which key helps `where`, or "" if it can.

    Without `named`, the text is shown below the server's name.
    """
    server = f"the server {quoted_name(spec.name)}"
    if spec.disabled:
        subject = f"T{server[1:]}" if named else "It"
        return f"{subject} is disabled. Press {key_of('servers.disable')}{where} to enable it."
    if spec.problem:
        subject = f"The configuration of {server}" if named else "Its configuration"
        return f"{subject} is invalid. Press {key_of('config.edit')}{where} to edit it."
    return ""


def start_words(
    status: ServerStatus, key_of: Callable[[str], str], action_id: str, words: str = "to start it."
) -> Row:
    """Return the key that starts a stopped server and `words`, or why no key does."""
    if why := why_only_listed(status.spec, key_of, IN_SERVERS, named=False):
        return ((why, "dim"),)
    press: Row = (("Press ", "dim"),) if words.endswith(".") else ()
    return (*press, *key_cap(key_of(action_id), words))


def toggle_server(host: "Host", status: ServerStatus) -> None:
    """Start a server that is stopped or stopping; stop any other one."""
    if status.state in (ServerState.STOPPED, ServerState.STOPPING):
        host.request_start(status.name)
    else:
        host.request_stop(status.name)
