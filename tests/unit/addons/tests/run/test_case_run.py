"""Running one case: what is filled in and saved, what follows, and how a server is asked."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.case_run import CaseRunner, why_skipped
from tui.addons.tests.run.findings import ServerTraffic
from tui.addons.tests.run.instance import Exchange
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.run.plan import RunOptions
from tui.addons.tests.suite.case import Case, Lose, Request, Suite, SuiteServer
from tui.addons.tests.suite.read import suite_of
from tui.core.tools import Tool
from tui.core.traffic import Finding, Severity
from tui.core.workbench import RawAnswer
from tui.host.schemas.judge import ModelJudge

SUITE = Suite(Path("/suites/weather.mcp.toml"))


class Scripted:
    """A server that answers with these, one after the other, and notes what it is sent."""

    name = "weather"
    era = "modern"

    def __init__(self, *answers: RawAnswer, findings: tuple[Finding, ...] = (), size: int = 9) -> None:
        self._size = size
        self.traffic = ServerTraffic(ModelJudge(), lambda text: text.replace("s3cret", "***"))
        self.problem = ""
        self.workbench = self
        self.sent: list[tuple[str, Mapping[str, Any]]] = []
        self.roots: tuple[str, ...] = ()
        self.lose: Lose | None = None
        self.seconds: float | None = None
        self._answers = list(answers)
        self._findings = findings

    async def running(self) -> bool:
        return not self.problem

    def begin(self) -> None:
        """Nothing has been printed."""

    def last_words(self) -> tuple[str, ...]:
        return ("last words",)

    def use_roots(self, roots: tuple[str, ...]) -> None:
        self.roots = roots

    async def tool(self, server: str, name: str) -> Tool | None:
        return Tool("weather", name)

    def tools(self, server: str) -> list[Tool]:
        return []

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        return "a is missing" if arguments == {"bad": True} else ""

    async def output_problem(self, tool: Tool, structured: Any) -> str:
        return "x is not an integer" if structured == {"x": "1"} else ""

    async def send(
        self, request: Request, *, seconds: float | None = None, lose: Lose | None = None
    ) -> Exchange:
        self.seconds, self.lose = seconds, lose
        self.sent.append((request.name, request.arguments))
        return Exchange(self._answers.pop(0), f"hand-{len(self.sent)}", 5.0, self._findings, self._size)


def said(text: str, **more: Any) -> RawAnswer:
    return RawAnswer(result={"content": [{"type": "text", "text": text}], **more})


def case(text: str) -> Case:
    return cases(text)[0]


def cases(text: str) -> tuple[Case, ...]:
    suite: Suite = suite_of(text, Path("weather.mcp.toml"))
    return suite.cases


async def run(one: Case, server: Scripted, era: str = "", **options: Any) -> Outcome:
    runner = CaseRunner(SUITE, CaseAnswers(), RunOptions(**options), era)
    return await runner.run(one, server)  # type: ignore[arg-type]


PLAIN = '[[call]]\nname = "rain"\ntool = "get"\ntext = "rain"\n'


async def test_a_passed_case_has_its_result_time_and_messages():
    server = Scripted(answer := said("rain"))
    found = await run(case(PLAIN), server, era="modern")
    assert (found.state, found.ms, found.call, found.got) == (State.PASSED, 5.0, "hand-1", answer.result)
    assert (found.line, found.era, found.server, found.said) == (1, "modern", "weather", ())


async def test_a_failed_case_has_the_last_words_of_its_server():
    found = await run(case(PLAIN), Scripted(said("snow")))
    assert (found.state, found.problem, found.said) == (
        State.FAILED,
        'text: expected "rain", got "snow"',
        ("last words",),
    )


async def test_of_a_large_result_that_is_as_expected_only_its_kind_is_kept():
    server = Scripted(said("rain", isError=False), said("snow", isError=False), size=100_000)
    assert (await run(case(PLAIN), server)).got == {"isError": False}
    assert (await run(case(PLAIN), server)).got == said("snow", isError=False).result


async def test_a_server_that_does_not_run_is_an_error():
    server = Scripted()
    server.problem = "it exited."
    found = await run(case(PLAIN), server)
    assert (found.state, found.problem, server.sent) == (State.ERROR, "it exited.", [])


async def test_saved_values_are_filled_in_and_keep_their_type():
    first, second = cases(
        '[[call]]\ntool = "order"\nsave = { id = "$.id", name = "$.name" }\n'
        '[[call]]\ntool = "get"\nargs = { id = "${id}", text = "no ${id}" }\n'
        'result = \'{ "id": "${id}", "name": "${name}" }\'\n'
    )
    server = Scripted(said('{"id": 7, "name": "<id>"}'), said('{"id": 7, "name": "<id>"}'))
    runner = CaseRunner(SUITE, CaseAnswers())
    for one in (first, second):
        found = await runner.run(one, server)  # type: ignore[arg-type]
        assert found.state is State.PASSED, found
    assert server.sent[1] == ("get", {"id": 7, "text": "no 7"})


async def test_a_value_that_is_not_there_fails_its_case_and_is_an_error_of_the_next():
    first, second = cases(
        '[[call]]\ntool = "order"\nsave = { id = "$.id" }\n'
        '[[call]]\ntool = "get"\nargs = { id = "${id}" }\ntext = "x"\n'
    )
    server = Scripted(said('{"name": 7}'))
    runner = CaseRunner(SUITE, CaseAnswers())
    found = await runner.run(first, server)  # type: ignore[arg-type]
    assert [(one.path, one.why) for one in found.mismatches] == [("save.id", "the result has no $.id")]
    found = await runner.run(second, server)  # type: ignore[arg-type]
    assert found.state is State.ERROR and "${id}" in found.problem


async def test_what_follows_runs_in_order_until_one_fails():
    one = case(
        '[[call]]\ntool = "a"\ntext = "1"\n'
        'then = [{ tool = "b", text = "2" }, { tool = "c", text = "3" }, { tool = "d", text = "4" }]\n'
    )
    server = Scripted(said("1"), said("2"), said("x"))
    found = await run(one, server)
    assert [name for name, _ in server.sent] == ["a", "b", "c"]
    assert (found.problem, found.mismatches[0].path) == (
        'then[1]: text: expected "3", got "x"',
        "then[1].text",
    )
    assert (found.call, found.got) == ("hand-3", said("1").result)
    assert found.then_got == (said("2").result, said("x").result)


async def test_arguments_that_do_not_fit_are_only_sent_if_an_error_is_expected():
    text = '[[call]]\ntool = "get"\nargs = { bad = true }\ntext = "no"\n'
    server = Scripted(RawAnswer(error={"code": 1, "message": "no"}))
    found = await run(case(text), server)
    assert (found.state, server.sent, found.problem) == (
        *(State.FAILED, []),
        "not sent: invalid arguments for get: a is missing",
    )
    assert (await run(case(f"{text}error = true\n"), server)).state is State.PASSED


async def test_a_result_is_checked_against_its_output_schema():
    found = await run(case(PLAIN), Scripted(said("rain", structuredContent={"x": "1"})))
    assert found.problem == (
        "finding structured-content: structuredContent does not match outputSchema: x is not an integer"
    )
    server = Scripted(said("rain", structuredContent={"x": "1"}))
    assert (await run(case(f'{PLAIN}findings = ["structured-content"]\n'), server)).state is State.PASSED


async def test_a_finding_has_neither_secrets_nor_numbers_of_entries():
    finding = Finding(3, "reused-id", Severity.ERROR, "The id s3cret was already used, by #1,234.")
    found = await run(case(PLAIN), Scripted(said("rain"), findings=(finding,)))
    assert found.mismatches[0].why == "The id *** was already used."


async def test_roots_are_those_of_the_case():
    server = Scripted(said("rain"), said("rain"))
    await run(case(f'{PLAIN}answers = {{ roots = ["data", "../x"] }}\n'), server)
    assert server.roots == ("/suites/data", "/x")
    await run(case(PLAIN), server)
    assert server.roots == ()


async def test_a_case_that_expects_nothing_is_only_run_to_record_it():
    empty = case('[[call]]\ntool = "get"\n')
    server = Scripted(said("rain"))
    found = await run(empty, server)
    assert (found.state, server.sent) == (State.SKIPPED, []) and "expects nothing yet" in found.problem
    found = await run(empty, server, run_empty=True)
    assert (found.state, found.got) == (State.SKIPPED, said("rain").result)


@each_case(
    ("more", "why"),
    [
        ('text = ""', ""),
        ("error = true", ""),
        ("content = []", ""),
        ("result = 'null'", ""),
        ('save = { id = "$.id" }', ""),
        ('then = [{ tool = "x", text = "y" }]', ""),
        ('then = [{ tool = "x" }]', "expects nothing yet"),
        ('within = "1s"', ""),
        ('findings = ["structured-content"]', ""),
        ('tags = ["slow"]', "expects nothing yet"),
        ('skip = "later"', "later"),
    ],
)
def test_what_a_case_expects_decides_whether_it_runs(more: str, why: str):
    found = why_skipped(case(f'[[call]]\ntool = "get"\n{more}\n'))
    assert found.startswith(why) and bool(found) is bool(why)


@pytest.mark.parametrize(
    ("more", "of_server", "seconds"),
    [("", None, None), ('timeout = "250ms"\n', 30_000.0, 0.25), ("", 30_000.0, 30.0)],
)
async def test_the_timeout_is_that_of_the_case_or_of_its_server(
    more: str, of_server: float | None, seconds: float | None
):
    server = Scripted(said("rain"))
    suite = replace(SUITE, server=SuiteServer(command=("x",), timeout_ms=of_server))
    runner = CaseRunner(suite, CaseAnswers())
    await runner.run(case(f'{PLAIN}lose = "answer"\n{more}'), server)  # type: ignore[arg-type]
    assert (server.seconds, server.lose) == (seconds, Lose.ANSWER)
