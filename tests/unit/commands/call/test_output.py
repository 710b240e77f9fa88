"""Output to stdout or into a file."""

import base64
import os
from pathlib import Path

import pytest

from tui.commands.call.output import OutputFile, result_text, write_contents, write_prompt, write_result
from tui.core.errors import UsageError
from tui.core.tools import BinaryContent, LinkContent, TextContent, ToolResult
from tui.core.workbench import PromptMessage, PromptResult

DATA = bytes(range(256))


def image(data: bytes = DATA) -> BinaryContent:
    return BinaryContent("image", "image/png", len(data), base64.b64encode(data).decode())


def test_any_bytes_reach_a_file_unchanged(tmp_path: Path):
    path = tmp_path / "x.bin"
    OutputFile(str(path)).write(ToolResult((image(),)))
    assert path.read_bytes() == DATA


def test_text_is_written_to_a_file_if_there_is_no_other_content(tmp_path: Path):
    path = tmp_path / "x.txt"
    OutputFile(str(path)).write(ToolResult((TextContent("a\ud800b"), TextContent("c"))))
    assert path.read_text("utf-8") == "a\ufffdb\nc"


def test_a_folder_is_refused_at_once(tmp_path: Path):
    with pytest.raises(UsageError, match="Is a directory"):
        OutputFile(str(tmp_path))


def test_data_that_is_not_base64_is_an_error_and_writes_nothing(tmp_path: Path):
    path = tmp_path / "x.png"
    with pytest.raises(UsageError, match="not valid base64"):
        OutputFile(str(path)).write(ToolResult((BinaryContent("image", "image/png", 1, "%%%"),)))
    assert not path.exists()


def test_structured_content_is_shown_only_without_other_content():
    assert result_text(ToolResult(structured={"a": 1})) == '{\n  "a": 1\n}'
    assert result_text(ToolResult((TextContent("x"),), structured={"a": 1})) == "x"


def test_a_link_is_shown_with_its_uri(capfdbinary):
    write_result(ToolResult((TextContent("see"), LinkContent("file:///a", "a"))))
    assert capfdbinary.readouterr().out == b"see\n[a: file:///a]\n"


def test_text_written_to_a_file_contains_no_terminal_escapes(tmp_path: Path, capfdbinary):
    said = ToolResult((TextContent("\x1b]0;x\x07a\x08b\0\tc"),))
    write_result(said)
    write_contents(said)
    OutputFile(str(tmp_path / "x.txt")).write(said)
    clear = "␛]0;x␇a␈b␀\tc"
    assert capfdbinary.readouterr().out.decode() == f"{clear}\n{clear}"
    assert (tmp_path / "x.txt").read_text("utf-8") == clear


def test_a_single_file_is_written_to_a_pipe_as_bytes(capfdbinary):
    write_contents(ToolResult((image(),)))
    assert capfdbinary.readouterr().out == DATA


def test_several_parts_other_than_text_require_an_output_file():
    with pytest.raises(UsageError, match="-o FILE"):
        write_contents(ToolResult((image(), TextContent("x"))))


def test_several_messages_of_a_prompt_are_shown_with_their_roles(capfdbinary):
    messages = (PromptMessage("user", TextContent("a\n")), PromptMessage("assistant", TextContent("b")))
    write_prompt(PromptResult(messages=messages))
    assert capfdbinary.readouterr().out == b"user: a\n\nassistant: b\n"


@pytest.mark.parametrize("mask", [0, 0o777])
def test_the_file_is_private_for_any_umask(tmp_path: Path, mask: int):
    before = os.umask(mask)
    try:
        OutputFile(str(tmp_path / "out")).write(ToolResult((TextContent("a"),)))
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600
