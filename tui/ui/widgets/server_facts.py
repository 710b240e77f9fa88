"""Facts about a server, under headings: what it is, how it runs or is reached, what it offers."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tui.core import units
from tui.core.jsonrpc.extensions import DEPRECATED, Use
from tui.core.jsonrpc.protocol import is_modern
from tui.core.language.translate import N_, _, c_, localized, n_, sentences
from tui.core.servers import PRINT_STEP, ServerState, ServerStatus, Transport, fault_counts
from tui.core.text import cells_of, clean_line, compact, padded
from tui.core.units import count
from tui.core.workbench import ServerIdentity
from tui.ui.widgets import times
from tui.ui.widgets.rows import Row, wrap

if TYPE_CHECKING:
    from tui.core.context.context_parts import DefinitionTokens

Fact = tuple[str, str, str]
"""The name, the value and the style of a fact."""

FACT_CELLS = 14
MOST_PIDS = 12
MOST_LEFT_OUT = 50


def fact_rows(facts: Iterable[Fact], width: int, indent: str) -> list[Row]:
    """Return facts as wrapped rows."""
    found = list(facts)
    cells = max((FACT_CELLS, *(cells_of(name) + 2 for name, _value, _style in found)))
    return [
        row
        for name, value, style in found
        for row in wrap(((value, style),), width, first=((indent + padded(name, cells), "dim"),))
    ]


def server_facts(
    status: ServerStatus,
    identity: ServerIdentity,
    tokens: "DefinitionTokens | None",
    share: float | None = None,
) -> list[tuple[str, Iterator[Fact]]]:
    """Return what is known about a server under headings; `share` is of one processor, now."""
    process = (_("PROCESS"), _process(status, identity, share))
    return [
        (_("SERVER"), _server(status, identity)),
        (_("CONNECTION"), _connection(status)) if status.spec.url else process,
        (_("OFFERS"), _offers(status, identity, tokens)),
        (_("EXTENSIONS"), _extensions(status, identity)),
        (_("OMITTED"), _left_out(status)),
        (_("HIDDEN TEXT"), _of_tools(status.hidden)),
    ]


def _server(status: ServerStatus, identity: ServerIdentity) -> Iterator[Fact]:
    name = clean_line(identity.title or identity.name or status.title, 120)
    version = clean_line(identity.version or status.version, 40)
    if name or version:
        yield _("name"), f"{name} {version}".strip(), "text"
    protocol = clean_line(identity.protocol or status.protocol, 40)
    if protocol:
        transport = status.spec.transport
        era = _("stateless: no session") if is_modern(protocol) else _("a session, opened with initialize")
        era = _("{remark} transport", remark=_(transport.remark)) if transport.remark else era
        era = _("emulated by mcptui") if transport is Transport.LINES else era
        yield _("protocol"), f"{protocol}   {era}", "text"
    hint = identity.hints.get("discovery")
    if words := hint.words(time.monotonic_ns()) if hint is not None else "":
        yield _("discovery"), localized(words), "text"
    if status.spec.act_as:
        name = clean_line(status.spec.act_as, 40)
        yield _("acts as"), f"{name}   {_('mcptui introduces itself as it')}", "warn"
    if status.sign_in:
        yield _("sign-in"), localized(status.sign_in), "text"
    if status.spec.transport is Transport.LINES:
        yield _("dialect"), _('"hello" lines, non-standard: tools only'), "warn"
        yield "", _("No resources, prompts, roots, sampling, elicitation, progress or tasks"), "dim"


def _connection(status: ServerStatus) -> Iterator[Fact]:
    yield _("address"), clean_line(status.launch, 1200), "text"
    if names := tuple(status.spec.headers):
        shown = ", ".join(clean_line(name, 60) for name in names[:40])
        yield _("headers"), f"{shown}   {_('values are not shown')}", "text"
    if (reach := status.reach) is not None:
        yield _("transport"), localized(reach.words_of_kind), "text"
        if reach.status:
            yield _("last status"), f"HTTP {reach.status}", "text"
        if reach.answers is not None:
            problem = clean_line(localized(reach.problem), 400)
            words, style = (_("no: {why}", why=problem), "warn") if reach.silent else (_("yes"), "text")
            yield _("answers"), words, style
    if status.state is not ServerState.STOPPED:
        yield from _times(status)


def _process(status: ServerStatus, identity: ServerIdentity, share: float | None) -> Iterator[Fact]:
    yield _("command"), clean_line(status.launch, 1200), "text"
    if folder := status.spec.starts_in:
        yield _("folder"), clean_line(folder, 400), "text"
    names = identity.environment or tuple(status.spec.env)
    if names:
        shown = ", ".join(clean_line(name, 60) for name in names[:40])
        yield _("environment"), f"{shown}   {_('values are not shown')}", "text"
    if status.state is ServerState.STOPPED:
        return
    pids = identity.pids or ((status.pid,) if status.pid is not None else ())
    if pids:
        yield "pid" if len(pids) == 1 else _("pids"), units.and_more([*map(str, pids)], MOST_PIDS), "text"
    if identity.memory is not None:
        yield _("memory"), units.size(identity.memory), "text"
    if identity.cpu_seconds is not None:
        words = _("{seconds} s in total", seconds=f"{identity.cpu_seconds:.1f}")
        if share is not None:
            words = f"{_('{share} % now', share=f'{share * 100:.0f}')}, {words}"
        yield _("CPU time"), words, "text"
    yield from _times(status)


def _times(status: ServerStatus) -> Iterator[Fact]:
    if status.state is ServerState.RUNNING:
        ago = (time.monotonic_ns() - status.since_ns) / 1e9
        started = units.time_of_day(time.time_ns() - round(ago * 1e9))[:8] if status.since_ns else ""
        since = [_("since {time}", time=started)] if started else []
        yield c_("label of a duration", "running"), _(", ").join((*since, times.clock(ago))), "text"
    if status.start_ms is not None:
        yield _("started in"), times.duration(status.start_ms), "text"
    if status.restarts:
        yield _("restarts"), _("{n}, after it exited unexpectedly", n=status.restarts), "warn"
    if status.noise:
        words = n_("{n} non-protocol response", "{n} non-protocol responses", status.noise)
        if status.reach is None:
            lines = localized(status.printed_words)
            words = sentences(_("{lines}, in its log.", lines=lines), _(PRINT_STEP))
        yield "stdout" if status.printed_words else _("noise"), words, "warn"
    if status.invalid:
        yield _("messages"), localized(status.invalid), "warn"
    if said := fault_counts([status]):
        rules = "".join(f". {clean_line(rule, 200)}" for rule in status.spec.faults)
        yield _("faults"), f"{localized(said)}{rules}", "warn"


def _offers(
    status: ServerStatus, identity: ServerIdentity, tokens: "DefinitionTokens | None"
) -> Iterator[Fact]:
    if status.state is not ServerState.RUNNING:
        return
    counts = {"tools": status.tools, "resources": status.resources, "prompts": status.prompts}
    capabilities = dict(list(identity.capabilities.items())[:40])
    capabilities.pop("extensions", None)
    for name in dict.fromkeys((*counts, *capabilities)):
        count = counts.get(name)
        words = [units.count(count)] if count is not None and (count or name in capabilities) else []
        if name == "tools" and status.withheld:
            words.append(_("{n} not offered to the model", n=units.count(status.withheld)))
        if name in capabilities:
            words += capability_words(capabilities[name])
        if (hint := identity.hints.get(name)) is not None:
            words += filter(None, [localized(hint.words(time.monotonic_ns()))])
        if words or name in capabilities:
            mark = f"   {_('deprecated')}" if name in DEPRECATED else ""
            heading = _(_KINDS[name]) if name in _KINDS else clean_line(str(name), FACT_CELLS - 2)
            yield heading, f"{_(', ').join(words) or _('yes')}{mark}", "text"
    if tokens is not None:
        yield _("tokens"), token_facts(tokens), "text"


_KINDS = {"tools": N_("tools"), "resources": N_("resources"), "prompts": N_("prompts")}


def _extensions(status: ServerStatus, identity: ServerIdentity) -> Iterator[Fact]:
    if status.state is not ServerState.RUNNING:
        return
    for one in identity.extensions:
        stage = one.known.stage if one.known is not None else ""
        settings = ", ".join(capability_words(one.settings)) if one.settings else ""
        said = (one.name, localized(one.declared_by), localized(one.why), _(stage), settings)
        words = "   ".join(filter(None, said))
        yield _(one.use.value), words, "text" if one.use is Use.IN_USE else "dim"


def capability_words(value: Any) -> list[str]:
    """Return the members of a capability: set flags by name, others as JSON."""
    if not isinstance(value, Mapping):
        return [compact(value, 80)]
    words = []
    for name, inner in list(value.items())[:20]:
        if inner is True or inner == {}:
            words.append(clean_line(str(name), 60))
        elif inner is not False and inner is not None:
            words.append(f"{clean_line(str(name), 40)} {compact(inner, 60)}")
    return words


def _left_out(status: ServerStatus) -> Iterator[Fact]:
    if status.listing_problem:
        yield "! tools/list", clean_line(localized(status.listing_problem), 300), "warn"
    for tools in (status.quarantined, status.not_offered):
        yield from _of_tools(
            [(_("a tool"), f"{clean_line(name, 64)}: {localized(why)}") for name, why in tools]
        )


def _of_tools(rows: Sequence[tuple[str, str]]) -> Iterator[Fact]:
    for name, words in rows[:MOST_LEFT_OUT]:
        yield f"! {clean_line(name, 40)}", clean_line(words, 370), "warn"
    if len(rows) > MOST_LEFT_OUT:
        more = len(rows) - MOST_LEFT_OUT
        yield "", n_("and {n} more tool", "and {n} more tools", more), "warn"


def token_count(tokens: "DefinitionTokens") -> str:
    """Return the tokens of a server's definitions in each request: "~210"."""
    return f"{'' if tokens.measured else '~'}{count(tokens.total - tokens.left_out)}"


def token_facts(tokens: "DefinitionTokens") -> str:
    """Return the tokens of a server in each request: "~210 in each request, ~20 of them instructions"."""
    sign = "" if tokens.measured else "~"
    words = [_("{tokens} in each request", tokens=token_count(tokens))]
    if tokens.instructions:
        words.append(_("{tokens} of them instructions", tokens=f"{sign}{count(tokens.instructions)}"))
    if tokens.left_out:
        words.append(
            _("{tokens} more in tools that are not loaded", tokens=f"{sign}{count(tokens.left_out)}")
        )
    return _(", ").join(words)
