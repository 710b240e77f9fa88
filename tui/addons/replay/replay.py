"""`mcptui traffic FILE --replay`: sends the recorded requests to a live server and prints differences."""

import argparse
import asyncio
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field, replace
from typing import Any

from tui.addons.replay.live import (
    HANDSHAKE,
    LiveConnection,
    NotStartedError,
    Replay,
    ReplayItem,
    ReplayResult,
    plan,
)
from tui.addons.replay.mock import server_of
from tui.commands.headless import Interrupt
from tui.commands.permission.terminal_approver import asked_line, is_terminal, yes_or_no
from tui.commands.traffic_selection import RecordingChoice, Selection, say
from tui.core.comparison.values import text_lines
from tui.core.context.built_in_tools import READ
from tui.core.errors import ConfigError, UsageError, dotted
from tui.core.hidden_text.readable import readable_line
from tui.core.jsonrpc.reader import DuplicateKeyReader
from tui.core.permission.rules import Rule, Rules, Verdict
from tui.core.ports import BY_KEY, USER, DecisionKind, DecisionLog, DecisionRecord
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, quoted_name
from tui.core.tools import Tool
from tui.core.traffic import ANSWERS, Direction, Kind
from tui.core.units import duration, plural
from tui.host.catalog import Walk
from tui.runtime.signals import on_signals
from tui.settings.load import Loaded, load
from tui.settings.locations import config_path
from tui.settings.specs import approval_rules, server_specs
from tui.settings.state.permission.stored_decisions import StoredDecisions

BY_FLAG = "option --yes"
BY_APPROVE = "option --approve all"
MAX_RECORDED = 100
"""Tools that are recorded individually; all are listed."""

MAX_ARGUMENTS = 20
"""Maximum different arguments to list per tool or method."""

HARMLESS = re.compile(r"initialize|ping|notifications/(?:initialized|cancelled|progress)|[a-z/]+/list")
"""Methods that are listed but not recorded as decisions."""

MAX_CHARS = 300
"""Maximum characters of the arguments of a call to list."""

CHANGES, READS = "may change something", "read-only"


@dataclass(frozen=True, slots=True)
class LiveServer:
    """The server that receives the messages. `tools` are its current tools, or None for a command after `--`.

    `only_read` are the names of those that a trusted server marks as read-only.
    """

    name: str
    rules: Rules = field(default_factory=Rules)
    tools: Mapping[str, Tool] | None = None
    only_read: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Sent:
    """A tool, or the method of other messages, with whether and why they are sent or not.

    `words` say that of the calls of a tool. `by` is the rule that decided, or "".
    """

    name: str
    words: str = ""
    is_sent: bool = True
    by: str = ""


