"""Reading the files and resources attached to a message."""

import os
from itertools import count
from pathlib import Path

import pytest

from tests.ui.fake_workbench import FakeWorkbench
from tui.core.attachments import MAX_BYTES
from tui.core.conversation.conversation import Attachment
from tui.core.errors import McptuiError
from tui.core.tools import CallFailure, ResourceContent, TextContent, ToolResult
from tui.ui.chat.composer.pastes import Reference, Written
from tui.ui.chat.turn_queue import read_attachments

KNOWN = Attachment("text", "text/plain", "known", 1, "k")


def written(*references: Reference) -> Written:
    return Written("", "", references)


async def test_attachments_are_read_in_the_order_of_their_references(tmp_path: Path):
    (tmp_path / "a.txt").write_text("file")
    bench = FakeWorkbench()
    bench.answers["x://r"] = ToolResult((ResourceContent("x://r", "text/plain", "resource"),))
    message = written(
        Reference.to_known(KNOWN), Reference.to_resource("weather", "x://r"), Reference.to_file("a.txt")
    )
    found = await read_attachments(message, bench, tmp_path, count(1))
    assert [one.data for one in found] == ["k", "resource", "file"]


@pytest.mark.parametrize("path", ["nowhere.txt", ".", "a\0b", "~nobody-here/x", "empty", "pipe", "large"])
async def test_an_unreadable_file_is_reported_and_the_message_returns_to_the_input(tmp_path: Path, path: str):
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", MAX_BYTES * 100)
    with pytest.raises(McptuiError, match=r"not attached: .*\. The message is back in the input\."):
        await read_attachments(written(Reference.to_file(path)), FakeWorkbench(), tmp_path, count(1))


@pytest.mark.parametrize(
    "result",
    [
        ToolResult((TextContent("no such resource"),), is_error=True),
        ToolResult(failure=CallFailure.TIMEOUT),
        ToolResult((ResourceContent("x://r", "", "x" * 10_000_000),)),
    ],
)
async def test_a_resource_that_fails_or_is_too_large_is_reported(tmp_path: Path, result: ToolResult):
    bench = FakeWorkbench()
    bench.answers["x://r"] = result
    with pytest.raises(McptuiError, match="weather:x://r: not attached"):
        message = written(Reference.to_resource("weather", "x://r"))
        await read_attachments(message, bench, tmp_path, count(1))


async def test_what_was_offered_as_a_skill_is_never_read_as_a_resource(tmp_path: Path):
    class Skills:
        def lists(self, server: str, uri: str) -> bool:
            return False  # not any longer

        async def attach(self, server: str, uri: str) -> Attachment:
            raise McptuiError("no skill")

    reference = Reference.to_resource("docs", "skill://forms/SKILL.md", is_skill=True)
    with pytest.raises(McptuiError, match="no skill"):
        await read_attachments(written(reference), FakeWorkbench(), tmp_path, count(1), Skills())
