"""Reports in files: whole or not at all, and readable for other programs."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.addons.tests.reports.outcomes import MIXED
from tui.addons.tests.reports.file_report import FileReport
from tui.addons.tests.reports.reports import KINDS
from tui.addons.tests.run.reporter import RunStart
from tui.core.errors import UsageError


def write(kind: str, file: Path | str, base: Path) -> None:
    report = FileReport(kind, str(file), KINDS[kind], base)
    report.began(RunStart())
    report.ended(replace(MIXED, interrupted=True))


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_written_at_the_end_also_of_an_interrupted_run(tmp_path: Path, kind: str):
    file = tmp_path / "reports" / "out"
    write(kind, file, tmp_path)
    assert "interrupted" in file.read_text()
    assert [path.name for path in file.parent.iterdir()] == ["out"]


def test_other_programs_may_read_a_report_as_the_umask_allows(tmp_path: Path):
    before = os.umask(0o027)
    try:
        write("junit", tmp_path / "out", tmp_path)
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


def test_a_report_that_cannot_be_written_is_one_sentence_with_its_file(tmp_path: Path):
    with pytest.raises(UsageError, match=r"^--report junit=/dev/full cannot be written \(.*space.*\)$"):
        write("junit", "/dev/full", tmp_path)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="cannot be written"):
        write("md", tmp_path / "file" / "out", tmp_path)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_is_refused_before_the_run(tmp_path: Path):
    with pytest.raises(UsageError, match="it is a folder"):
        FileReport("md", str(tmp_path), KINDS["md"], tmp_path)
