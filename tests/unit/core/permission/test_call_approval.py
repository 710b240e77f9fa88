"""Whether mcptui asks about a call or first about trusting its server."""

from typing import Any

import pytest

from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import YES, FunctionToolbox, ScriptedApprover, call, turn_of
from tui.core.permission.approval_policy import Mode, Policy
from tui.core.permission.rules import Rules
from tui.core.ports import Decision, Tool


class Book:
    """Keeps trust decisions."""

    def __init__(self, known: bool | None = None) -> None:
        self.known = known
        self.decided: list[tuple[str, bool]] = []

    def trusts(self, tool: Tool) -> bool:
        return self.known is True

    def trusts_server(self, server: str) -> bool:
        return self.known is True

    def is_open(self, server: str) -> bool:
        return self.known is None

    def decide(self, server: str, trusted: bool) -> None:
        self.decided.append((server, trusted))
        self.known = trusted


async def ran(
    book: Book, *answers: Decision, trusts: bool | None = None, read_only: bool = True, **more: Any
) -> tuple[ScriptedApprover, int]:
    """Run a turn with two calls; return the approver and how many calls ran."""
    toolbox, approver = FunctionToolbox(read_only=read_only), ScriptedApprover(*answers, trusts=trusts)
    model = ScriptedModel([calls(call(1), call(2)), says("done")])
    policy = Policy(trust=book, **more)
    turn, _ = turn_of(model, toolbox, approver=approver, policy=policy)
    async for _ in turn.events():
        pass
    return approver, len(toolbox.called)


async def test_a_yes_trusts_the_server_and_its_calls_do_not_ask() -> None:
    book = Book()
    approver, count = await ran(book, trusts=True)
    assert (len(approver.asked_trust), len(approver.asked), count) == (1, 0, 2)
    assert book.decided == [("srv", True)]


@pytest.mark.parametrize("ask", [(), ("srv/*",)])
async def test_a_call_that_an_ask_rule_matches_offers_no_lasting_answer(ask: tuple[str, ...]) -> None:
    approver, _ = await ran(Book(known=False), YES, YES, rules=Rules.parsed(ask=ask))
    assert [one.once_only for one in approver.asked] == [bool(ask)] * 2


async def test_a_refusal_of_trust_is_remembered_and_each_call_asks() -> None:
    book = Book()
    approver, count = await ran(book, YES, YES, trusts=False)
    assert (len(approver.asked_trust), len(approver.asked), count) == (1, 2, 2)
    assert book.decided == [("srv", False)]


async def test_a_dismissed_trust_question_is_asked_again() -> None:
    book = Book()
    approver, _ = await ran(book, YES, YES, trusts=None)
    assert (len(approver.asked_trust), len(approver.asked)) == (2, 2) and book.decided == []


@pytest.mark.parametrize("known", [True, False])
async def test_a_server_with_a_trust_decision_is_not_asked_about_again(known: bool) -> None:
    approver, count = await ran(Book(known), *([] if known else [YES, YES]))
    assert (approver.asked_trust, len(approver.asked), count) == ([], 0 if known else 2, 2)


async def test_a_tool_without_a_read_only_hint_does_not_ask_about_its_server() -> None:
    approver, _ = await ran(Book(), YES, YES, read_only=False)
    assert (approver.asked_trust, len(approver.asked)) == ([], 2)


@pytest.mark.parametrize(("mode", "count"), [(Mode.READS, 0), (Mode.NONE, 0), (Mode.ALL, 2)])
async def test_flags_decide_without_a_question_and_reads_mode_ignores_hints(mode: Mode, count: int) -> None:
    approver, ran_calls = await ran(Book(), mode=mode)
    assert (approver.asked_trust, approver.asked, ran_calls) == ([], [], count)
