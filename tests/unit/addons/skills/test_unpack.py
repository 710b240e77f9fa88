"""Unpacking a skill with hostile file names."""

import stat
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.unit.addons.skills.site import FORMS, raw_entry
from tui.addons.skills.entry import SkillEntry, entry_of
from tui.addons.skills.unpack import target, unpack, unpack_fault
from tui.addons.skills.verify import SkillContent
from tui.core.errors import UsageError


def entry(*names: str) -> SkillEntry:
    return entry_of(
        "docs", raw_entry(FORMS, {FORMS: "x", **{f"skill://forms/{name}": "x" for name in names}})
    )


@each_case(
    "names",
    [
        *(["CON"], ["a/aux.txt"], ["x%3a"], ["a%20"], ["a."], ["%3c"], [".git/config"], ["x" * 256]),
        *(
            ["a.md", "A.MD"],
            ["a", "a/b"],
            ["skill.md"],
            ["SKILL.md/x"],
            ["%C3%A9", "e%CC%81"],
            ["a%E2%80%AEb"],
        ),
        ["/".join(["x" * 200] * 6)],
    ],
)
def test_names_that_cannot_be_written_everywhere_are_refused(names: list[str]):
    found = entry(*names)
    assert unpack_fault(found) != ""


def test_a_skill_whose_files_are_not_known_is_refused():
    assert "dynamic" in unpack_fault(entry_of("docs", raw_entry() | {"resources": "dynamic"}))
    assert "SKILL.md" in unpack_fault(entry_of("docs", raw_entry() | {"resources": []}))


def test_files_are_written_below_the_folder_and_are_not_executable(tmp_path: Path):
    path = target(entry("scripts/run.sh"), str(tmp_path))
    unpack([SkillContent("SKILL.md", b"x"), SkillContent("scripts/run.sh", b"#!/bin/sh\n")], path)
    assert (path, (path / "scripts" / "run.sh").read_bytes()) == (tmp_path / "forms", b"#!/bin/sh\n")
    modes = [one.stat().st_mode for one in path.rglob("*") if one.is_file()]
    assert len(modes) == 2 and not any(mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH) for mode in modes)


def test_a_failure_in_the_middle_writes_nothing(tmp_path: Path):
    contents = [SkillContent("a", b"x"), SkillContent("a/b", b"x")]
    with pytest.raises(UsageError, match="cannot unpack"):
        unpack(contents, tmp_path / "forms")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_link_or_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path, kind: str):
    place = tmp_path / "forms"
    place.symlink_to(tmp_path) if kind == "link" else place.write_text("mine")
    with pytest.raises(UsageError):
        target(entry(), str(tmp_path))
