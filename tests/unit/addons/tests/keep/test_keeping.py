"""What is kept: without secrets, with a name of its own, and what is said about it."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.tests.keep.draft import Draft
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.keeping import Keeping, kept_again, to_move, without_moved
from tui.addons.tests.suite.case import Expectation, Request, RequestKind
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec
from tui.core.workbench import CallKey, CallKind, CallMemory
from tui.runtime.copies.origin import Origin

KEY = "hunter2-hunter2"
CALL = Request(RequestKind.TOOL, "get", {"city": "Oslo"})


def redact(text: str) -> str:
    return text.replace(KEY, "[redacted:API_KEY]")


def keeping(folder: Path, said: str = "Rain.", request: Request = CALL, **more: dict[str, str]) -> Keeping:
    (folder / "pyproject.toml").touch()
    spec = ServerSpec("weather", "python", ("server.py",), **more)
    exchange = Exchange("weather", request, result={"content": [{"type": "text", "text": said}]}, ms=7)
    origin = Origin.of_spec(spec, str(folder), configured=False)
    return Keeping.of(exchange, origin, folder, redact, is_own=True)


def test_a_secret_in_the_request_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match=r"contains a secret \(API_KEY\)"):
        keeping(tmp_path, request=Request(RequestKind.TOOL, "get", {"key": KEY}))


def test_a_secret_in_the_result_becomes_a_placeholder(tmp_path: Path):
    made = keeping(tmp_path, said=f"The key is {KEY}.")
    assert 'text = "The key is <text>."' in made.preview(made.target())


def test_a_result_with_a_reference_in_its_text_is_kept_only_once(tmp_path: Path):
    made = keeping(tmp_path, said="echo ${PATH}")
    made.keep(made.target())
    again = keeping(tmp_path, said="echo ${PATH}")
    case = again.same_case(again.target())
    assert case is not None and again.is_kept_by(case)


def test_the_preview_is_what_is_written(tmp_path: Path):
    made = keeping(tmp_path)
    target = made.target()
    shown = made.preview(target)
    assert made.keep(target) == "Kept in weather.mcp.toml. Run it with: mcptui test weather.mcp.toml"
    assert (tmp_path / "weather.mcp.toml").read_text() == shown


def test_a_call_that_a_later_file_of_the_server_has_is_kept_there(tmp_path: Path):
    keeping(tmp_path, request=Request(RequestKind.TOOL, "other")).keep(keeping(tmp_path).target())
    made = keeping(tmp_path)
    made.named("rain").keep(made.target(str(tmp_path / "zzz")))
    target = made.target()
    assert (target.path.name, made.proposed_for(target).draft.name) == ("zzz.mcp.toml", "rain")


def test_keeping_is_consent_to_the_command_in_this_folder(tmp_path: Path, separate_home: Path):
    made = keeping(tmp_path)
    made.keep(made.target())
    consents = json.loads((separate_home / "state" / "mcptui" / "consents.json").read_text())
    assert len(consents["consents"]) == 1


def test_a_call_of_someone_else_and_a_file_with_variables_of_its_own_are_no_consent(
    tmp_path: Path, separate_home: Path
):
    foreign = replace(keeping(tmp_path), is_own=False)
    foreign.keep(foreign.target())
    path = tmp_path / "weather.mcp.toml"
    path.write_text('[server]\ncommand = ["python", "server.py"]\nenv = { PYTHONPATH = "/tmp" }\n')
    made = keeping(tmp_path)
    assert not made.target().is_new
    made.keep(made.target())
    assert not (separate_home / "state" / "mcptui" / "consents.json").exists()


def test_variables_to_set_are_named(tmp_path: Path):
    made = keeping(tmp_path, env={"API_KEY": "short"})
    assert made.keep(made.target()).endswith("\nSet API_KEY when you run it.")


def test_a_name_that_is_taken_or_empty_is_refused(tmp_path: Path):
    other = keeping(tmp_path)
    other.keep(other.target())
    made = keeping(tmp_path, request=Request(RequestKind.TOOL, "get", {"city": "Rome"}))
    target = made.target()
    for name, why in (("get Oslo", "already has a case of this name"), (" ", "A name is required")):
        with pytest.raises(UsageError, match=why):
            made.named(name).keep(target)


def test_a_call_that_is_kept_again_replaces_what_its_case_expects(tmp_path: Path):
    made = keeping(tmp_path)
    made.keep(made.target())
    file = tmp_path / "weather.mcp.toml"
    file.write_text(f'{file.read_text()}tags = "daily"  # ours\n')
    again = keeping(tmp_path, said="Sun.")
    again = again.proposed_for(again.target())
    again.keep(again.target())
    suite = again.target().suite
    assert suite is not None
    (case,) = suite.cases
    assert (case.name, case.expected.text, case.tags) == ("get Oslo", "Sun.", ("daily",))
    assert "# ours" in file.read_text()


def test_a_call_is_kept_already_if_this_result_and_those_of_equal_calls_pass(tmp_path: Path):
    made = keeping(tmp_path)
    made.keep(made.target())
    there = made.same_case(made.target())
    assert there is not None and made.is_kept_by(there)
    assert not keeping(tmp_path, said="Sun.").is_kept_by(there)
    varying = made.compared_with([({"content": [{"type": "text", "text": "Sun."}]}, 7.0, 0.0)])
    assert not varying.is_kept_by(there)


def test_results_from_before_the_call_was_kept_or_its_server_changed_are_not_compared(tmp_path: Path):
    (tmp_path / "server.py").touch()
    os.utime(tmp_path / "server.py", (50, 50))
    made = keeping(tmp_path)
    made.keep(made.target())
    file = tmp_path / "weather.mcp.toml"
    text = {"content": [{"type": "text", "text": "Sun."}]}
    exchange = replace(made.draft.exchange, at=300)
    made = replace(made, draft=replace(made.draft, exchange=exchange))
    varying = made.compared_with([(text, 1.0, at) for at in (10, 100, 200)])
    os.utime(file, (150, 150))
    assert varying.since_kept(varying.target()).draft.exchange.other_at == (200,)
    file.unlink()
    assert varying.since_kept(varying.target()).draft.exchange.other_at == (100, 200)


def test_a_call_that_is_kept_already_changes_nothing_unless_the_user_switches_something(tmp_path: Path):
    made = keeping(tmp_path)
    made.keep(made.target())
    file = tmp_path / "weather.mcp.toml"
    file.write_text(file.read_text().replace('"Rain."', '"<text>."'))
    before = file.read_text()
    assert made.keep(made.target()) == "Already kept in weather.mcp.toml: get Oslo"
    assert file.read_text() == before
    replace(made, draft=replace(made.draft, timed=False)).keep(made.target())
    assert file.read_text() == before.replace('within = "100ms"\n', "")


def test_a_result_that_is_too_large_is_refused(tmp_path: Path):
    made = keeping(tmp_path, said="x" * 600_000)
    with pytest.raises(UsageError, match="too large to keep"):
        made.keep(made.target())


def test_saved_calls_move_along_but_not_one_with_the_same_request(tmp_path: Path):
    key = CallKey("weather", CallKind.TOOL, "get")
    memory = CallMemory().with_saved(key, "usual", {"city": "NYC"}).with_saved(key, "same", {"city": "Oslo"})
    made = keeping(tmp_path)
    target = made.target()
    made.keep(target, made.moved(memory, target))
    suite = made.target().suite
    assert suite is not None and [case.name for case in suite.cases] == ["usual", "get Oslo"]


@pytest.mark.parametrize(("folder", "shown"), [("a", "../weather.mcp.toml"), ("a/b/c", "")])
def test_a_path_is_shown_as_it_is_typed_if_it_is_near(folder: str, shown: str, tmp_path: Path):
    made = replace(keeping(tmp_path), current=tmp_path / folder)
    path = tmp_path / "weather.mcp.toml"
    assert made.shown_path(path) == (shown or str(path))


TOOL = CallKey("weather", CallKind.TOOL, "get_weather")
OTHER = CallKey("notes", CallKind.TOOL, "add")
RESOURCE = CallKey("weather", CallKind.RESOURCE, "note://{name}")


def test_the_saved_calls_of_a_server_become_cases_that_expect_nothing():
    memory = CallMemory().with_saved(TOOL, "usual", {"location": "Oslo"}).with_saved(OTHER, "milk", {})
    (moved,) = to_move(memory, "weather", ())
    assert moved.case.request == Request(RequestKind.TOOL, "get_weather", {"location": "Oslo"})
    assert (moved.case.name, moved.case.expected.is_empty) == ("usual", True)
    assert without_moved([moved], memory).saved == {OTHER: {"milk": {}}}


def test_a_name_that_the_file_has_gets_a_number_and_keeps_its_own_in_the_state_folder():
    memory = CallMemory().with_saved(TOOL, "usual", {}).with_saved(TOOL, "usual 2", {})
    names = [(one.name, one.case.name) for one in to_move(memory, "weather", {"usual"})]
    assert names == [("usual", "usual (2)"), ("usual 2", "usual 2")]


def test_the_arguments_of_a_template_stay_where_they_are():
    memory = CallMemory().with_saved(RESOURCE, "mine", {"name": "a"})
    assert to_move(memory, "weather", ()) == []


ID = "84e9b578-a22e-41f1-b30d-5e1b3dd0f0aa"


def result(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    return {"content": [], "structuredContent": value}


def draft(value: Any, *others: Any) -> Draft:
    request = Request(RequestKind.TOOL, "get")
    return Draft.of(Exchange("s", request, result(value), others=[*map(result, others)]), "")


@each_case(
    ("before", "value", "others", "after"),
    [
        ("Weather in <text>: <text>", "Weather in Rome: sun", (), "Weather in <text>: <text>"),
        (
            "Now in <text>: <number> C",
            "Later in Oslo: 5 C",
            ("Later in Oslo: 7 C",),
            "Later in <text>: <number> C",
        ),
        ("Order <id>", f"Order: {ID}", (), "Order: <id>"),
        ("Order", f"Order {ID}", (), "Order <id>"),
        ("Rain.", "Rain at 5.", ("Rain at 6.",), "Rain at <number>."),
    ],
)
def test_placeholders_of_a_text_stay_where_they_fit(before: str, value: str, others: Any, after: str):
    assert kept_again(Expectation(text=before), draft(value, *others)).text == after


@each_case(
    ("before", "value", "others", "after"),
    [
        (
            {"by": "<text>", "title": "Nets"},
            {"by": "A", "title": "New"},
            (),
            {"by": "<text>", "title": "New"},
        ),
        ({"row": 4, "n": 1}, {"rows": 4, "n": 1}, ({"rows": 4, "n": 2},), {"rows": 4, "n": "<number>"}),
        ({"n": 1}, {"n": 2, "volatile": 7}, (), {"n": 2}),
        ({"n": "<number>"}, {"n": "many"}, (), {"n": "many"}),
        ({"a": ["<re:x+>", "b"]}, {"a": ["xx", "c"]}, (), {"a": ["<re:x+>", "c"]}),
        ({"a": ["<text>"], "b": 1}, {"a": ["c", "d"], "b": 1}, (), {"a": ["c", "d"], "b": 1}),
    ],
)
def test_placeholders_of_a_result_stay_and_a_renamed_member_is_expected(
    before: Any, value: Any, others: Any, after: Any
):
    assert kept_again(Expectation(result=before), draft(value, *others)).result == after


def test_what_the_user_switched_is_as_in_the_draft():
    made = draft({"n": 1, "m": 1}, {"n": 2, "m": 1})
    (one,) = made.variations
    before = Expectation(result={"n": "<any>", "m": "<any>"})
    assert kept_again(before, made.switch(one)).result == {"n": 1, "m": "<any>"}
