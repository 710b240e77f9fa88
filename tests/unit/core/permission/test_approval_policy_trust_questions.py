"""Whether mcptui asks about a call or first about trusting its server."""

from typing import Any

from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import YES, FunctionToolbox, ScriptedApprover, call, policy_of, turn_of
from tui.core.ports import Decision, Tool


class Book:
    """Keeps trust decisions."""

    def __init__(self, known: bool | None = None) -> None:
        self.known = known
        self.decided: list[tuple[str, bool]] = []

    def trusts(self, tool: Tool) -> bool:
        return self.known is True

    def trusted(self, server: str) -> bool | None:
        return self.known

    def decide(self, server: str, trusted: bool) -> None:
        self.decided.append((server, trusted))
        self.known = trusted


async def ran(
    book: Book, *answers: Decision, trusts: bool | None = None, read_only: bool = True, **more: Any
) -> tuple[ScriptedApprover, int]:
    """Run a turn with two calls; return the approver and how many calls ran."""
    toolbox, approver = FunctionToolbox(read_only=read_only), ScriptedApprover(*answers, trusts=trusts)
    model = ScriptedModel([calls(call(1), call(2)), says("done")])
    policy = policy_of(trust=book, **more)
    turn, _ = turn_of(model, toolbox, approver=approver, policy=policy)
    async for _ in turn.events():
        pass
    return approver, len(toolbox.called)


async def test_a_yes_trusts_the_server_and_its_calls_do_not_ask() -> None:
    book = Book()
    approver, count = await ran(book, trusts=True)
    assert (len(approver.asked_trust), len(approver.asked), count) == (1, 0, 2)
    assert book.decided == [("srv", True)]


async def test_after_a_dismissed_trust_question_only_the_calls_ask() -> None:
    book = Book()
    approver, _ = await ran(book, YES, YES, trusts=None)
    assert (len(approver.asked_trust), len(approver.asked)) == (1, 2) and book.decided == []


async def test_a_tool_without_a_read_only_hint_does_not_ask_about_its_server() -> None:
    approver, _ = await ran(Book(), YES, YES, read_only=False)
    assert (approver.asked_trust, len(approver.asked)) == ([], 2)
