"""`mcptui servers`: start every configured server, print each result when it is known, stop them all.

Lines are in the order in which the servers started or failed, `--json` in that of the configuration.
"""

import argparse
import json
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from tui.commands.headless import headless, log_step, say_unrecorded, step_in_shell
from tui.commands.progress import progress
from tui.commands.run_output import printed_sentence
from tui.commands.streams import on_terminal, width
from tui.commands.table import Columns, lines_at
from tui.core.context.context_parts import DefinitionTokens
from tui.core.errors import as_sentences, sentences
from tui.core.hidden_text.readable import readable_line
from tui.core.language.translate import N_, as_message, message, together
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason, Transport, fault_words
from tui.core.text import cells_of, clean, clean_line
from tui.core.units import and_more, duration, plural
from tui.core.web import Reach
from tui.runtime.options import Options
from tui.runtime.permission.consent import CONSENT_STEP, described
from tui.runtime.runtime import Runtime

FAILED = 5

MAX_SHOWN_NAME = 40
MAX_NAMED = 20
"""Maximum number of tools with hidden text, and of omitted tools, to name per server."""


def servers(args: argparse.Namespace) -> int:
    """Run `mcptui servers` and return its exit code."""
    return headless(Options.from_args(args), lambda runtime, _: _report(args, runtime), ended=say_unrecorded)


async def _report(args: argparse.Namespace, runtime: Runtime) -> int:
    await runtime.ready(start=False, model=False, record=False)
    runtime.require_usable()
    left_out = runtime.configuration.left_out
    names, unusable = _asked_for(args, runtime)
    told = {problem for problems in left_out.values() for problem in problems}
    for problem in (one for one in runtime.problems if one not in told):
        print(f"mcptui: {clean(problem)}", file=sys.stderr)
    without = ""
    if args.without is not None:
        from tui.commands.server_extensions import extension_id

        without = extension_id(args.without)
    args.extensions |= bool(without)
    if not names and not unusable and not args.json:
        print(_nothing(runtime))
        return 0
    needs_consent = [name for name in names if not runtime.consent.allows(runtime.host.status(name).spec)]
    found = {status.name: status for status in unusable}
    columns = columns_for((*names, *found), width())
    if on_terminal() and not args.json and not args.extensions:
        print(*(f"{line}\n" for line in columns.heading()), sep="", end="", flush=True)

    def show(status: ServerStatus) -> None:
        if not args.json and not (args.extensions and status.state is ServerState.RUNNING):
            tokens = runtime.request.definition_tokens_of(status.name)
            see_log = log_step(status.name, args)
            print("\n".join(lines(status, columns, tokens, see_log)), flush=True)

    def settled(name: str) -> None:
        found[name] = runtime.host.status(name)
        doing.text = still_starting(names, found)
        show(found[name])

    with progress(still_starting(names, found), quiet=args.json) as doing:
        for status in unusable:
            show(status)
        await runtime.host.start_all(names, settled)
    ordered = [found[name] for name in (*names, *(one.name for one in unusable))]
    if args.extensions or args.json:
        await _report_ordered(args, runtime, ordered, without)
    for name in needs_consent:
        runtime.consent.refuse(runtime.host.status(name).spec)
    if needs_consent:
        print(f"mcptui: {_consent_words(runtime, needs_consent)}", file=sys.stderr)
    return 0 if all(status.state is ServerState.RUNNING for status in found.values()) else FAILED


def still_starting(names: Sequence[str], settled: Container[str]) -> str:
    """Return what a command does that waits for servers, "" if it does not."""
    waiting = [clean_line(name, MAX_SHOWN_NAME) for name in names if name not in settled]
    return f"starting {and_more(waiting, 4)}" if waiting else ""


def _asked_for(args: argparse.Namespace, runtime: Runtime) -> tuple[Sequence[str], Sequence[ServerStatus]]:
    """Return the names of the servers to start, and those that cannot be, for their configuration."""
    left_out, failed = runtime.configuration.left_out, StopReason.FAILED_TO_START
    wanted = args.names or [*(one.name for one in runtime.host.statuses()), *left_out]
    unusable = [
        ServerStatus(name, ServerSpec(name), reason=failed, detail=clean_line(as_sentences(problems), 600))
        for name, problems in left_out.items()
        if name in wanted
    ]
    return [runtime.host.status(name).name for name in wanted if name not in left_out], unusable


