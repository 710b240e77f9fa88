"""What `mcptui run` reads besides the question."""

import os
import threading
from pathlib import Path

import pytest

from tui.commands import run_input
from tui.commands.run_input import AnswerSchema, attachments, read_bounded, system_text
from tui.core.errors import UsageError


def test_a_file_is_attached(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("buy milk")
    (found,) = attachments([str(path)])
    assert (found.kind, found.name, found.data) == ("text", "notes.md", "buy milk")


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"x" * 200_000))
    writer.start()
    assert read_bounded(str(pipe), 1 << 20) == b"x" * 200_000
    writer.join()


def test_a_pipe_without_a_writer_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_input, "SILENCE", 0.05)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="no data from this pipe"):
        attachments([str(pipe)])


@pytest.mark.parametrize(
    ("path", "why"), [("/", "directory"), ("/dev/zero", "not a file"), ("/nowhere", "No such")]
)
def test_anything_but_a_file_is_reported(path: str, why: str) -> None:
    before = len(os.listdir("/dev/fd"))
    with pytest.raises(UsageError, match=why):
        attachments([path])
    assert len(os.listdir("/dev/fd")) == before


async def test_a_file_in_utf_16_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('{"type": "object"}', encoding="utf-16")
    with pytest.raises(UsageError, match="is UTF-16 text, not UTF-8"):
        system_text(f"@{path}")
    with pytest.raises(UsageError, match="is UTF-16 text, not UTF-8"):
        await AnswerSchema.read(str(path))
