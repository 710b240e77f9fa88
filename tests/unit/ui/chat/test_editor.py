"""Which editor is run, and the text it returns."""

import os
import sys
from pathlib import Path

import pytest

from tui.core.errors import McptuiError
from tui.ui.chat.editor import edited, editor_of


def env(code: str) -> dict[str, str]:
    return {"EDITOR": f"{sys.executable} -c '{code}'", "PATH": os.environ["PATH"]}


def test_visual_takes_precedence_over_editor_and_is_split_into_arguments():
    assert editor_of({"VISUAL": "sh -c 'a b'", "EDITOR": "cat"}) == ["sh", "-c", "a b"]
    assert editor_of({"VISUAL": " ", "EDITOR": "cat"}) == ["cat"]


@pytest.mark.parametrize("written", ["no-such-editor", "sh 'unclosed"])
def test_an_editor_that_cannot_be_run_is_reported(written: str):
    with pytest.raises(McptuiError):
        editor_of({"EDITOR": written})


async def test_the_edited_text_is_returned_without_trailing_line_breaks():
    code = 'import sys; open(sys.argv[1], "a").write("\\r\\nmore\\n\\n")'
    assert await edited("héllo", env(code)) == "héllo\nmore"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit(2)", "exited with code 2"),
        ("import os, sys; os.unlink(sys.argv[1])", "cannot read the edited message"),
        ('import sys; open(sys.argv[1], "wb").truncate(9000000)', "edited message: is larger than 8192 KiB"),
    ],
)
async def test_a_failure_of_the_editor_is_reported(code: str, words: str):
    with pytest.raises(McptuiError, match=words):
        await edited("text", env(code))


async def test_the_temporary_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    await edited("text", env('import sys; open(sys.argv[1] + "~", "w").write("backup")'))
    with pytest.raises(McptuiError):
        await edited("text", env("import sys; sys.exit(1)"))
    assert os.listdir(tmp_path) == []


async def test_an_unwritable_temporary_directory_is_reported(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with pytest.raises(McptuiError, match="cannot write the message to a file: No such file"):
        await edited("text", env("pass"))
