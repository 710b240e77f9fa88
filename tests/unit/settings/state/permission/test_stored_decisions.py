"""The log of decisions in a file: private, append-only, bounded, and never a reason to fail."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.foreign import NUMBERS
from tui.core.errors import ConfigError
from tui.core.ports import BY_KEY, MODEL, DecisionKind, DecisionRecord
from tui.core.units import day_and_time, local_rfc3339
from tui.settings.state.permission import stored_decisions
from tui.settings.state.permission.stored_decisions import StoredDecisions, read_decisions


def record(subject: str = "echo", *, allowed: bool = True, **more: object) -> DecisionRecord:
    return DecisionRecord(DecisionKind.CALL, "srv", subject, allowed, BY_KEY, MODEL, **more)  # type: ignore[arg-type]


def plain(text: str) -> str:
    return text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "decisions.jsonl"


@pytest.fixture
def blocked(path: Path) -> StoredDecisions:
    """A log that cannot be written until the file in place of its folder is removed."""
    path.parent.write_text("")
    stored = StoredDecisions(path, plain)
    stored.add(record("early"))
    wait_until(lambda: stored.problem)
    return stored


def keep(path: Path, *records: DecisionRecord) -> StoredDecisions:
    stored = StoredDecisions(path, plain)
    for one in records:
        stored.add(one)
    stored.close()
    return stored


def subjects(path: Path) -> list[str]:
    return [one.subject for one in read_decisions(path)[0]]


def test_decisions_are_kept_in_a_private_file(path: Path) -> None:
    one = record(asked=True, digest="d", when=1.5)
    keep(path, one)
    assert read_decisions(path)[0] == [one]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_two_instances_append_to_the_same_file(path: Path) -> None:
    first, second = StoredDecisions(path, plain), StoredDecisions(path, plain)
    for number in range(50):
        first.add(record(f"a{number}"))
        second.add(record(f"b{number}"))
    first.close()
    second.close()
    found = subjects(path)
    assert [one for one in found if one[0] == "a"] == [f"a{number}" for number in range(50)]
    assert [one for one in found if one[0] == "b"] == [f"b{number}" for number in range(50)]


def test_a_decision_is_written_at_once_and_those_directly_after_it_together(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_decisions, "WINDOW", 60.0)
    writes = list[int]()
    append = stored_decisions.append_private
    monkeypatch.setattr(
        stored_decisions,
        "append_private",
        lambda to, data: (writes.append(data.count(b"\n")), append(to, data)),
    )
    stored = StoredDecisions(path, plain)
    stored.add(record("first"))
    wait_until(lambda: writes)
    for number in range(20):
        stored.add(record(f"t{number}"))
    stored.close()
    assert writes == [1, 20]
    assert subjects(path) == ["first", *(f"t{number}" for number in range(20))]


def test_secrets_and_escapes_in_a_tool_name_are_not_written(path: Path) -> None:
    stored = StoredDecisions(path, lambda text: text.replace("hunter2", "[redacted]"))
    stored.add(record("hunter2\x1b[31m\n" + "x" * 1000))
    stored.close()
    text = path.read_text()
    assert "hunter2" not in text and "\\u001b" not in text and len(text.splitlines()) == 1
    assert len(subjects(path)[0]) <= stored_decisions.MAX_TEXT + 1


def test_a_full_file_is_rotated_and_the_oldest_file_deleted(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_decisions, "MAX_BYTES", 400)
    for number in range(20):
        keep(path, record(f"t{number}"))
    files = sorted(one.name for one in path.parent.iterdir())
    assert files == ["decisions.1.jsonl", "decisions.2.jsonl", "decisions.3.jsonl", "decisions.jsonl"]
    assert all(one.stat().st_size <= 400 for one in path.parent.iterdir())
    found = subjects(path)
    assert found == [f"t{number}" for number in range(20 - len(found), 20)] and len(found) >= 6


def test_only_a_truncated_line_is_lost(path: Path) -> None:
    keep(path, record("before"))
    with path.open("a") as file:
        file.write('{"when": 1, "kind": "ca')
    keep(path, record("after"))
    assert subjects(path) == ["before", "after"]


@pytest.mark.parametrize(
    "damage",
    [
        *(b"\xff", b"\0" * 300, b"\xef\xbb\xbf{}\n", b'{"when": 1}\x85\n', b"7\n", b"[" * 5000, b"{}\n"),
        b'{"when": 1, "kind": "nonsense"}\n',
    ],
)
def test_only_a_damaged_line_is_lost_and_it_is_counted(path: Path, damage: bytes) -> None:
    keep(path, record("before"))
    with path.open("ab") as file:
        file.write(damage)
    keep(path, record("after"))
    assert subjects(path) == ["before", "after"]
    assert read_decisions(path)[1] == "1 line could not be read"


def test_a_failed_write_is_reported_and_retried(path: Path, blocked: StoredDecisions) -> None:
    path.parent.unlink()
    blocked.add(record("late"))
    blocked.close()
    assert blocked.problem == ""
    assert subjects(path) == ["early", "late"]


def test_decisions_lost_while_the_file_is_unwritable_are_counted(
    path: Path, blocked: StoredDecisions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_decisions, "MAX_WAITING", 2)
    for number in range(1, 5):
        blocked.add(record(f"t{number}"))
    path.parent.unlink()
    blocked.close()
    assert not read_decisions(path)[1]
    assert subjects(path) == ["t3", "t4"] and json.loads(path.read_text().splitlines()[0]) == {"lost": 3}


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="no O_NOFOLLOW here")
def test_a_symlink_in_place_of_the_file_is_refused(tmp_path: Path, path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("")
    path.parent.mkdir()
    path.symlink_to(target)
    assert keep(path, record()).problem
    assert target.read_text() == ""


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "decisions.jsonl").mkdir()
    with pytest.raises(ConfigError, match=r"is a directory|not a regular file"):
        read_decisions(tmp_path / "decisions.jsonl")


def test_a_folder_moved_away_is_created_again(tmp_path: Path, path: Path) -> None:
    stored = StoredDecisions(path, plain)
    stored.add(record("early"))
    wait_until(path.exists, 5, "the first decision")
    path.parent.rename(tmp_path / "gone")
    stored.add(record("late"))
    stored.close()
    assert subjects(path) == ["late"] and not stored.problem


@pytest.mark.parametrize("when", NUMBERS)
def test_any_time_of_a_decision_can_be_shown(path: Path, when: float) -> None:
    keep(path, record(when=1.0))
    line = json.loads(path.read_text()) | {"when": when}
    path.write_text(json.dumps(line) + "\n")
    for found in read_decisions(path)[0]:
        assert isinstance(day_and_time(found.when) + local_rfc3339(found.when), str)


def test_an_unexpected_error_is_a_problem_and_the_decision_is_recorded_afterwards(tmp_path) -> None:
    path, failures = tmp_path / "decisions.jsonl", [LookupError("a defect")]

    def redact(text: str) -> str:
        if failures:
            raise failures.pop()
        return text

    stored = StoredDecisions(path, redact)
    stored.add(record("one"))
    wait_until(lambda: stored.problem == "an internal error")
    stored.close()
    assert stored.problem == "" and subjects(path) == ["one"]
