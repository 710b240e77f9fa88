"""What a replay may send: checked by the bytes to be sent, shown, and recorded."""

from typing import Any

import pytest

from tests.cases import each_case
from tests.unit.traffic.recorded import Recorded
from tui.addons.replay.live import ReplayItem, plan
from tui.addons.replay.replay import BY_APPROVE, BY_FLAG, LiveServer, ReplayApproval
from tui.core.errors import UsageError
from tui.core.permission.rules import Rules
from tui.core.ports import DecisionRecord
from tui.core.tools import Tool
from tui.core.traffic import Direction, Entry, Kind


class Kept(list[DecisionRecord]):
    """A record of decisions."""

    def add(self, record: DecisionRecord) -> None:
        self.append(record)


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def planned(*messages: dict[str, Any]) -> list[ReplayItem]:
    recorded = Recorded()
    for message in messages:
        recorded.out(message)
        recorded.back({"id": message["id"], "result": {}})
    return plan(recorded.entries, recorded.bodies.__getitem__)


def item(raw: bytes, kind: Kind = Kind.REQUEST) -> ReplayItem:
    """An item whose columns look harmless."""
    return ReplayItem(Entry(1, 1, 1, "s", Direction.OUT, kind, "tools/list", ident="1"), raw, b"{}")


CALLS = planned(
    {"id": 1, "method": "tools/list"}, call(2, "send", to="a"), call(3, "send", to="b"), call(4, "look")
)


def test_the_preview_lists_calls_by_tool_and_whether_they_can_change_something() -> None:
    tools = {name: Tool("mail", name, read_only=True) for name in ("send", "look")}
    approval = ReplayApproval(CALLS, LiveServer("mail", Rules(), tools, frozenset({"look"})))
    assert approval.lines() == [
        "sends to mail:",
        "  send  2 calls, may change something",
        '    {"to": "a"}',
        '    {"to": "b"}',
        "  look  1 call, read-only",
        "  tools/list  1 message",
    ]


def test_the_preview_lists_every_method_with_its_arguments() -> None:
    methods = [f"a{number}/list" for number in range(30)]
    messages = [{"id": number, "method": method} for number, method in enumerate(methods)]
    read = {"id": 99, "method": "resources/read", "params": {"uri": "mail://se\u200bcret", "_meta": {"a": 1}}}
    calls = [call(100 + number, "send", to=number) for number in range(22)]
    lines = ReplayApproval(planned(*messages, read, *calls), LiveServer("mail")).lines()
    assert all(f"  {method}  1 message" in lines for method in methods)
    at = lines.index("  resources/read  1 message")
    assert lines[at + 1] == '    {"uri": "mail://se[U+200B]cret"}'
    assert "    and 2 with other arguments" in lines


def test_the_preview_lists_the_most_frequent_methods_first() -> None:
    methods = ("admin/wipe", "tools/list", "tools/list")
    items = planned(*({"id": number, "method": method} for number, method in enumerate(methods)))
    preview = ReplayApproval(items, LiveServer("mail")).lines()
    assert preview == ["sends to mail:", "  tools/list  2 messages", "  admin/wipe  1 message"]


async def test_reads_and_unknown_methods_are_recorded_as_decisions() -> None:
    kept = Kept()
    sent = (
        {"id": 1, "method": "resources/read", "params": {"uri": "mail://1"}},
        {"id": 2, "method": "admin/wipe"},
    )
    assert await ReplayApproval(planned(*sent), LiveServer("mail"), BY_FLAG).agreed(kept)
    assert {(one.subject, one.allowed, one.by) for one in kept} == {
        ("resources/read (replay of 1 call)", True, "option --yes"),
        ("admin/wipe (replay of 1 call)", True, "option --yes"),
    }


