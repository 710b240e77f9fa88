"""Replies with calls as text, split in any way."""

import json
import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.texts import FOLDER, INDEX, TOOLS, Read, read, text_of
from tui.core.conversation.conversation import CallRequest
from tui.model.dialects.text_tools import DIALECTS

HOW = (*DIALECTS, "native")
SAMPLES = {how: [name for name in INDEX if INDEX[name]["dialect"] == how] for how in HOW}
PIECE = 8
IN_WORD = re.compile(r"(?<=[^\W\d]{2})[^\W\d]")  # no digits: of a number or an escape, each counts


def said(found: Read) -> tuple[object, ...]:
    """Return the parts of a reply for comparison."""
    return found.text, found.thinking, tuple(found.calls)


def cuts(text: str, start: int = 0) -> list[int]:
    """Return where a text may be cut off: around each word, within it once, and at everything else."""
    return [at for at in range(start, len(text)) if not IN_WORD.match(text, at)]


def test_every_sample_reply_has_a_line_that_says_what_it_shows() -> None:
    files = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.txt")}
    assert files == set(INDEX)
    assert [name for name, entry in INDEX.items() if not entry.get("shows", "").endswith(".")] == []


@each_case("names", SAMPLES.values())
def test_each_sample_gives_the_expected_text_thinking_and_calls(names: list[str]) -> None:
    assert names
    for name in names:
        expect = INDEX[name]
        try:
            read(expect["dialect"], [text_of(name)], expect.get("finish", "stop")).assert_is(expect)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


@each_case("names", SAMPLES.values())
def test_a_reply_gives_the_same_result_however_it_is_split(names: list[str]) -> None:
    for name in names:
        text, dialect, finish = text_of(name), INDEX[name]["dialect"], INDEX[name].get("finish", "stop")
        whole = said(read(dialect, [text], finish))
        assert said(read(dialect, list(text), finish)) == whole, name
        for first in range(1, min(PIECE, len(text)) + 1):  # every position is an edge of one of these
            pieces = [text[:first], *(text[at : at + PIECE] for at in range(first, len(text), PIECE))]
            assert said(read(dialect, pieces, finish)) == whole, (name, pieces)


@each_case("names", SAMPLES.values())
def test_a_truncated_reply_gives_no_call_that_was_not_complete(names: list[str]) -> None:
    for name in names:
        text, dialect = text_of(name), INDEX[name]["dialect"]
        whole = read(dialect, [text], "stop")
        made = {call.arguments for call in whole.calls} | {"{}"}
        for at in cuts(text):
            for call in read(dialect, [text[:at]], "length").calls:
                assert call.truncated or call.problem or call.arguments in made, (name, text[:at])


LEAKS = [name for name in SAMPLES["native"] if INDEX[name].get("calls")]


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_leak_cut_off_after_its_tool_name_is_a_truncated_call_and_not_an_answer(finish: str) -> None:
    for name in LEAKS:
        text = text_of(name)
        tool = INDEX[name]["calls"][0][0].partition("__")[2]
        for at in cuts(text, text.index(tool) + len(tool) + 20):
            calls = read("native", [text[:at]], finish).calls
            assert calls and all(call.truncated for call in calls if not json_of(call)), (name, text[:at])


def json_of(call: CallRequest) -> bool:
    try:
        return isinstance(json.loads(call.arguments), dict)
    except ValueError:
        return False


@each_case(
    ("text", "finish", "name"),
    [
        ('<tool_call>\n{"na', "stop", "unnamed_tool"),
        ('<tool_call>\n{"name": "sear', "stop", "unnamed_tool"),
        ('<tool_call>\n{"name": "nothing", "arguments": {"a', "stop", ""),
        ("<tool_call>", "stop", ""),
        ("<tool_call>", "length", "unnamed_tool"),
        ("<tool_call>\n<function=sear", "length", "unnamed_tool"),
        ("<function=search", "stop", "web__search"),
        ("[TOOL_CALLS]search[ARGS]", "stop", "web__search"),
        ("The tag <tool_call> is", "length", ""),
        ("<|channel|>final", "length", ""),
        ('{"name": "search", "parameters": {"query": "x"}}; {"na', "stop", "unnamed_tool"),
        ('{"name": "search", "parameters": {"query": "x"}}', "length", "web__search"),
    ],
)
def test_a_leak_cut_off_almost_at_once_is_a_truncated_call_unless_it_can_be_an_answer(
    text: str, finish: str, name: str
) -> None:
    found = read("native", list(text), finish)
    assert [(call.name, call.truncated) for call in found.calls] == ([(name, True)] if name else [])
    assert found.text == ("" if name else text)


