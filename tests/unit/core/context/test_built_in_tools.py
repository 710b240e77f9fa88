"""`read_result` reads omitted parts of results, within bounds, and belongs to no server."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.core.stand_ins import FunctionToolbox, text
from tui.core.context import built_in_tools
from tui.core.context.built_in_tools import BuiltInToolbox, ResultStore, built_in
from tui.core.schemas.tool_names import NameTable
from tui.core.tools import TextContent, Tool, ToolResult

LINES = "\n".join(f"line {number} of the log" for number in range(10_000))


def toolbox(*kept: str, page: int = 1000) -> BuiltInToolbox:
    result_store = ResultStore()
    for whole in kept:
        result_store.keep(whole)
    return BuiltInToolbox(FunctionToolbox(), result_store, lambda text: page)


def silent(progress: float, total: float | None, message: str) -> None:
    pass


async def read(box: BuiltInToolbox, **arguments: object) -> ToolResult:
    own = box.tools()[-1]
    assert await box.check(own, arguments) == ""
    return await box.call(own, arguments, seconds=1, progress=silent)


def said(result: ToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_read_result_is_offered_last_and_only_if_a_result_is_stored() -> None:
    assert [tool.name for tool in toolbox().tools()] == ["echo"]
    assert [(tool.server, tool.name) for tool in toolbox("x").tools()][1:] == [("mcptui", "read_result")]


async def test_pages_follow_one_another_without_gaps() -> None:
    box, pages, offset = toolbox(LINES), [], 0
    while True:
        head, *body, last = said(await read(box, name="result-1", offset=offset)).split("\n")
        pages.append("\n".join(body))
        assert head.startswith(f"[result-1, characters {offset:,} to ") and len("\n".join(body)) <= 1000
        if last == "[end]":
            break
        offset = int(last.removeprefix("[more: offset ").removesuffix("]"))
    assert "".join(pages) == LINES


async def test_a_lower_limit_makes_pages_smaller() -> None:
    assert "\nline \n" in said(await read(toolbox(LINES), name="result-1", limit=5))


async def test_grep_finds_lines_by_plain_text_regardless_of_case() -> None:
    seen = said(await read(toolbox(LINES), name="result-1", grep="LINE 77 of"))
    offset = LINES.index("line 77 of")
    assert seen.split("\n")[1:] == [f"{offset}: line 77 of the log", "[end]"]


async def test_grep_resumes_where_it_stopped() -> None:
    box, found, offset = toolbox(LINES), [], 0
    while True:
        *lines, last = said(await read(box, name="result-1", grep="99 of", offset=offset)).split("\n")[1:]
        found += [line.partition(": ")[2] for line in lines]
        if last == "[end]":
            break
        offset = int(last.removeprefix("[more: grep again with offset ").removesuffix("]"))
    assert found == [line for line in LINES.split("\n") if "99 of" in line]


async def test_grep_shows_the_context_of_a_match_in_a_long_line_and_reports_no_match() -> None:
    whole = "a" * 50_000 + "needle" + "b" * 50_000
    seen = said(await read(toolbox(whole), name="result-1", grep="needle"))
    assert "aneedleb" in seen and len(seen) < 500
    assert "nothing at or after offset 0" in said(await read(toolbox(LINES), name="result-1", grep="absent"))


@pytest.mark.parametrize("needle", ["(a+)+$", "a" * 5000 + "b", "b" + "a" * 90, ".*" * 500, "İ"])
async def test_no_search_text_takes_long(needle: str) -> None:
    started = time.process_time()
    await read(toolbox("a" * 4_000_000), name="result-1", grep=needle)
    assert time.process_time() - started < 2


async def test_a_dropped_result_is_reported_as_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_in_tools, "MAX_RESULTS", 1)
    box = BuiltInToolbox(FunctionToolbox(), result_store := ResultStore())
    result_store.keep("a")
    result_store.keep("b")
    result = await read(box, name="result-1")
    assert result.is_error and "no longer stored" in said(result) and "result-2" in said(result)


async def test_an_unknown_name_and_an_offset_past_the_end_are_errors() -> None:
    result = await read(toolbox("x"), name="log\x1b[2J")
    assert result.is_error and "Stored results: result-1." in said(result) and "\x1b" not in said(result)
    result = await read(toolbox("abc"), name="result-1", offset=3)
    assert result.is_error and "has 3 characters" in said(result)


async def test_a_server_named_mcptui_keeps_its_own_read_result() -> None:
    inner = FunctionToolbox(read_result=lambda arguments: _done("theirs"))
    theirs = Tool("mcptui", "read_result", read_only=True, digest="read_result")
    inner.offered = [theirs]
    result_store = ResultStore({"result-1": "ours"})
    box = BuiltInToolbox(inner, result_store)
    tools = box.tools()
    assert [built_in(tool) for tool in tools] == ["", "read_result"]
    assert len(NameTable(tools).items()) == 2 and tools[0].server != tools[1].server
    assert said(await box.call(theirs, {}, seconds=1, progress=silent)) == "theirs"
    assert "ours" in said(await read(box, name="result-1"))


async def _done(value: str) -> ToolResult:
    return text(value)


@given(
    st.text(st.characters(codec=None), min_size=1, max_size=300),
    st.integers(0, 300),
    st.integers(1, 10**12),
    st.text(st.characters(codec=None), max_size=4),
)
def test_every_stored_result_can_be_read_in_bounded_pages(
    whole: str, offset: int, limit: int, grep: str
) -> None:
    box = toolbox(whole, page=300)
    result = asyncio.run(read(box, name="result-1", offset=offset, limit=limit, grep=grep))
    assert len(said(result).encode("utf-8", "replace")) <= 1200


def test_a_stored_result_is_found_by_its_name_and_its_text() -> None:
    result_store = ResultStore()
    assert result_store.keep("all of it") == "result-1" == result_store.name_of("all of it")
    assert result_store.find("result-1") == "all of it"
    assert result_store.find("result-2") is None and result_store.name_of("other") == ""


@pytest.mark.parametrize(("limit", "most"), [("MAX_BYTES", 10_000), ("MAX_RESULTS", 2)])
def test_beyond_the_limits_the_oldest_results_are_dropped(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(built_in_tools, limit, most)
    result_store = ResultStore()
    for letter in "abc":
        result_store.keep(letter * 4000)
    assert result_store.names() == ("result-2", "result-3")
    assert [result_store.was_here(f"result-{number}") for number in (1, 2, 9)] == [True, False, False]


def test_the_newest_result_is_kept_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_in_tools, "MAX_BYTES", 100)
    result_store = ResultStore()
    result_store.keep("a" * 50)
    assert result_store.find(result_store.keep("b" * 1000)) == "b" * 1000 and len(result_store) == 1


def test_a_reopened_conversation_restores_its_results_and_never_reuses_a_name() -> None:
    result_store = ResultStore({"result-2": "two", "result-7": "seven", "../etc/passwd": "no"})
    assert result_store.find("result-7") == "seven" and result_store.names() == ("result-2", "result-7")
    assert result_store.keep("new") == "result-8" and result_store.was_here("result-5")
