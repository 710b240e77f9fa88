"""`mcptui diff` between two locks: what it prints, and its exit codes."""

import json
from pathlib import Path

import pytest

from tui.addons.tests.contract.listing import Kind, ServerListing
from tui.addons.tests.contract.lock import SHAPE, Lock, write_lock
from tui.cli import dispatch
from tui.commands.command_line import parse


def lock(path: Path, strength: str = "full", **tools: dict[str, object]) -> str:
    write_lock(path, Lock(ServerListing({Kind.TOOL: tools}, "", {"tools": {}}, "2025-11-25"), strength))
    return str(path)


ADD = {"description": "Adds.", "inputSchema": {"type": "object"}}


@pytest.fixture(name="sides")
def _sides(tmp_path: Path) -> tuple[str, str]:
    after = {**ADD, "description": "Sums up all the numbers."}
    return lock(tmp_path / "a.json", add=ADD, old=ADD), lock(tmp_path / "b.json", add=after)


def diff(*words: str) -> int:
    return dispatch(parse(["diff", *words]))


def test_changes_are_printed_by_verdict(sides, capsys):
    assert diff(*sides) == 1
    out = capsys.readouterr().out
    assert out.startswith("breaking (1)\n  tool old  removed\n") and "\nrouting (1)\n" in out
    assert "2 changes: 1 breaking, 1 routing\ntokens of the definitions: " in out


@pytest.mark.parametrize(
    ("fail", "code"), [("none", 0), ("suspicious", 0), ("routing", 1), ("cosmetic, breaking", 1)]
)
def test_the_verdicts_that_fail_are_chosen(sides, fail, code):
    assert diff(*sides, "--fail", fail) == code


def test_a_report_does_not_replace_a_lock(sides, capsys):
    before = Path(sides[0]).read_text()
    assert diff(*sides, "--report", f"md={sides[0]}") == 2
    assert "the lock of a contract" in capsys.readouterr().err and Path(sides[0]).read_text() == before


def test_json_is_one_object(sides, capsys):
    diff(*sides, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["before"] == sides[0] and found["verdicts"]["breaking"] == 1
    assert found["tokens"]["after"].keys() == {"add"}


def test_a_shape_is_compared_with_shapes(tmp_path, sides, capsys):
    assert diff(*sides, "--shape", "--fail", "routing") == 0
    shape = lock(tmp_path / "c.json", SHAPE, add=ADD)
    assert diff(shape, sides[1]) == 0
    assert "descriptions are not compared" in capsys.readouterr().out
