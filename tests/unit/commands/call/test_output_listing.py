"""Listings, whatever a server sends."""

from typing import Any

from tui.commands.call.output import write_listing
from tui.core.permission.rules import Rules
from tui.core.servers import ServerSpec, ServerStatus
from tui.core.tools import Tool
from tui.core.workbench import ServerIdentity


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
    assert await write_listing(Offering(odd), status(), ["tools"], as_json=False)  # type: ignore[arg-type]
    out = capsys.readouterr().out
    assert "(invalid, not an object: 5)" in out and "a␛[2J" in out and "\x1b" not in out


async def test_an_entry_without_a_name_or_uri_has_a_line_that_says_so(capsys):
    class Nameless(Offering):
        async def identity(self, server: str) -> ServerIdentity:
            return ServerIdentity(capabilities={"tools": {}, "resources": {}, "prompts": {}})

        async def entries(self, server: str, kind: str) -> tuple[list[Any], str]:
            return [{"name": 5}, {"uri": 3, "name": "x", "description": "y"}], ""

    await write_listing(Nameless([]), status(), ["prompts"], as_json=False)  # type: ignore[arg-type]
    assert capsys.readouterr().out == "(no name)\nx\n    y\n"
    await write_listing(Nameless([]), status(), ["tools"], as_json=False)  # type: ignore[arg-type]
    assert capsys.readouterr().out.startswith("(no name)\n")
    await write_listing(Nameless([]), status(), ["resources"], as_json=False)  # type: ignore[arg-type]
    assert "  (no URI)\n  (no URI)  x\n      y\n" in capsys.readouterr().out


async def test_an_omitted_tool_is_listed_with_the_reason(capsys):
    left_out = status(quarantined=(("bad", "its schema is a list"),))
    await write_listing(Offering([{"name": "bad"}]), left_out, ["tools"], as_json=False)  # type: ignore[arg-type]
    told = capsys.readouterr()
    assert told.out == "bad\n    omitted: its schema is a list\n"
    assert told.err == "· 1 tool omitted:\n  bad: its schema is a list\n"


async def test_omitted_tools_are_counted_even_with_equal_names(capsys):
    names = [f"number {number}" for number in range(5)]
    left_out = status(quarantined=tuple((name, "has no name") for name in names))
    await write_listing(Offering([{}] * 5), left_out, ["tools"], as_json=True)  # type: ignore[arg-type]
    assert capsys.readouterr().err == (
        "· 5 tools omitted:\n  number 0: has no name\n  number 1: has no name\n"
        "  number 2: has no name\n  and 2 more\n"
    )


async def test_a_failed_listing_is_reported_and_an_unsupported_one_is_empty(capsys):
    kinds = ["tools", "resources", "prompts"]
    assert not await write_listing(Offering([]), status(), kinds, as_json=True)  # type: ignore[arg-type]
    told = capsys.readouterr()
    assert '"resourceTemplates": []' in told.out and "does not list its prompts" in told.err


async def test_a_tool_not_offered_to_the_model_is_listed_with_the_reason(capsys):
    offering: Any = Offering([{"name": "far"}, {"name": "quiet"}])
    quiet = ServerStatus("s", ServerSpec("s", off=("quiet",)))
    await write_listing(offering, quiet, ["tools"], as_json=False)
    out = capsys.readouterr().out
    assert out.count("not offered to the model: ") == 2 and "it needs a task" in out and "disabled" in out


async def test_a_tool_that_a_rule_denies_is_marked_with_the_rule(capsys):
    offering: Any = Offering([{"name": "far"}, {"name": "quiet"}])
    await write_listing(offering, status(), ["tools"], as_json=False, rules=Rules.parsed(["deny s/q*"]))
    assert capsys.readouterr().out.count("not offered to the model: deny s/q*") == 1
