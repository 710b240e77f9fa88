"""Reports in files: whole or not at all, and readable for other programs."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.addons.tests.reports.outcomes import MIXED
from tui.addons.tests.reports import AUTOMATIC, REPORTS
from tui.addons.tests.run.reporter import RunStart
from tui.core.addons import load
from tui.core.errors import UsageError


def write(kind: str, path: Path) -> None:
    report = load(REPORTS[kind])(path)
    report.began(RunStart())
    report.ended(replace(MIXED, interrupted=True))


@pytest.mark.parametrize("kind", REPORTS)
def test_a_report_is_written_at_the_end_also_of_an_interrupted_run(tmp_path: Path, kind: str):
    path = tmp_path / "out"
    path.write_text("old")
    write(kind, path)
    assert "interrupted" in path.read_text()
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_other_programs_may_read_a_report_as_the_umask_allows(tmp_path: Path):
    before = os.umask(0o027)
    try:
        write("junit", tmp_path / "out")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


def test_a_report_that_cannot_be_written_is_one_sentence_with_its_file():
    with pytest.raises(UsageError, match=r"^/dev/full: cannot write the report \(No space left on device\)$"):
        write("junit", Path("/dev/full"))


def test_a_folder_is_not_replaced(tmp_path: Path):
    with pytest.raises(UsageError, match=r"cannot write the report \(Is a directory\)"):
        write("md", tmp_path)


def test_paths_are_relative_to_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir("/")
    write("gitlab", tmp_path / "out")
    assert 'file="home/ada/project/tests/weather.mcp.toml"' in (tmp_path / "out").read_text()


def test_each_report_that_comes_by_itself_may_be_none():
    assert [load(one)({}) for one in AUTOMATIC] == [None]
