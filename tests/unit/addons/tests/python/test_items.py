import asyncio
from pathlib import Path
from typing import Any

import pytest

from tui.addons.tests.python.items import NotPassed, SuiteFile, SuiteItem, SuiteSession
from tui.addons.tests.run.findings import ServerTraffic
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, Suite
from tui.core.traffic import Finding, Severity
from tui.host.schemas.judge import ModelJudge

SUITE = """
[server]
command = ["python", "server.py"]

[contract]
lock = "shop.lock.json"

[[call]]
name = "adds"
tool = "add"
text = "2"
tags = ["quick", "skip", "not a mark"]

[[call]]
tool = "later"

[[turn]]
question = "Is it raining?"
skip = "no model"
"""


@pytest.fixture
def items(tmp_path: Path, request: pytest.FixtureRequest) -> list[SuiteItem]:
    path = tmp_path / "shop.mcp.toml"
    path.write_text(SUITE)
    return list(SuiteFile.from_parent(request.session, path=path).collect())


def reasons(item: SuiteItem) -> list[str]:
    return [mark.kwargs["reason"] for mark in item.iter_markers("skip")]


def test_the_contract_cases_and_turn_cases_are_items_with_their_lines(items: list[SuiteItem]):
    found = [(item.name, item.reportinfo()[1]) for item in items]
    assert found == [("contract", 4), ("adds", 7), ("later", 13), ("Is it raining?", 16)]


def test_what_is_skipped_says_why(items: list[SuiteItem]):
    assert reasons(items[1]) == []
    assert "expects nothing yet" in reasons(items[2])[0]
    assert reasons(items[3]) == ["no model"]


def test_in_ci_a_failure_is_no_command(items: list[SuiteItem], monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(NotPassed) as failed:
        raise NotPassed("##[error]x\n::error::y", State.FAILED, "text differs")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.setenv("TF_BUILD", "True")
    assert str(items[1].repr_failure(failed)).splitlines()[:2] == ["# #[error]x", ": :error::y"]
    monkeypatch.delenv("TF_BUILD")
    assert str(items[1].repr_failure(failed)).splitlines()[:2] == ["##[error]x", "::error::y"]


def test_a_failure_in_one_line_has_its_place_and_no_details(
    items: list[SuiteItem], monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(NotPassed) as failed:
        raise NotPassed("details", State.FAILED, "text differs")
    assert str(items[1].repr_failure(failed)).splitlines()[0] == "details"
    monkeypatch.setattr(items[1].config.option, "tbstyle", "line")  # pytest prints reprcrash then
    shown = items[1].repr_failure(failed)
    assert str(shown) == "" and str(shown.reprcrash).endswith(":8: text differs")


def test_tags_are_keywords_and_marks_except_those_with_arguments(items: list[SuiteItem]):
    assert items[1].extra_keyword_matches == {"quick", "skip", "not a mark"}
    assert [mark.name for mark in items[1].iter_markers() if mark.name != "xdist_group"] == ["quick"]


def test_an_invalid_file_is_a_collection_error(tmp_path: Path, request: pytest.FixtureRequest):
    path = tmp_path / "bad.mcp.toml"
    path.write_text("[[call]]\ntol = 'add'\n")
    with pytest.raises(pytest.Collector.CollectError, match=r":2 call\[1\]\.tol: unknown key"):
        list(SuiteFile.from_parent(request.session, path=path).collect())


FIRST = Case("first", 1, Request(RequestKind.TOOL, "order"), Expectation(text="<any>"), save={"id": "$.id"})
OTHER = Case("other", 2, Request(RequestKind.TOOL, "count"), Expectation(text="1"))
SECOND = Case("second", 3, Request(RequestKind.TOOL, "get", {"id": "${id}"}), Expectation(text="<any>"))


class Noted:
    """Notes which cases run, and passes them."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def run(self, case: Case, instance: Any) -> Outcome:
        self.names.append(case.name)
        return Outcome(case.name, case.line, State.PASSED)


def test_a_case_runs_once_before_those_that_use_its_values():
    noted = Noted()
    suite = Suite(Path("/x/shop.mcp.toml"), None, (FIRST, OTHER, SECOND))
    session = SuiteSession(suite, None, None, noted)  # type: ignore[arg-type]

    async def selected() -> None:
        for case in (OTHER, SECOND, SECOND):
            await session.run(case)

    asyncio.run(selected())
    assert noted.names == ["other", "first", "second", "second"]


def test_a_response_that_comes_again_after_its_case_is_the_outcome_of_the_end():
    traffic = ServerTraffic(ModelJudge(), str)
    finding = Finding(0, "duplicate-answer", Severity.ERROR, "It already has a response.")

    class Hosted:
        def __init__(self) -> None:
            self.traffic, self.spec = traffic, None

        async def catch_up(self) -> None:
            traffic.late.append((1, finding))

        async def close(self) -> None:
            pass

    class Passing:
        async def run(self, case: Case, instance: Any) -> Outcome:
            traffic.begin()
            return Outcome(case.name, case.line, State.PASSED, call="hand-1", case=case)

    async def ended() -> Outcome | None:
        suite = Suite(Path("/x/shop.mcp.toml"), None, (OTHER,))
        session = SuiteSession(suite, None, Hosted(), Passing())  # type: ignore[arg-type]
        await session.run(OTHER)
        return await session.close()

    late = asyncio.run(ended())
    assert late is not None and late.problem == "finding duplicate-answer: It already has a response."