class ReplayApproval:
    """Judges the messages of a replay. `items` are all messages; those that are not sent have the reason.

    `by` is the flag that confirms, or "" if the user is asked. A rule that requires approval is answered by
    the user or by `--approve all`, not by `--yes`.
    """

    def __init__(self, items: Iterable[ReplayItem], server: LiveServer, by: str = "") -> None:
        self._server = server
        self._by = by
        self._sent: dict[_Sent, Counter[str]] = {}  # with the arguments of each, "" for none
        # On one line each: a line break would split a message into two.
        lines = (replace(one, raw=one.raw.replace(b"\r", b" ").replace(b"\n", b" ")) for one in items)
        self.items = [self._judged(item) for item in lines]

    def _judged(self, item: ReplayItem) -> ReplayItem:
        if item.left_out:
            return item
        message = _message(item.raw)
        if isinstance(message, str):
            return replace(item, left_out=message)
        method, params = message.get("method"), message.get("params")
        if (item.entry.kind in ANSWERS) == ("method" in message):
            return replace(item, left_out="the message is not of the recorded kind")
        if not isinstance(method, str):
            return item
        params = params if isinstance(params, dict) else {}
        if method == "tools/call":
            return self._judged_call(item, str(params.get("name", "")), params.get("arguments"))
        if method == "resources/read":
            arguments = {"server": self._server.name, "uri": params.get("uri")}
            rule = self._server.rules.deciding(self._server.name, READ, arguments)
            if (refused := self._by_rule(item, method, rule)) is not None:
                return refused
        shown = {name: one for name, one in params.items() if name != "_meta"}
        self._add(_Sent(method), {} if method == "initialize" else shown)
        return item

    def _add(self, sent: _Sent, arguments: Any = None) -> None:
        words = readable_line(json.dumps(arguments, ensure_ascii=False), MAX_CHARS) if arguments else ""
        self._sent.setdefault(sent, Counter())[words] += 1

    def _judged_call(self, item: ReplayItem, name: str, arguments: Any) -> ReplayItem:
        server = self._server
        tool = None if server.tools is None else server.tools.get(name)
        rule = server.rules.deciding(server.name, name, arguments if isinstance(arguments, dict) else {})
        if (refused := self._by_rule(item, name, rule)) is not None:
            return refused
        why = ""
        if server.tools is not None and tool is None:
            why = "the server does not list this tool"
        elif tool is not None and tool.is_unaccepted:
            why = f"not accepted: {tool.withheld}"
        if why:
            self._add(_Sent(name, f"not sent: {why}", is_sent=False, by="default"))
            return replace(item, refusal=f"not sent: {clean_line(why, 200)}")
        words = READS if name in server.only_read else CHANGES
        if rule is not None and rule.action is Verdict.ASK:
            words += f", the rule “{rule}” requires approval"
        self._add(_Sent(name, words), arguments)
        return item

    def _by_rule(self, item: ReplayItem, name: str, rule: Rule | None) -> ReplayItem | None:
        """Return the item with the reason if a rule prevents it from being sent, otherwise None."""
        if rule is not None and rule.action is Verdict.DENY:
            words = f"denied by the rule {rule}"
            kept = replace(item, left_out=f"denied by the rule {clean_line(str(rule), 200)}")
        elif rule is not None and rule.action is Verdict.ASK and self._by == BY_FLAG:
            words = f"the rule “{rule}” requires approval, which --yes does not give"
            kept = replace(item, refusal=f"not sent: {clean_line(words, 300)}. Use --approve all to send it")
        else:
            return None
        self._add(_Sent(name, f"not sent: {words}", is_sent=False, by=f"rule {rule}"))
        return kept

    def lines(self) -> list[str]:
        """Return clean lines: for each tool and method, what is sent, with its arguments, and what is not."""
        rows = list[str]()
        calls = [sent for sent in self._sent if sent.words]
        calls.sort(key=lambda one: (not one.is_sent, one.words, one.name))
        others = [sent for sent in self._sent if not sent.words]
        others.sort(key=lambda one: -self._sent[one].total())
        for sent in (*calls, *others):
            number = self._sent[sent].total()
            name = clean_line(sent.name, 200) or "(no name)"
            what = plural(number, "call" if sent.words else "message")
            words = f", {clean_line(sent.words, 300)}" if sent.words else ""
            rows.append(f"  {name}  {what}{words}")
            found = [one for one in self._sent[sent].most_common() if one[0]]
            shown = ((words, f" ×{times}" if times > 1 else "") for words, times in found[:MAX_ARGUMENTS])
            rows += [f"    {words}{times}" for words, times in shown]
            if more := sum(times for _, times in found[MAX_ARGUMENTS:]):
                rows.append(f"    and {more} with other arguments")
        return [f"sends to {clean_line(self._server.name, 80)}:", *(rows or ["  nothing"])]

    async def agreed(self, decisions: DecisionLog) -> bool:
        """Show what would be sent, and return whether the user confirms.

        Records a decision for each tool. Raises UsageError if there is no terminal to ask on.
        """
        say("\n".join(self.lines()))
        if not any(sent.is_sent for sent in self._sent):
            self._record(decisions, is_yes=False, by=BY_KEY)
            return True
        if not self._by and not is_terminal():
            self._record(decisions, is_yes=False, by="default (no terminal)")
            raise UsageError("nothing was sent: no terminal to ask on.", next_step="Use --yes to send them.")
        agreed = bool(self._by or yes_or_no(await asked_line("Send them? [y/N] ") or ""))
        self._record(decisions, is_yes=agreed, by=self._by or BY_KEY)
        return agreed

    def _record(self, decisions: DecisionLog, *, is_yes: bool, by: str) -> None:
        recorded = [one for one in self._sent if one.words or not HARMLESS.fullmatch(one.name)]
        for sent in recorded[:MAX_RECORDED]:
            number = self._sent[sent].total()
            decisions.add(
                DecisionRecord(
                    DecisionKind.CALL,
                    self._server.name,
                    f"{clean_line(sent.name, 80)} (replay of {plural(number, 'call')})",
                    is_yes and sent.is_sent,
                    sent.by or by,
                    USER,
                    asked=not sent.by and by == BY_KEY,
                )
            )


def _message(raw: bytes) -> Mapping[str, Any] | str:
    """Return the parsed message, or why it is not sent, such as an ambiguous duplicate key."""
    reader = DuplicateKeyReader()
    try:
        found = reader.read(raw.decode())
    except (ValueError, RecursionError):
        return "it is not JSON"
    if reader.duplicate is not None:
        return "it has a duplicate key"
    return found if isinstance(found, dict) else "it is not a JSON object"


