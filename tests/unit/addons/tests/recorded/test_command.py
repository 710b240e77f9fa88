"""`mcptui traffic --expect-tool` and the like, on recordings that are written message by message."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.traffic.traffic_script import ECHO, Script
from tui.cli import dispatch
from tui.commands.command_line import build_parser
from tui.storage.recordings.writer import RecordingWriter


@pytest.fixture
def recording(tmp_path: Path) -> str:
    script = Script().legacy().listed(ECHO, {"name": "sum", "inputSchema": {"type": "object"}})
    script.result(script.out("tools/call", {"name": "echo", "arguments": {}}), {"content": []})
    script.error(script.out("resources/read", {"uri": "a://b"}), -32002)
    path = tmp_path / "r.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write(script.entries)
    return str(path)


def judged(recording: str, *options: str) -> int:
    args = build_parser().parse_args(["traffic", recording, *options])
    args.live_command = []
    return dispatch(args)


def lines(capsys: pytest.CaptureFixture[str]) -> Sequence[str]:
    return capsys.readouterr().out.splitlines()


def test_expectations_that_hold_are_counted(recording: str, capsys: pytest.CaptureFixture[str]):
    assert judged(recording, "--expect-tool", "echo", "--forbid-tool", "sum", "--max-latency", "1s") == 0
    assert lines(capsys) == ["3 expectations held for 4 requests"]


def test_each_expectation_that_does_not_hold_is_a_line(recording: str, capsys: pytest.CaptureFixture[str]):
    options = ("--expect-tool", "sum", "--max-latency", "e*=5ms", "--no-errors", "--forbid-tool", "weather/*")
    assert judged(recording, *options) == 1
    assert lines(capsys) == [
        "--expect-tool sum: It was not called. Called: echo.",
        "--forbid-tool weather/*: #6 tools/call echo (weather)",
        "--max-latency e*=5ms: #6 tools/call echo (weather) took 10 ms",
        "--no-errors: #8 resources/read a://b (weather): error",
    ]


def test_json_has_an_object_for_each_expectation(recording: str, capsys: pytest.CaptureFixture[str]):
    assert judged(recording, "--json", "--no-errors", "--expect-tool", "echo") == 1
    assert [json.loads(line) for line in lines(capsys)] == [
        {"expectation": "--expect-tool echo", "holds": True, "problem": "", "entry": None},
        {
            "expectation": "--no-errors",
            "holds": False,
            "problem": "#8 resources/read a://b (weather): error",
            "entry": 8,
        },
    ]


def test_a_filter_limits_what_is_judged(recording: str, capsys: pytest.CaptureFixture[str]):
    assert judged(recording, "--filter", "method:tools/*", "--no-errors") == 0
    assert judged(recording, "--filter", "method:tools/list", "--expect-tool", "sum") == 1
    assert "Called: no tool." in lines(capsys)[-1]


def test_nothing_to_judge_is_no_success(recording: str, capsys: pytest.CaptureFixture[str]):
    assert judged(recording, "--filter", "tool:zzz", "--no-errors") == 2
    assert "nothing was compared" in capsys.readouterr().err


def test_a_forbidden_tool_that_was_probably_misspelled_is_noted(
    recording: str, capsys: pytest.CaptureFixture[str]
):
    assert judged(recording, "--forbid-tool", "ecko") == 0
    assert "Did you mean “echo”?" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["800", "echo=fast", "echo=", "="])
def test_a_limit_that_is_no_time_is_refused(recording: str, text: str, capsys: pytest.CaptureFixture[str]):
    assert judged(recording, "--max-latency", text) == 2
    assert capsys.readouterr().err.startswith("mcptui: --max-latency: ")


def test_expectations_cannot_be_combined_with_other_actions(
    recording: str, capsys: pytest.CaptureFixture[str]
):
    assert judged(recording, "--lint", "--no-errors") == 2
    assert "--lint and --no-errors cannot be combined" in capsys.readouterr().err
