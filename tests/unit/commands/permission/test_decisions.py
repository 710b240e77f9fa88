"""`mcptui decisions` prints what was allowed and denied."""

import json
import sys
import time
from contextvars import copy_context
from dataclasses import replace
from typing import Any

import pytest

from tui.cli import main
from tui.core.ports import DecisionKind, DecisionRecord
from tui.settings.locations import decisions_file
from tui.settings.state.permission.stored_decisions import StoredDecisions


def keep(*records: DecisionRecord) -> None:
    stored = StoredDecisions(decisions_file(), lambda text: text)
    for one in records:
        stored.add(one)
    stored.close()


def record(server: str, allowed: bool, by: str = "key (once)", **more: Any) -> DecisionRecord:
    return DecisionRecord(DecisionKind.CALL, server, "get", allowed, by, "model", digest="abc", **more)


@pytest.fixture
def three() -> None:
    keep(
        record("weather", True, "rule allow weather/*", when=time.time() - 10 * 86_400),
        record("notes", False, asked=True),
        record("weather", True, asked=True),
    )


def lines(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, Any]]:
    assert main(["decisions", *args, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_without_decisions_the_output_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decisions"]) == 0
    assert capsys.readouterr().out == "no decisions\n"


@pytest.mark.parametrize(("wide", "lines"), [((), 3), (("--wide",), 2)])
def test_on_a_terminal_a_long_subject_goes_on_in_the_next_line(
    wide: tuple[str, ...],
    lines: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep(replace(record("files", True, "rule"), subject="s" * 150, when=time.time()))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    assert copy_context().run(main, ["decisions", *wide]) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == lines and printed.count("s" * 10) and "…" not in printed


@pytest.mark.usefixtures("three")
def test_each_decision_is_a_line_oldest_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decisions"]) == 0
    head, *rest = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["time", "decision", "kind", "server"]
    assert [line.split("  ")[1].strip() for line in rest] == ["allowed", "asked, denied", "asked, allowed"]
    assert "rule allow weather/*" in rest[0] and "key (once)" in rest[2]


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("args", "servers"),
    [
        (("--since", "7d"), ["notes", "weather"]),
        (("--server", "weather"), ["weather", "weather"]),
        (("--denied",), ["notes"]),
        (("--denied", "--server", "weather"), []),
    ],
)
def test_options_select_decisions(
    capsys: pytest.CaptureFixture[str], args: tuple[str, ...], servers: list[str]
) -> None:
    assert [one["server"] for one in lines(capsys, *args)] == servers


@pytest.mark.usefixtures("three")
def test_json_has_each_field_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(capsys, "--denied")[0]
    assert found.pop("time")
    assert found == {
        "decision": "denied",
        "asked": True,
        "kind": "call",
        "server": "notes",
        "subject": "get",
        "decided_by": "key (once)",
        "requested_by": "model",
        "arguments_digest": "abc",
    }


def test_an_invalid_time_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decisions", "--since", "soon"]) == 2
    assert "--since" in capsys.readouterr().err


@pytest.mark.usefixtures("three")
def test_an_unreadable_line_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with decisions_file().open("ab") as file:
        file.write(b"\xff\0\n")
    assert main(["decisions", "--denied"]) == 0
    said = capsys.readouterr()
    assert said.err == "mcptui: 1 line could not be read\n" and "notes" in said.out