_XML = "<use_mcp_tool>\n<tool_name>write_file</tool_name>\n<arguments>\n"
_CHATMCP = "<<tool-start>>\n{'tool_name': 'write_file', 'tool_params': "


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("xml", _XML + '{"path": "a", "content": "see '),
        ("xml", _XML + '{"path": "a", "content": "see </arguments>'),
        ("xml", _XML + '{"path": "a", "content": "see </arguments>\n'),
        ("xml", _XML + "{'path': 'a', 'content': 'x }} "),
        ("xml", _XML + "{'path': 'a', 'content': 'x }</arguments>"),
        ("xml", _XML + "{'path': 'a', 'content': 'it's }\n</arguments>\n"),
        ("xml", _XML + "<path>a</path><content>see "),
        ("chatmcp", _CHATMCP + "{'path': 'a', 'content': 'x }} "),
        ("chatmcp", _CHATMCP.replace("'", '"') + '{"path": "a", "content": "say "x }}'),
        ("react", "Action: write_file\nAction Input: {'path': 'a', 'content': 'x }} "),
        ("react", "Action: write_file\nAction Input: {'path': 'a', 'content': 'x }"),
        ("json", "{'tool': 'write_file', 'arguments': {'path': 'a', 'content': 'x }}"),
        ("native", "<tool_call>{'name': 'write_file', 'arguments': {'path': 'a', 'content': 'x }}"),
        ("native", '[TOOL_CALLS]write_file[ARGS]{"path": "a", "content": "say "x }'),
    ],
)
def test_a_call_that_a_stop_text_ends_within_a_string_is_never_repaired(
    dialect: str, text: str, finish: str
) -> None:
    (call,) = read(dialect, [text], finish).calls
    assert call.name == "fs__write_file" and (call.truncated or call.problem)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_arguments_never_contain_a_stop_text(dialect: str) -> None:
    tool = next(tool for tool in TOOLS if tool.tool == "write_file")
    stops = DIALECTS[dialect].stop
    content = "".join(f"a\n{stop}\n{stop.strip()}\n" for stop in stops)
    call = DIALECTS[dialect].written(tool, json.dumps({"path": "a", "content": content}))
    assert all(call.count(stop) <= 1 and (stop not in call or call.endswith(stop)) for stop in stops)
    ended = call[: min((call.find(stop) for stop in stops if stop in call), default=len(call))]
    (made,) = read(dialect, [ended]).calls
    assert json.loads(made.arguments)["content"] == content


MARKUP = """
<use_mcp_tool> </use_mcp_tool> <server_name> </server_name> <tool_name> </tool_name> <arguments>
</arguments> <thinking> </thinking> <think> </think> <final_answer> <answer> </answer> </final_answer>
<![CDATA[ ]]> <tool_result <<tool-start>> <<tool-end>> Thought: Action: Observation: ** None <tool_call>
</tool_call> <function=now> </function> <parameter=query> </parameter> [TOOL_CALLS] [ARGS]
<|python_tag|> <｜DSML｜ </｜DSML｜ </invoke> <|channel|>analysis<|message|> <|end|> <|start|>assistant
<|call|> <arg_key> </arg_key> <arg_value> </arg_value> analysis assistantfinal commentary
<|python_start|>[ <|tool_call_start|> <|tool_call>call: call: clock__now print( <tools> functools[ >>>
tool_code <|"|> <escape> : web__search(query='a') </tools> <｜tool▁call▁begin｜> <｜tool▁sep｜>
<|tool_call_begin|> <|tool_call_argument_begin|> now search wx get_forecast clock web nothing ( ) [ ]
functions.now:0 { } {} " ' , ``` ```json ~~~ ` a é 。 < </ <u &quot;
""".split()
FRAGMENTS = st.sampled_from(
    [
        *MARKUP,
        *("Action Input:", "Final Answer:", '<invoke name="search">', " to=functions.now "),
        *("✿FUNCTION✿: ", "✿ARGS✿: ", '{"name": "clock__now", "arguments": {}}', "I look: "),
        *('{"tool": "now", "arguments": {}}', '{"name": "now", "arguments": {}}'),
        *('{"query": "x"}', '{"tool_name": "now"}', "\\", "\n", "\r\n", " ", "\t", "\x00"),
        *("\u2028", "plain words"),
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=4), max_size=24).map("".join)


@given(
    st.sampled_from(HOW),
    TEXTS,
    st.lists(st.integers(0, 400), max_size=6),
    st.sampled_from(["stop", "length"]),
)
def test_any_text_gives_the_same_result_in_any_pieces(
    dialect: str, text: str, cuts: list[int], finish: str
) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    whole = read(dialect, [text], finish)
    pieces = [text[start:end] for start, end in pairwise(edges)]
    assert said(read(dialect, pieces, finish)) == said(whole)
    assert said(read(dialect, list(text), finish)) == said(whole)
    for call in whole.calls:
        assert call.truncated or call.problem or isinstance(json.loads(call.arguments), dict)


