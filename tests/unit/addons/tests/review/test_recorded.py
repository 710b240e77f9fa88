import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.addons.tests.review.stage import ORDER, TEXT, text
from tui.addons.tests.review.catalog import Listed
from tui.addons.tests.review.last_runs import LastCase
from tui.addons.tests.review.recorded import NO_RESPONSE, OTHERWISE, failures_in_recordings
from tui.addons.tests.run.outcome import State
from tui.addons.tests.suite.case import Case, Suite
from tui.addons.tests.suite.read import suite_of
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Cause, Direction
from tui.storage.recordings.database import keep_note
from tui.storage.recordings.writer import RecordingWriter
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.recorder import Recorder

ANSWERS = {
    "hand-1": ("weather", {}, text("snow, 3 °C")),
    "hand-2": ("order", {}, ORDER),
    "hand-3": ("count", {}, {"content": [], "structuredContent": {"n": 2}}),
}


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return suite_of(TEXT, tmp_path / "weather.mcp.toml")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "run.mcptrace"
    recorder = Recorder(lambda: RecordingWriter(path), EntryColumns(), redact=Redactor().redact_bytes)
    recorder.start()
    for number, (call, (name, arguments, result)) in enumerate(ANSWERS.items(), 1):
        request = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for way, message in ((Direction.OUT, request), (Direction.IN, {"result": result})):
            whole = json.dumps({"jsonrpc": "2.0", "id": number, **message}).encode()
            cause = Cause(0, 0, call) if way is Direction.OUT else None
            recorder.capture(Captured("weather", way, number, number, whole, cause=cause))
    recorder.close(5)
    return path


def listed(suite: Suite, recording: Path | str, **calls: str) -> list[Listed]:
    def last(case: Case) -> LastCase | None:
        call = calls.get(case.name.replace(" ", "_"))
        return None if call is None else LastCase(State.FAILED, 5.0, 2.0, str(recording), "weather", call)

    return [Listed(suite.path, case, last(case)) for case in suite.cases]


def test_failures_have_the_results_of_their_recording(suite: Suite, recording: Path):
    weather, order = failures_in_recordings(
        suite, listed(suite, recording, the_weather="hand-1", an_order="hand-2")
    )
    assert weather.response is not None and weather.response.text == "snow, 3 °C"
    assert (weather.differs, weather.outcome.problem, weather.at) == (
        True,
        'text: expected "rain, <number> °C", got "snow, 3 °C"',
        5.0,
    )
    assert order.outcome.call == "hand-2"


def test_the_step_that_failed_is_found_by_its_request_and_has_the_saved_values(suite: Suite, recording: Path):
    found = failures_in_recordings(suite, listed(suite, recording, an_order="hand-2", its_state="hand-3"))
    assert found[1].place == (2, 0)
    assert found[1].saved == {"id": "a-1"}
    assert found[1].response is not None and found[1].response.value == {"n": 2}


@pytest.mark.parametrize(
    ("note", "problem"),
    [("", OTHERWISE), ("failed: the weather: finding result-twice", "finding result-twice")],
)
def test_a_result_that_is_as_expected_failed_for_another_reason(
    suite: Suite, recording: Path, note: str, problem: str
):
    cases = listed(suite, recording, the_weather="hand-1")
    if note:
        keep_note(recording, 1, marked=True, text=note)
    expected = replace(suite.cases[0].expected, text="snow, <number> °C")
    mended = replace(suite, cases=(replace(suite.cases[0], expected=expected), *suite.cases[1:]))
    cases[0] = replace(cases[0], what=mended.cases[0])
    (found,) = failures_in_recordings(mended, cases)
    assert found.outcome.problem == problem


@pytest.mark.parametrize("place", ["", "/gone.mcptrace"])
def test_what_is_not_recorded_is_left_out(suite: Suite, recording: Path, place: str):
    assert failures_in_recordings(suite, listed(suite, place, the_weather="hand-1")) == []


@pytest.mark.parametrize(
    ("call", "problem", "shown"),
    [("", "not sent: “days” is missing", "not sent: “days” is missing"), ("hand-9", "", NO_RESPONSE)],
)
def test_a_call_that_was_not_sent_or_got_no_response_says_why_it_failed(
    suite: Suite, recording: Path, call: str, problem: str, shown: str
):
    cases = listed(suite, recording, the_weather=call)
    cases[0] = replace(cases[0], problem=problem)
    (found,) = failures_in_recordings(suite, cases)
    assert (found.response, found.outcome.problem) == (None, shown)