async def listed_server(
    name: str, config: str | None, walk: Walk, introduction: Mapping[str, Any], *, trust: bool
) -> LiveServer:
    """Return a configured server that has listed its tools."""
    from tui.runtime.options import Options
    from tui.runtime.runtime import Runtime

    runtime = Runtime(Options(config=config, save=False, command="traffic", trust_config=trust), os.environ)
    try:
        await runtime.ready(start=False, model=False, record=False, taps=False, session=False)
        policy = runtime.turn_context.policy
        tools = {tool.name: tool for tool in await runtime.host.judged(name, walk, introduction)}
        only_read = frozenset(tool.name for tool in tools.values() if policy.only_reads(tool))
        return LiveServer(name, policy.rules, tools, only_read)
    finally:
        await runtime.shutdown()


SAME, DIFFERENT, INCOMPLETE, NOT_STARTED = 0, 1, 2, 5

MAX_REASONS = 3
"""Maximum different reasons to name why requests were omitted."""


def replay(args: argparse.Namespace, choice: RecordingChoice) -> int:
    """Replay and return the exit code.

    Raises UsageError if the server is not in the recording or not configured, StorageError if the recording
    cannot be read.
    """
    items = list[ReplayItem]()
    server = ""
    with closing(choice.selections()) as selections:
        for selection in selections:
            items, passing, server = _items(args, selection)
    if choice.query.root is not None and not any(item.entry.seq in passing for item in items):
        choice.report_no_match()
        return _nothing_compared(args.json, "no request to the server matches the filter")

    async def replayed() -> int:
        interrupt = Interrupt()
        with on_signals(interrupt.signalled):
            return await interrupt.during(_confirmed(args, items, server, passing))

    try:
        code = asyncio.run(replayed())
    except NotStartedError as error:
        shown = args.live_command[0] if args.live_command else args.replay
        say(f"cannot start {clean_line(shown, 200)}: {error}")
        return NOT_STARTED
    return INCOMPLETE if choice.is_incomplete and code in (SAME, DIFFERENT) else code


async def _confirmed(
    args: argparse.Namespace, items: Sequence[ReplayItem], recorded: str, wanted: Collection[int]
) -> int:
    """Show what would be sent, ask, and send it.

    A configured server first lists its tools. The tools of a command are unknown, so it is started only after
    confirmation, and gets the recorded name.
    """
    starting = LiveConnection.started(_live_spec(args))
    async with AsyncExitStack() as stack:
        if args.live_command:
            known = LiveServer(recorded, approval_rules(_loaded(args, "approvals").settings.approvals))
        else:
            live = await stack.enter_async_context(starting)
            known = await listed_server(
                args.replay,
                vars(args).get("config"),
                *await live.listed(items),
                trust=bool(vars(args).get("trust_config")),
            )
        flag = BY_APPROVE if args.approve == "all" else BY_FLAG if args.yes else ""
        approval = ReplayApproval(items, known, flag)
        with closing(StoredDecisions()) as decisions:
            agreed = await approval.agreed(decisions)
        if not agreed:
            say("nothing was sent")
            return INCOMPLETE
        if args.live_command:
            live = await stack.enter_async_context(starting)
        return await _carry_out(Replay(approval.items, args.mask or ()), live, wanted, as_json=args.json)


def _items(args: argparse.Namespace, selection: Selection) -> tuple[list[ReplayItem], frozenset[int], str]:
    """Return the messages for the server, the seqs that match the filter, and the server's recorded name.

    An exchange matches if its request or its response matches. The handshake is always sent.
    """
    recording = selection.recording
    asked = (entry for entry in recording.entries() if entry.kind is Kind.REQUEST)
    same = any(entry.source == args.replay and entry.direction is Direction.OUT for entry in asked)
    wanted = args.server or (args.replay if same else None)
    server = server_of(recording.entries(), wanted, recording.path)
    ours = (entry for entry in recording.whole_entries() if entry.source == server)
    items = plan(ours, recording.reader.body)
    passing = frozenset(_matching_requests(selection)) & {
        item.entry.seq for item in items if item.entry.kind in (Kind.REQUEST, Kind.NOTIFICATION)
    }
    goes_along = (item.entry.kind in ANSWERS or item.entry.method in HANDSHAKE for item in items)
    kept = [item for item, goes in zip(items, goes_along, strict=True) if goes or item.entry.seq in passing]
    return kept, passing, server


def _matching_requests(selection: Selection) -> Iterator[int]:
    """Yield the seqs of the matching requests: for a response, its request; for a batch, its messages."""
    batches: set[int] = set()
    for entry in selection.entries():
        yield entry.pair if entry.kind in ANSWERS else entry.seq
        if entry.kind is Kind.BATCH:
            batches.add(entry.seq)
    for entry in selection.recording.entries() if batches else ():
        line = entry.detail.get("batch")
        if isinstance(line, int) and line in batches:
            yield entry.pair if entry.kind in ANSWERS else entry.seq


