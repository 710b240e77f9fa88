"""Approval of what `mcptui traffic --replay` sends.

Rules and accepted definitions decide which messages may be sent. The user sees these and confirms them, and
the decisions are recorded. A recording may be somebody else's, so a message is judged by the bytes to send,
not by the recording's columns.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tui.addons.replay.live import ReplayItem
from tui.commands.permission.terminal_approver import asked_line, is_terminal
from tui.commands.traffic_selection import say
from tui.core.context.built_in_tools import READ
from tui.core.errors import UsageError
from tui.core.hidden_text.readable import readable_line
from tui.core.jsonrpc.reader import DuplicateKeyReader
from tui.core.permission.rules import Rule, Rules, Verdict
from tui.core.ports import BY_KEY, USER, DecisionKind, DecisionLog, DecisionRecord
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.traffic import ANSWERS
from tui.core.units import plural
from tui.host.catalog import Walk

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
        if (item.kind in ANSWERS) == ("method" in message):
            return replace(item, left_out="the message is not of the recorded kind")
        if not isinstance(method, str):
            return item
        params = params if isinstance(params, dict) else {}
        if method == "tools/call":
            return self._judged_call(item, str(params.get("name", "")), params.get("arguments"))
        rule = None
        if method == "resources/read":
            arguments = {"server": self._server.name, "uri": params.get("uri")}
            rule = self._server.rules.deciding(self._server.name, READ, arguments)
        if rule is not None and (refused := self._by_rule(item, method, rule)) is not None:
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
        if rule is not None and (refused := self._by_rule(item, name, rule)) is not None:
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

    def _by_rule(self, item: ReplayItem, name: str, rule: Rule) -> ReplayItem | None:
        """Return the item with the reason if a rule prevents it from being sent, otherwise None."""
        if rule.action is Verdict.DENY:
            words = f"denied by the rule {rule}"
            kept = replace(item, left_out=f"denied by the rule {clean_line(str(rule), 200)}")
        elif rule.action is Verdict.ASK and self._by == BY_FLAG:
            words = f"the rule “{rule}” requires approval, which --yes does not give"
            kept = replace(item, refusal=f"not sent: {clean_line(words, 300)}. Use --approve all to send it")
        else:
            return None
        self._add(_Sent(name, f"not sent: {words}", is_sent=False, by=f"rule {rule}"))
        return kept

    def lines(self) -> list[str]:
        """Return clean lines: for each tool and method, what is sent, with its arguments, and what is not."""
        calls = sorted(
            (one for one in self._sent if one.words), key=lambda one: (not one.is_sent, one.words, one.name)
        )
        others = sorted(
            (one for one in self._sent if not one.words), key=lambda one: -self._sent[one].total()
        )
        rows = list[str]()
        for sent in (*calls, *others):
            number = self._sent[sent].total()
            name = clean_line(sent.name, 200) or "(no name)"
            what = plural(number, "call" if sent.words else "message")
            words = f", {clean_line(sent.words, 300)}" if sent.words else ""
            rows.append(f"  {name}  {what}{words}")
            found = [one for one in self._sent[sent].most_common() if one[0]]
            rows += [
                f"    {words}{f' ×{times}' if times > 1 else ''}" for words, times in found[:MAX_ARGUMENTS]
            ]
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
        answer = "yes" if self._by else await asked_line("Send them? [y/N] ") or ""
        agreed = answer.strip().lower() in ("y", "yes")
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