async def _report_ordered(
    args: argparse.Namespace, runtime: Runtime, statuses: Sequence[ServerStatus], without: str
) -> None:
    """Print what comes in the order of the configuration: extensions, and the array of `--json`."""
    objects, tokens = list[Any](), runtime.request.definition_tokens()
    for status in statuses:
        if not args.extensions or status.state is not ServerState.RUNNING:
            objects.append(as_object(status, tokens.get(status.name)))
            continue
        from tui.commands.server_extensions import extensions_of

        report = await extensions_of(runtime, status.name, without)
        objects.append(report.as_object())
        if not args.json:
            print("\n".join(report.lines(width())), flush=True)
    if args.json:
        print(json.dumps(objects, indent=2))


def _nothing(runtime: Runtime) -> str:
    loaded = runtime.configuration.loaded
    names = loaded.settings.servers if loaded is not None else ()
    if off := ", ".join(clean_line(name, MAX_SHOWN_NAME) for name in names if runtime.is_disabled(name)):
        return f"All servers are disabled: {off}. To use one, remove `disabled = true` from its section."
    hint = "Add one with `mcptui add`, or write a starter file with `mcptui config init`."
    return f"No servers are configured. {hint}"


def _consent_words(runtime: Runtime, names: Sequence[str]) -> str:
    """Return which servers were not started for lack of consent, and what each would run."""
    specs = [runtime.host.status(name).spec for name in names]
    lines = [line for spec in specs for line in described(spec)]
    head = f"{len(specs)} servers were not started: they need your consent. They would run:"
    if len(specs) == 1:
        head = "1 server was not started: it needs your consent. It would run:"
    return "\n".join((head, *lines, CONSENT_STEP))


def as_object(status: ServerStatus, tokens: DefinitionTokens | None = None) -> dict[str, Any]:
    """Return the `--json` object of a server. Its tokens are estimates."""
    running, reach = status.state is ServerState.RUNNING, status.reach
    is_sse = reach is not None and reach.kind == "HTTP+SSE"
    return {
        "name": status.name,
        "status": status.state.value,
        "protocol": status.protocol or None,
        "transport": "http+sse" if is_sse else status.spec.transport.value,
        "url": status.launch if status.spec.url else None,
        "answers": reach.answers if reach is not None else None,
        "http_status": (reach.status or None) if reach is not None else None,
        "dialect": "hello-lines" if status.spec.transport is Transport.LINES else None,
        "server": {"name": status.title, "version": status.version} if running else None,
        "tools": status.tools if running else None,
        "tokens": {
            "total": tokens.total,
            "tools": dict(tokens.tools),
            "instructions": tokens.instructions,
            "estimated": not tokens.measured,
        }
        if running and tokens is not None
        else None,
        "resources": status.resources,
        "prompts": status.prompts,
        "start_ms": None if status.start_ms is None else round(status.start_ms, 1),
        "quarantined": [{"name": name, "why": why} for name, why in status.quarantined],
        "changed_definitions": status.changes,
        "hidden_text": [{"name": name, "what": what} for name, what in status.hidden],
        "listing_problem": status.listing_problem or None,
        "reason": None if running or status.reason is None else status.reason.value,
        "detail": status.detail or None,
        "exit_code": status.exit_code,
        "signal": status.signal or None,
        "stderr_last": status.stderr_last or None,
        "stdout_lines": status.noise if status.printed_words else 0,
        "sign_in": status.sign_in or None,
        "acts_as": status.spec.act_as or None,
        "faults": {"rules": list(status.spec.faults), "injected": status.injected}
        if running and status.fault_rules
        else None,
    }


def _where(reach: Reach) -> str:
    how = message("no response") if reach.silent else message("not contacted")
    how = message("status {code}", code=reach.status) if reach.status and not reach.silent else how
    where, kind = clean_line(reach.where, 300), reach.words_of_kind
    return message("{where} over {kind}, {how}", where=where, kind=kind, how=how)