def _live_spec(args: argparse.Namespace) -> ServerSpec:
    """Return the live server, which is a command after `--`, with our environment, or a configured one."""
    if args.live_command:
        program, *arguments = args.live_command
        return ServerSpec("live", program, tuple(arguments), os.environ)
    from tui.runtime.permission.consent import require_consent
    from tui.settings.config_file import ConfigFile

    loaded = _loaded(args, dotted(("servers", args.replay)))
    specs = {spec.name: spec for spec in server_specs(loaded) if spec.command}
    spec = specs.get(args.replay)
    if spec is None:
        raise UsageError(
            f"stdio server not found. Configured: {', '.join(specs) or 'none'}",
            where=clean_line(args.replay, 80) or "--replay",
            next_step="Use one of them, or a command: mcptui traffic FILE --replay -- COMMAND ARG ...",
        )
    source = ConfigFile(getattr(args, "config", None), os.environ).source if loaded.names_servers else ""
    require_consent(replace(spec, source=source), trust=bool(vars(args).get("trust_config")))
    return spec


def _loaded(args: argparse.Namespace, needed: str) -> Loaded:
    """Return the configuration. Raises ConfigError if it, or the part that is needed, has an error."""
    path, named = config_path(vars(args).get("config"), os.environ)
    loaded = load(path, os.environ, required=named)
    for problem in loaded.errors:
        if not problem.path or problem.path.startswith(needed):
            raise ConfigError(str(problem))
    return loaded


async def _carry_out(replay: Replay, live: LiveConnection, wanted: Collection[int], *, as_json: bool) -> int:
    """Send everything, and print the results of the `wanted` requests, and of others only if they fail."""
    results: list[ReplayResult] = []
    live.begin(replay)
    for item in replay.items():
        result = await live.send(item)
        if result.item.entry.kind is Kind.REQUEST and (result.item.entry.seq in wanted or result.problem):
            results.append(result)
            sys.stdout.write(_result_text(result, as_json))
            sys.stdout.flush()
    found = Counter({"same": 0, "differ": 0, "omitted": 0})
    found.update(result.verdict for result in results)
    if not as_json:
        asked = plural(sum(found.values()), "request")
        sys.stdout.write(f"{asked}: {', '.join(f'{number} {word}' for word, number in found.items())}\n")
    if not found["differ"] and (why := _why_nothing(results)):
        return _nothing_compared(as_json, why)
    for path in replay.unmatched:
        unmatched = f"--mask {quoted_name(path, 200)} matches nothing in the responses"
        say(f"{unmatched}. Use a path as in the differences, such as result.content[0].text.")
    return DIFFERENT if found["differ"] else SAME


def _why_nothing(results: Sequence[ReplayResult]) -> str:
    """Return why no response was compared, or "". A handshake counts only if nothing else was recorded."""
    if not results:
        return "no request was sent"
    calls = [one for one in results if one.item.entry.method not in HANDSHAKE] or results
    if any(one.comparison is not None for one in calls):
        return ""
    left_out = Counter(one.item.left_out for one in calls if one.item.left_out)
    reasons = ", ".join(f"{reason} ({number})" for reason, number in left_out.most_common(MAX_REASONS))
    omitted = f"{plural(left_out.total(), 'request')} omitted"
    return f"{omitted}: {reasons}" if reasons else "no response was recorded"


def _nothing_compared(as_json: bool, why: str) -> int:
    """Say that nothing was compared, which is no success, and return the exit code."""
    say(f"nothing was compared: {why}")
    if as_json:
        sys.stdout.write(json.dumps({"compared": 0, "problem": f"nothing was compared: {why}"}) + "\n")
    return INCOMPLETE


def _result_text(result: ReplayResult, as_json: bool) -> str:
    item, entry = result.item, result.item.entry
    lines = text_lines(result.comparison) if result.comparison is not None else []
    differs = result.verdict == "differ"
    if as_json:
        told = {"seq": entry.seq, "method": entry.method, "tool": entry.tool, "differs": differs}
        told |= {"left_out": item.left_out, "problem": result.problem, "differences": lines}
        told |= {"took_ns": result.took_ns, "recorded_ns": item.took_ns}
        return json.dumps(told) + "\n"
    name = clean_line(f"{entry.method} {entry.tool}".strip(), 80)
    if item.left_out:
        return f"· {name}: omitted, {item.left_out}\n"
    if result.problem:
        return f"✗ {name}: {result.problem}\n"
    times = f"{duration(result.took_ns / 1e6)}, was {duration(item.took_ns / 1e6)}"
    if not differs:
        return f"✓ {name}  {times}\n"
    return f"✗ {name}  {times}\n" + "".join(f"    {line}\n" for line in lines)
