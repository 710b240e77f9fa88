"""Which kept calls run on the running process of a server."""

from types import SimpleNamespace

from tests.cases import each_case
from tui.addons.tests.run.kept_check import _can_run
from tui.addons.tests.suite.case import Case, Lose, Request, RequestKind
from tui.core.tools import Tool


def case(name: str = "read_notes", **more: object) -> Case:
    return Case(name, 1, Request(RequestKind.TOOL, name), **more)


@each_case(
    ("kept", "expected"),
    [
        (case(), True),
        (case("delete_note"), False),
        (case(then=(case("delete_note"),)), False),
        (case(answers={"form": {}}), False),
        (case(fresh=True), False),
        (case(lose=Lose.CONNECTION), False),
        (case(lose=Lose.ANSWER), True),
    ],
)
def test_what_needs_more_than_the_running_process_does_not_run(kept: Case, expected: bool):
    tools = [Tool("srv", "read_notes"), Tool("srv", "delete_note", destructive=True)]
    runtime = SimpleNamespace(workbench=SimpleNamespace(tools=lambda server: tools))
    assert _can_run(kept, runtime, "srv") is expected