_HEAD = ("  server", "state", "offers", "start", "protocol", "version")
_WIDTHS = (len("RUNNING"), 44, 7, 10, 16)
_PART = "    "
"""Before the lines about a server."""


def columns_for(names: Iterable[str], cells: int = 0) -> Columns:
    """Return the columns of a list of servers with these names; `cells` are those of the terminal, or 0."""
    shown = [cells_of(clean_line(name, MAX_SHOWN_NAME)) for name in names]
    widths = (2 + max((*shown, len("server"))), *_WIDTHS)
    return Columns(widths, {0, 1, 2, 4, 5}, cells, head=_HEAD, words=(20, 7, 10, 6, 10, 8))


def lines(
    status: ServerStatus,
    columns: Columns,
    tokens: DefinitionTokens | None = None,
    see_log: str = "",
) -> list[str]:
    """Return the lines to print for a server, with the reason below a failed one.

    `see_log` says how to print its log.
    """
    below = [line for text in remarks(status, see_log) for line in lines_at(text, columns.cells, _PART)]
    return [*columns.lines(_row(status, tokens)), *below]


def remarks(status: ServerStatus, see_log: str = "") -> Iterator[str]:
    """Yield what is worth knowing about a server that runs, or why it does not. `see_log` as for `lines`."""
    return _facts(status) if status.state is ServerState.RUNNING else _reasons(status, see_log)


def _row(status: ServerStatus, tokens: DefinitionTokens | None) -> tuple[str, ...]:
    name, state = clean_line(status.name, MAX_SHOWN_NAME), status.state.value
    if status.state is not ServerState.RUNNING:
        mark = "✗" if status.failed else "○"  # a server that waits for consent has not failed
        return (f"{mark} {name}", state, str(status.reason or ""), "", "", "")
    kinds = ((status.tools, "tool"), (status.resources, "resource"), (status.prompts, "prompt"))
    counts = [plural(number, kind) for number, kind in kinds if number is not None]
    if tokens is not None:
        counts.append(tokens.words())
    started = "" if status.start_ms is None else duration(status.start_ms)
    protocol = " ".join(filter(None, (status.protocol, status.spec.transport.remark)))
    identity = clean_line(f"{status.title} {status.version}", 60)
    return (f"● {name}", state, ", ".join(counts), started, protocol, identity)


def _reasons(status: ServerStatus, see_log: str) -> Iterator[str]:
    """Yield why a server does not run."""
    if status.reach is not None:
        yield message("at {where}", where=_where(status.reach))
    if status.detail:
        yield clean_line(sentences(status.detail, step_in_shell(status, see_log)), 600)
    if status.unquoted_line:
        yield message("log: {line}", line=clean_line(status.unquoted_line, 300))
    yield from _printed(status)


def _facts(status: ServerStatus) -> Iterator[str]:
    """Yield what is worth knowing about a server that runs."""
    if status.sign_in:
        yield status.sign_in
    if status.reach is not None:
        yield message("at {where}", where=_where(status.reach))
    if status.listing_problem:
        yield together("tools/list: ", clean_line(status.listing_problem, 300))
    if status.spec.act_as:
        yield message("acts as {host}", host=clean_line(status.spec.act_as, 40))
    yield from _printed(status)
    yield from filter(None, (fault_words([status]), status.change_words if status.changes else ""))
    for text, rest, listed in (
        (N_("hidden text: {name}: {why}"), N_("and {n} more with hidden text"), status.hidden),
        (N_("omitted: {name}: {why}"), N_("and {n} more omitted"), status.quarantined),
    ):
        for name, why in listed[:MAX_NAMED]:
            yield as_message(text, name=readable_line(name, 60), why=clean_line(why, 300))
        if (more := len(listed) - MAX_NAMED) > 0:
            yield as_message(rest, n=f"{more:,}")


def _printed(status: ServerStatus) -> list[str]:
    return [together("! ", printed)] if (printed := printed_sentence(status)) else []