def test_a_deny_rule_prevents_a_call_and_an_ask_rule_is_named() -> None:
    rules = Rules.parsed(["deny mail/send to=b", "ask mail/look", "deny mail/* uri=mail://*"])
    read = {"id": 5, "method": "resources/read", "params": {"uri": "mail://1"}}
    approval = ReplayApproval([*CALLS, *planned(read)], LiveServer("mail", rules))
    assert [bool(one.left_out) for one in approval.items] == [False, False, True, False, True]
    assert (
        "  look  1 call, may change something, the rule “ask mail/look” requires approval" in approval.lines()
    )
    assert "  send  1 call, not sent: denied by the rule deny mail/send to=b" in approval.lines()


def test_an_unaccepted_or_unlisted_tool_is_refused() -> None:
    changed = Tool("mail", "send", withheld="changed since it was accepted", is_unaccepted=True)
    approval = ReplayApproval(CALLS, LiveServer("mail", tools={"send": changed}))
    assert [one.refusal for one in approval.items] == [
        "",
        "not sent: not accepted: changed since it was accepted",
        "not sent: not accepted: changed since it was accepted",
        "not sent: the server does not list this tool",
    ]


DENIED = b'{"id": 1, "method": "tools/call", "params": {"name": "send"}}'


@each_case(
    "one",
    [
        item(DENIED),
        item(DENIED, Kind.NOTIFICATION),
        item(DENIED, Kind.RESPONSE),
        item(b'{"method": "tools/list", "id": 1, "method": "tools/call", "params": {"name": "send"}}'),
        item(DENIED + b"\n" + DENIED),
        item(b"[" + DENIED + b"]"),
        item(b"[" * 100_000),
    ],
)
def test_a_forged_recording_does_not_evade_a_rule(one: ReplayItem) -> None:
    approval = ReplayApproval([one], LiveServer("mail", Rules.parsed(["deny mail/*"])))
    assert approval.items[0].left_out


def test_a_line_inside_a_message_is_not_a_separate_message() -> None:
    raw = b'{"id": 1, "method": "ping", "params":\n' + DENIED + b"\r\n}"
    (found,) = ReplayApproval([item(raw)], LiveServer("mail")).items
    assert not found.left_out and b"\n" not in found.raw and b"\r" not in found.raw


async def test_without_a_terminal_messages_are_sent_only_with_yes_and_both_are_recorded() -> None:
    approval, kept = ReplayApproval(CALLS, LiveServer("mail")), Kept()
    with pytest.raises(UsageError, match="--yes"):
        await approval.agreed(kept)
    assert {(one.subject, one.allowed, one.by) for one in kept} == {
        ("send (replay of 2 calls)", False, "default (no terminal)"),
        ("look (replay of 1 call)", False, "default (no terminal)"),
    }
    kept.clear()
    assert await ReplayApproval(CALLS, LiveServer("mail"), BY_FLAG).agreed(kept)
    assert {(one.allowed, one.by) for one in kept} == {(True, "option --yes")}


async def test_only_approve_all_answers_an_ask_rule_and_yes_does_not() -> None:
    rules, kept = Rules.parsed(["ask mail/send", "ask mail/read_resource"]), Kept()
    read = planned({"id": 5, "method": "resources/read", "params": {"uri": "mail://1"}})
    approval = ReplayApproval([*CALLS, *read], LiveServer("mail", rules), BY_FLAG)
    assert [bool(one.refusal) for one in approval.items] == [False, True, True, False, True]
    assert await approval.agreed(kept)
    assert {(one.subject, one.allowed, one.by) for one in kept} == {
        ("send (replay of 2 calls)", False, "rule ask mail/send"),
        ("resources/read (replay of 1 call)", False, "rule ask mail/read_resource"),
        ("look (replay of 1 call)", True, "option --yes"),
    }
    kept.clear()
    approval = ReplayApproval(CALLS, LiveServer("mail", rules), BY_APPROVE)
    assert not any(one.refusal for one in approval.items)
    assert await approval.agreed(kept)
    assert {one.by for one in kept} == {"option --approve all"}
