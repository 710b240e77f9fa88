"""Approvals of skills: bound to the files of a manifest, the server and the URI."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.addons.skills.site import FORMS, REFERENCE, raw_entry
from tui.addons.skills.approvals import Approval, SkillApprovals
from tui.addons.skills.entry import SkillEntry, entry_of
from tui.core.servers import ServerSpec

SPEC = ServerSpec("docs", "python", ("server.py",))
Opened = Callable[[], SkillApprovals]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Open the approvals as the next run does: those of the run before are written."""
    runs: list[SkillApprovals] = []

    def next_run() -> SkillApprovals:
        for run in runs:
            run.close()
        runs.append(SkillApprovals(tmp_path / "approved-skills.json"))
        return runs[-1]

    yield next_run
    for run in runs:
        run.close()


def entry(uri: str = FORMS, server: str = "docs", **files: str) -> SkillEntry:
    folder = uri.removesuffix("/SKILL.md")
    return entry_of(
        server, raw_entry(uri, {uri: "x", **{f"{folder}/{name}": text for name, text in files.items()}})
    )


def test_an_approval_outlives_the_run(opened: Opened):
    first = opened()
    assert first.state(SPEC, entry()).approval is Approval.NEW
    first.approve(SPEC, entry())
    assert opened().state(SPEC, entry()).approval is Approval.APPROVED


@pytest.mark.parametrize(
    ("files", "differs"),
    [
        ({"a": "1", "b": "1", "c": "1"}, (["c"], [], [])),
        ({"a": "1"}, ([], ["b"], [])),
        ({"a": "2", "b": "1"}, ([], [], ["a"])),
    ],
    ids=["added", "removed", "changed"],
)
def test_any_other_manifest_asks_again_with_its_difference(
    opened: Opened, files: dict[str, str], differs: tuple[list[str], ...]
):
    approvals = opened()
    approvals.approve(SPEC, entry(a="1", b="1"))
    found = approvals.state(SPEC, entry(**files))
    names = [[uri.rpartition("/")[2] for uri in uris] for uris in (found.added, found.removed, found.changed)]
    assert found.approval is Approval.CHANGED and tuple(names) == differs


def test_an_approval_does_not_come_back_with_the_old_manifest(opened: Opened):
    approvals = opened()
    approvals.approve(SPEC, entry(a="1"))
    approvals.state(SPEC, entry(a="2"))
    again = opened()
    assert again.state(SPEC, entry(a="1")).approval is Approval.CHANGED
    again.approve(SPEC, entry(a="1"))
    assert again.state(SPEC, entry(a="1")).approval is Approval.APPROVED


def test_a_change_of_a_nested_skill_is_a_change(opened: Opened):
    approvals = opened()
    inner = "skill://forms/inner/SKILL.md"
    before = entry_of("docs", raw_entry(FORMS, {FORMS: "x", inner: "1"}))
    approvals.approve(SPEC, before)
    after = entry_of("docs", raw_entry(FORMS, {FORMS: "x", inner: "2"}))
    assert approvals.state(SPEC, after).changed == (inner,)


def test_a_nested_skill_has_an_approval_of_its_own(opened: Opened):
    approvals = opened()
    approvals.approve(SPEC, entry())
    assert approvals.state(SPEC, entry("skill://forms/inner/SKILL.md")).approval is Approval.NEW


def test_the_same_skill_of_another_server_is_not_approved(opened: Opened):
    approvals = opened()
    approvals.approve(SPEC, entry())
    assert approvals.state(replace(SPEC, name="copy"), entry(server="copy")).approval is Approval.NEW


def test_a_server_that_runs_something_else_is_not_approved(opened: Opened):
    approvals = opened()
    approvals.approve(SPEC, entry())
    assert approvals.state(replace(SPEC, args=("evil.py",)), entry()).approval is Approval.NEW


def test_a_dynamic_skill_is_asked_about_each_time(opened: Opened):
    approvals = opened()
    dynamic = entry_of("docs", raw_entry() | {"resources": "dynamic"})
    approvals.approve(SPEC, dynamic)
    assert approvals.state(SPEC, dynamic).approval is Approval.EACH_TIME


def test_a_skill_that_becomes_dynamic_loses_its_approval(opened: Opened):
    approvals = opened()
    approvals.approve(SPEC, entry())
    approvals.state(SPEC, entry_of("docs", raw_entry() | {"resources": "dynamic"}))
    assert approvals.state(SPEC, entry()).approval is Approval.CHANGED


def test_a_declined_skill_cannot_be_approved(opened: Opened):
    approvals, declined = opened(), entry_of("docs", raw_entry() | {"resources": []})
    approvals.approve(SPEC, declined)
    assert approvals.state(SPEC, declined).approval is Approval.NEW


def test_revoking_and_removing_a_server_drop_approvals(opened: Opened):
    approvals = opened()
    for uri in (FORMS, "skill://a/SKILL.md", "skill://b/SKILL.md"):
        approvals.approve(SPEC, entry(uri))
    approvals.approve(replace(SPEC, name="copy"), entry(server="copy"))
    approvals.revoke(SPEC, entry())
    approvals = opened()
    assert approvals.state(SPEC, entry()).approval is Approval.NEW
    assert approvals.state(SPEC, entry("skill://a/SKILL.md")).approval is Approval.APPROVED
    approvals.forget("docs")
    approvals = opened()
    assert approvals.state(SPEC, entry("skill://a/SKILL.md")).approval is Approval.NEW
    assert approvals.state(replace(SPEC, name="copy"), entry(server="copy")).approval is Approval.APPROVED


def test_a_damaged_file_counts_as_empty_and_says_so(opened: Opened, tmp_path: Path):
    (tmp_path / "approved-skills.json").write_text("{")
    (tmp_path / "approved-skills.json").chmod(0o600)
    approvals = opened()
    assert approvals.state(SPEC, entry()).approval is Approval.NEW and "is not JSON" in approvals.problem


def test_the_largest_manifest_is_remembered(opened: Opened):
    files = {f"skill://forms/{'x' * 200}{number}": "x" for number in range(511)}
    large = entry_of("docs", raw_entry(FORMS, {FORMS: "x", **files}))
    assert large.declined == ""
    opened().approve(SPEC, large)
    assert opened().state(SPEC, large).approval is Approval.APPROVED


def test_no_content_is_stored(opened: Opened, tmp_path: Path):
    approvals = opened()
    approvals.approve(SPEC, entry_of("docs", raw_entry(description="canary")))
    approvals.close()
    stored = (tmp_path / "approved-skills.json").read_text()
    assert REFERENCE in stored and "canary" not in stored
