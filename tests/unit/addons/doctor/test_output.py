"""What the doctor prints, and the report at its end."""

import argparse
import json
from pathlib import Path

import pytest

from tui.addons.doctor.output import Printer, end
from tui.addons.doctor.steps import Checklist, Step
from tui.commands.progress import Progress
from tui.core.errors import ConfigError
from tui.core.secrets.redact import Redactor

GOOD = Step("start", "3 ms")
BAD = Step.failed("lists", "no hunter2-hunter2", "add it")


def args(report: Path | None, *, as_json: bool = False) -> argparse.Namespace:
    return argparse.Namespace(report=None if report is None else str(report), host=None, json=as_json)


def printed(capsys: pytest.CaptureFixture[str], *, short: bool, quiet: bool = False) -> str:
    printer, found = Printer(Progress(), short=short, quiet=quiet), Checklist("s", "python", [GOOD, BAD])
    printer.begun(found)
    printer.told("s", "lists")
    printer.told("s", BAD)
    printer.ended(found)
    return capsys.readouterr().out


def test_each_step_of_one_server_is_printed_as_it_ends(capsys: pytest.CaptureFixture[str]):
    lines = printed(capsys, short=False).splitlines()
    assert any(line.startswith("  ✗ lists") for line in lines) and lines[-1].startswith("Failed at lists.")


def test_of_several_servers_only_what_is_wrong_is_printed(capsys: pytest.CaptureFixture[str]):
    said = printed(capsys, short=True)
    assert "lists: no hunter2" in said and "3 ms" not in said
    assert printed(capsys, short=True, quiet=True) == ""


def test_the_report_has_no_secrets_and_its_path_is_in_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path, redactor = tmp_path / "report.txt", Redactor({"KEY": "hunter2-hunter2"})
    end(args(path, as_json=True), [Checklist("s", "python", [BAD])], redactor, single=True)
    assert json.loads(capsys.readouterr().out)["report"] == str(path)
    assert "[redacted:KEY]" in path.read_text() and "hunter2" not in path.read_text()


def test_a_report_that_cannot_be_written_is_told_and_not_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    end(args(tmp_path / "no" / "report.txt"), [Checklist("s", "", [BAD])], Redactor(), single=True)
    said = capsys.readouterr()
    assert "the report was not written" in said.err and "Report for an issue" not in said.out


def test_without_any_server_the_next_step_is_told():
    with pytest.raises(ConfigError, match="no servers are configured"):
        end(args(None), [], Redactor(), single=False)