@given(st.sampled_from(HOW), st.text(alphabet="ab1 \n.,!?éß。*_#>-|~`()", min_size=1, max_size=80))
def test_text_without_markers_is_unchanged(dialect: str, text: str) -> None:
    assert read(dialect, list(text)).text == (text if text.strip() else "")


@given(st.sampled_from(HOW), TEXTS)
def test_text_in_a_fence_remains_text(dialect: str, text: str) -> None:
    body = text.replace("`", "").replace("~", "").replace("</think>", "").replace("</thinking>", "")
    fenced = f"So:\n```python\n{body}\n```\nThat is all."
    found = read(dialect, [fenced])
    assert (found.text, found.calls) == (fenced, [])


@given(st.sampled_from(HOW), TEXTS)
def test_text_in_an_indented_block_remains_text(dialect: str, text: str) -> None:
    body = text.replace("`", "").replace("~", "").replace("\n", "\n    ").rstrip()
    shown = f"So:\n\n    x\n    {body}\n\nThat is all."
    found = read(dialect, [shown])
    assert (found.text, found.calls) == (shown, [])


@pytest.mark.parametrize("mark", ["<|tool_call>call:now", "<|python_start|>[now", "```tool_code\nnow"])
@pytest.mark.parametrize("inside", ["x y", "x y" * 100, "=", "[{", ":" * 200, "a:(b:[c", "{}" * 99, "'" * 9])
def test_any_text_in_the_brackets_of_a_call_is_read(mark: str, inside: str) -> None:
    for text in (f"{mark}({inside})", f"{mark}{{{inside}}}", f"{mark}({inside}"):
        assert said(read("native", [text])) == said(read("native", list(text)))


MARKS = (
    *("<use_mcp_tool>", "<tool_call>{", "<function=now>", "a<thinking>", '{"tool": '),
    *("<<tool-start>>{", "Action: x\nAction Input: {\n"),
    *("<use_mcp_tool><arguments>{}</arguments>", '<<tool-start>>{"tool": "x"}'),
    *("```tool_code\nnow(", "call:now{a:", ">>>now\n{", "✿FUNCTION✿: now\n", '{"name": "'),
    *("functools[{", "now(", '```json\n{"name": "clock__now", ', "<|tool_call>call:now{a:["),
    *("<|python_start|>[now(a=", "clock__now(", "\nAction: now(", "```\n{", "<｜DSML｜"),
    *("<final_answer>", "<tool_result", "`<tool_call>", "</answer>"),
)


def test_a_reply_with_hundreds_of_markers_is_text_or_calls() -> None:
    for dialect in HOW:
        for mark in MARKS:
            text = mark * 300
            found = read(dialect, [text])
            shown = "" if found.calls else text
            assert found.text in (shown, shown.removeprefix("<final_answer>")), (dialect, mark)


@pytest.mark.parametrize(("head", "mark"), [("", "\u3000"), ("<think>a", " ")])
def test_reading_time_is_proportional_to_white_space(head: str, mark: str) -> None:
    def seconds(size: int) -> float:
        pieces = [head, *[mark * 8] * (size // 8)]
        times: list[float] = []
        for _ in range(2):
            began = time.process_time()
            read("xml", pieces)
            times.append(time.process_time() - began)
        return min(times)

    assert seconds(80_000) < 8 * seconds(20_000)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_long_argument_in_small_pieces_is_read_completely(dialect: str) -> None:
    content = "x <b> } \\\\ \n" * 5_000
    tool = next(tool for tool in TOOLS if tool.tool == "write_file")
    call = DIALECTS[dialect].written(tool, json.dumps({"path": "a", "content": content}))
    found = read(dialect, [call[at : at + 7] for at in range(0, len(call), 7)])
    assert [json.loads(made.arguments)["content"] for made in found.calls] == [content]


@pytest.mark.parametrize("fence", ["```{}```", "```json {}```", "``` {} ```", "~~~{}~~~"])
def test_a_fence_within_one_line_around_an_input_is_no_call_that_was_cut_off(fence: str) -> None:
    arguments = '{"path": "a", "content": "x"}'
    text = f"Action: write_file\nAction Input: {fence.replace('{}', arguments)}"
    (call,) = read("react", [text]).calls
    assert json.loads(call.arguments) == json.loads(arguments) and not call.truncated and not call.problem
    assert read("react", list(text)).calls == [call]
    assert read("react", [text.partition(" x")[0][:60]], "length").calls[0].truncated
