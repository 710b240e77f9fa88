"""Output to stdout or into a file."""

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tui.commands.call.output import (
    OutputFile,
    result_text,
    server_log,
    write_contents,
    write_listing,
    write_prompt,
    write_result,
)
from tui.core.errors import UsageError
from tui.core.permission.rules import Rules
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, ServerStatus
from tui.core.tools import BinaryContent, LinkContent, TextContent, Tool, ToolResult
from tui.core.traffic import Captured, Direction, Kind
from tui.core.workbench import PromptMessage, PromptResult, ServerIdentity

DATA = bytes(range(256))


def image(data: bytes = DATA) -> BinaryContent:
    return BinaryContent("image", "image/png", len(data), base64.urlsafe_b64encode(data).decode())


@pytest.mark.parametrize(
    ("content", "data"),
    [((image(),), DATA), ((TextContent("a\ud800b"), TextContent("c")), "a\ufffdb\nc".encode())],
)
def test_any_bytes_reach_a_file_or_its_text_if_there_are_none(tmp_path: Path, content: Any, data: bytes):
    OutputFile(str(tmp_path / "x")).write(ToolResult(content))
    assert (tmp_path / "x").read_bytes() == data


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


def seen(raw: bytes, kind: Kind | None = None, source: str = "s") -> Captured:
    return Captured(source, Direction.NONE if kind else Direction.IN, 0, 0, raw, kind)


def test_lines_and_log_messages_are_printed_without_secrets_and_escape_sequences(capsys):
    log = server_log("s", Redactor({"token": "s3cr3t-value"}))
    message = {"method": "notifications/message", "params": {"level": "info", "data": {"a": "s3cr3t-value"}}}
    log(seen(b"\x1b[31mready s3cr3t-value", Kind.STDERR))
    log(seen(json.dumps(message).encode()))
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("s: ␛[31mready") and told[1].startswith("s info: ")
    assert "s3cr3t-value" not in "".join(told)


def test_other_servers_and_broken_messages_are_not_printed(capsys):
    log = server_log("s", Redactor())
    log(seen(b"hello", Kind.STDERR, source="other"))
    log(seen(b'{"method": "notifications/message"'))
    log(seen(b'["notifications/message"]'))
    log(seen(b'{"method": "notifications/message", "params": []}'))
    assert capsys.readouterr().err == ""


async def listing(offering: Any, status: ServerStatus, kinds: list[str], as_json: bool = False) -> bool:
    return await write_listing(offering, status, kinds, as_json=as_json, rules=Rules())


class Offering:
    """Offers tools, in entries of any shape, and fails to list prompts."""

    def __init__(self, tools: list[Any]) -> None:
        self._tools = tools

    async def identity(self, server: str) -> ServerIdentity:
        return ServerIdentity(capabilities={"tools": {}, "prompts": {}})

    def tools(self, server: str) -> list[Tool]:
        return [Tool("s", "far", withheld="it needs a task"), Tool("s", "quiet")]

    async def entries(self, server: str, kind: str) -> tuple[list[Any], str]:
        return (self._tools, "") if kind == "tools" else ([], "s does not list its prompts.")


def status(**more: Any) -> ServerStatus:
    return ServerStatus("s", ServerSpec("s"), **more)


async def test_malformed_entries_are_shown_cleaned(capsys):
    odd = [5, {}, {"name": 7}, {"name": "a\x1b[2J", "inputSchema": []}, {"name": "b", "inputSchema": {}}]
    assert await listing(Offering(odd), status(), ["tools"])
    out = capsys.readouterr().out
    assert "(invalid, not an object: 5)" in out and "a␛[2J" in out and "\x1b" not in out


async def test_an_entry_without_a_name_or_uri_has_a_line_that_says_so(capsys):
    class Nameless(Offering):
        async def identity(self, server: str) -> ServerIdentity:
            return ServerIdentity(capabilities={"tools": {}, "resources": {}, "prompts": {}})

        async def entries(self, server: str, kind: str) -> tuple[list[Any], str]:
            return [{"name": 5}, {"uri": 3, "name": "x", "description": "y"}], ""

    await listing(Nameless([]), status(), ["prompts"])
    assert capsys.readouterr().out == "(no name)\nx\n    y\n"
    await listing(Nameless([]), status(), ["tools"])
    assert capsys.readouterr().out.startswith("(no name)\n")
    await listing(Nameless([]), status(), ["resources"])
    assert "  (no URI)\n  (no URI)  x\n      y\n" in capsys.readouterr().out


async def test_an_omitted_tool_is_listed_with_the_reason(capsys):
    left_out = status(quarantined=(("bad", "its schema is a list"),))
    await listing(Offering([{"name": "bad"}]), left_out, ["tools"])
    told = capsys.readouterr()
    assert told.out == "bad\n    omitted: its schema is a list\n"
    assert told.err == "· 1 tool omitted:\n  bad: its schema is a list\n"


async def test_omitted_tools_are_counted_even_with_equal_names(capsys):
    names = [f"number {number}" for number in range(5)]
    left_out = status(quarantined=tuple((name, "has no name") for name in names))
    await listing(Offering([{}] * 5), left_out, ["tools"], as_json=True)
    assert capsys.readouterr().err == (
        "· 5 tools omitted:\n  number 0: has no name\n  number 1: has no name\n"
        "  number 2: has no name\n  and 2 more\n"
    )


async def test_a_failed_listing_is_reported_and_an_unsupported_one_is_empty(capsys):
    kinds = ["tools", "resources", "prompts"]
    assert not await listing(Offering([]), status(), kinds, as_json=True)
    told = capsys.readouterr()
    assert '"resourceTemplates": []' in told.out and "does not list its prompts" in told.err


async def test_a_tool_not_offered_to_the_model_is_listed_with_the_reason(capsys):
    quiet = ServerStatus("s", ServerSpec("s", off=("quiet",)))
    await listing(Offering([{"name": "far"}, {"name": "quiet"}]), quiet, ["tools"])
    out = capsys.readouterr().out
    assert out.count("not offered to the model: ") == 2 and "it needs a task" in out and "disabled" in out


async def test_a_tool_that_a_rule_denies_is_marked_with_the_rule(capsys):
    offering: Any = Offering([{"name": "far"}, {"name": "quiet"}])
    await write_listing(offering, status(), ["tools"], as_json=False, rules=Rules.parsed(["deny s/q*"]))
    assert capsys.readouterr().out.count("not offered to the model: deny s/q*") == 1
