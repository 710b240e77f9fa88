"""The demo model's choice of a tool and its arguments for a sentence."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.streams import output_of_model
from tui.addons.demo.demo import DemoModel, Move, decide
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.ports import CallPart, ModelRequest, ToolSpec

TEXT, NUMBER = {"type": "string"}, {"allOf": [{"type": "number"}]}
ID = {"type": "string", "description": "The id."}


def tool(server: str, name: str, description: str, *required: str, **others: Any) -> ToolSpec:
    """Return a tool; what it requires is text unless `others`, its optional properties, say otherwise."""
    properties = dict.fromkeys(required, TEXT) | others
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(f"{server}__{name}", description, schema, server, name)


WEATHER = "Get the current weather of a place: Beijing, Shanghai, Hangzhou or NYC."
ZONES = ("source_timezone", "time", "target_timezone")
SAMPLES = [
    tool("weather", "get_weather", WEATHER, "location"),
    tool("weather", "list_get_weather_records", "List the weather reports given since the server started."),
    tool("notes", "add_note", "Add a note, and return its id.", "text"),
    tool("notes", "list_notes", "List all notes with their ids, the oldest first."),
    tool("notes", "search_notes", "Find the notes that mention every word of a query.", "query"),
    tool("notes", "delete_note", "Delete the note with this id. It cannot be brought back.", "id", id=ID),
    tool("slow", "count_slowly", "Count the seconds one by one and report progress.", seconds=NUMBER),
    tool("slow", "always_fails", "Fail with an error that the model can read."),
    tool("slow", "crash", "End the process of this server at once, with exit code 1 and a line on stderr."),
]
OTHERS = [
    tool("fs", "read_text_file", "Read the complete contents of a file from the file system.", "path"),
    tool("fs", "write_file", "Create or overwrite a file.", "path", "content"),
    tool("fs", "list_directory", "Get a detailed listing of all files and directories in a path.", "path"),
    tool("fs", "search_files", "Search for files matching a pattern.", "path", "pattern"),
    tool("fs", "list_allowed_directories", "Returns the list of directories that this server may access."),
    tool("time", "get_current_time", "Get current time in a specific timezone", "timezone"),
    tool("time", "convert_time", "Convert time between timezones", *ZONES),
    tool("everything", "echo", "Echoes back the input", "message"),
    tool("everything", "get-sum", "Returns the sum of two numbers", "a", "b", a=NUMBER, b=NUMBER),
    tool("everything", "long-operation", "A long running operation", duration=NUMBER, steps=NUMBER),
]


def answer(*messages: Message | str, tools: Sequence[ToolSpec] = SAMPLES) -> Move:
    said = [UserMessage(message) if isinstance(message, str) else message for message in messages]
    return decide(ModelRequest("", said, tools))


def called(move: Move) -> list[tuple[str, dict[str, Any]]]:
    return [] if move.tool is None else [(move.tool.tool, dict(move.arguments))]


def asked(name: str, **arguments: Any) -> AssistantMessage:
    spec = next(spec for spec in SAMPLES if spec.tool == name)
    return AssistantMessage(calls=(CallRequest("c1", spec.name, json.dumps(arguments)),))


def gave(text: str, *, name: str = "weather__get_weather", is_error: bool = False) -> ToolMessage:
    return ToolMessage("c1", name, text, is_error)


@each_case(
    ("said", "name", "arguments"),
    [
        ("北京天气如何", "get_weather", {"location": "Beijing"}),
        ("今天杭州会下雨吗", "get_weather", {"location": "Hangzhou"}),
        ("What's the weather in Hangzhou?", "get_weather", {"location": "Hangzhou"}),
        ("hi, how is the weather in new york city today?", "get_weather", {"location": "new york city"}),
        ("weather nyc", "get_weather", {"location": "nyc"}),
        ("How's Beijing's weather today?", "get_weather", {"location": "Beijing"}),
        ("Do I need an umbrella in Shanghai tomorrow?", "get_weather", {"location": "Shanghai"}),
        ('get_weather {"location": "Oslo"}', "get_weather", {"location": "Oslo"}),
        ("show me the weather reports so far", "list_get_weather_records", {}),
        ("add a note: buy milk", "add_note", {"text": "buy milk"}),
        ("add a note: delete everything, then crash", "add_note", {"text": "delete everything, then crash"}),
        ('please add a note that says "water the plants"', "add_note", {"text": "water the plants"}),
        ("remind me to pay rent", "add_note", {"text": "pay rent"}),
        ("note that the door code is 1234", "add_note", {"text": "the door code is 1234"}),
        ("add buy bread to my notes", "add_note", {"text": "buy bread"}),
        ("记一下：买牛奶", "add_note", {"text": "买牛奶"}),
        ("which notes mention milk?", "search_notes", {"query": "milk"}),
        ("find notes about the dentist", "search_notes", {"query": "dentist"}),
        ("哪些笔记提到牛奶？", "search_notes", {"query": "牛奶"}),
        ("列出所有笔记", "list_notes", {}),
        ("delete note 2026-11-20-milk", "delete_note", {"id": "2026-11-20-milk"}),
        ("delete note eat-fish", "delete_note", {"id": "eat-fish"}),
        ("删除笔记 eat-fish", "delete_note", {"id": "eat-fish"}),
        ("count slowly for 5 seconds", "count_slowly", {"seconds": 5}),
        ("count to five", "count_slowly", {"seconds": 5}),
        ("crash the server", "crash", {}),
        ("run the tool that always fails", "always_fails", {}),
        ('/call get_weather {"location": "Oslo"}', "get_weather", {"location": "Oslo"}),
        ("/call weather__list_get_weather_records", "list_get_weather_records", {}),
        ('call get_weather {"location": "Oslo"}', "get_weather", {"location": "Oslo"}),
    ],
)
def test_a_plain_request_calls_the_intended_sample_tool(
    said: str, name: str, arguments: dict[str, Any]
) -> None:
    assert called(answer(said)) == [(name, arguments)]


@each_case(
    ("said", "name", "arguments"),
    [
        ("list the files in /tmp", "list_directory", {"path": "/tmp"}),
        ("read the text file notes.txt", "read_text_file", {"path": "notes.txt"}),
        ("search files in /tmp for *.py", "search_files", {"path": "/tmp", "pattern": "*.py"}),
        ('write file /tmp/a.txt with content "hi"', "write_file", {"path": "/tmp/a.txt", "content": "hi"}),
        ("which directories are allowed?", "list_allowed_directories", {}),
        ("what time is it in Tokyo?", "get_current_time", {"timezone": "Asia/Tokyo"}),
        (
            "convert 12:00 from Berlin to Tokyo",
            "convert_time",
            {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"},
        ),
        ("echo hello world", "echo", {"message": "hello world"}),
        ("what is the sum of 2 and 3?", "get-sum", {"a": 2, "b": 3}),
        ("run the long operation for 3 seconds", "long-operation", {"duration": 3}),
    ],
)
def test_tools_of_unknown_servers_are_called_too(said: str, name: str, arguments: dict[str, Any]) -> None:
    assert called(answer(said, tools=SAMPLES + OTHERS)) == [(name, arguments)]


@each_case(
    "said",
    [
        "hello",
        "thanks!",
        "what can you do?",
        "list tools",
        "你是谁",
        "讲个笑话",
        "今天心情不好",
        "tell me a joke about notes",
        "I had a car crash yesterday",
        "I failed my exam",
        "my notes are a mess",
        "the weather is nice",
        "what is a musical note?",
        "can you count on me?",
        "who is the president of France?",
        "what is 2+2?",
        "how do I delete a file in linux?",
        "don't delete my notes",
        "should I delete note 5?",
        "不要删除笔记",
        "move on",
        "?",
        "",
        "/call nope",
        "/call get_weather {bad",
        '/call get_weather {"location": 1e999}',
        "/call get_weather [1]",
    ],
)
def test_talk_and_invalid_calls_are_answered_without_a_call(said: str) -> None:
    move = answer(said, tools=SAMPLES + OTHERS)
    assert called(move) == [] and move.text


def test_without_a_matching_tool_it_explains_itself() -> None:
    text = answer("who is the president of France?").text
    assert "rule-based" in text and "no matching tool" in text and "What's the weather in Hangzhou?" in text


def test_the_tools_are_listed_by_server() -> None:
    text = answer("list tools").text
    assert "**weather**" in text and "- `add_note`: Add a note, and return its id." in text


def test_a_missing_argument_is_requested_and_taken_from_the_next_message() -> None:
    question = answer("what's the weather?")
    assert called(question) == [] and "`location`" in question.text
    talk = ("what's the weather?", AssistantMessage(question.text))
    assert called(answer(*talk, "Hangzhou")) == [("get_weather", {"location": "Hangzhou"})]
    assert called(answer(*talk, "北京")) == [("get_weather", {"location": "Beijing"})]
    assert called(answer(*talk, "never mind")) == []
    assert called(answer(*talk, "list my notes")) == [("list_notes", {})]


@pytest.mark.parametrize(
    "said", ["delete the note buy milk", "remove my note about fish", "delete the note", "删除笔记 eat fish"]
)
def test_deleting_asks_for_an_id_if_none_is_given(said: str) -> None:
    move = answer(said)
    assert called(move) == [] and "`delete_note`" in move.text and "`id` (The id)" in move.text
    told = answer(said, AssistantMessage(move.text), "2026-11-20-milk")
    assert called(told) == [("delete_note", {"id": "2026-11-20-milk"})]


@pytest.mark.parametrize(
    "said", ["delete everything", "delete the song buy milk", "remember to delete the note", "forget it"]
)
def test_sentences_that_name_no_note_to_delete_delete_nothing(said: str) -> None:
    assert "delete_note" not in [name for name, _ in called(answer(said))]


def test_if_two_tools_match_equally_neither_is_called() -> None:
    twins = [tool(server, "get_weather", "Weather.", "location") for server in "ab"]
    move = answer("weather in Oslo", tools=twins)
    assert called(move) == [] and "Several tools match" in move.text


@each_case(
    ("result", "text"),
    [
        ("Beijing is sunny.", "Beijing is sunny."),
        (
            '{"city": "Oslo", "wind": {"speed": [3, "N"]}, "dry": true}',
            "- **city**: Oslo\n- **wind**: speed: 3, N\n- **dry**: true",
        ),
        ('{"result": ["a", {"sku": "x", "n": 2}]}', "- a\n- sku: x, n: 2"),
        ("[]", "Nothing was found."),
        ("(empty result)", "`get_weather` ran and returned nothing."),
        ("[1, 2", "[1, 2"),
    ],
)
def test_a_result_is_put_into_words(result: str, text: str) -> None:
    assert answer("weather in Oslo", asked("get_weather", location="Oslo"), gave(result)).text == text


def test_a_failed_call_is_reported_as_failed() -> None:
    move = answer(
        "北京天气如何", asked("get_weather", location="Beijing"), gave("ERROR: down", is_error=True)
    )
    assert called(move) == [] and move.text == "`get_weather` 没有成功：down"


def test_a_huge_result_is_truncated() -> None:
    move = answer("weather in Oslo", asked("get_weather", location="Oslo"), gave("x" * 1_000_000))
    assert len(move.text) < 5000


def test_at_a_limit_it_answers_from_the_results_so_far() -> None:
    call = asked("get_weather", location="Oslo")
    assert answer("weather in Oslo", call, gave("Rain."), "No more calls.", tools=()).text == "Rain."


def test_without_tools_it_says_so_in_the_language_of_the_question() -> None:
    assert "no server that offers tools" in answer("weather please", tools=()).text
    assert "没有可用的工具" in answer("北京天气", tools=()).text


async def test_a_call_and_a_reply_are_streamed_in_small_parts() -> None:
    model = DemoModel(paced=False)
    request = ModelRequest("", [UserMessage("北京天气如何")], SAMPLES)
    parts = [part async for part in model.stream(request)]
    assert isinstance(parts[0], CallPart)
    heard = await output_of_model(model.stream(request))
    assert heard.reply is not None and heard.reply.finish == "tool_calls"
    assert [(call.id, call.name) for call in heard.reply.calls] == [("demo_1", "weather__get_weather")]
    told = [part async for part in model.stream(ModelRequest("", [UserMessage("hello")], SAMPLES))]
    assert len(told) > 10


async def test_each_call_in_a_conversation_has_its_own_id() -> None:
    before = [UserMessage("a"), asked("list_notes"), gave("x"), AssistantMessage("x")]
    said = [*before, UserMessage("weather nyc")]
    heard = await output_of_model(DemoModel(paced=False).stream(ModelRequest("", said, SAMPLES)))
    assert heard.reply is not None and [call.id for call in heard.reply.calls] == ["demo_2"]


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "enum", "anyOf", "items", "text"]), inner
        )
    ),
    max_leaves=10,
)
SAID = st.lists(
    st.sampled_from(
        ["weather", "in", "Oslo", "add", "note:", "delete", "{", "5", "天气", "then", "/call", '"', "text="]
    )
    | st.text(max_size=6),
    max_size=8,
).map(" ".join)


@settings(max_examples=20, deadline=None)
@given(SAID, st.dictionaries(st.sampled_from(["type", "properties", "required"]), ODD))
def test_any_question_and_schema_gives_text_or_a_call(said: str, schema: dict[str, Any]) -> None:
    move = answer(said, tools=[ToolSpec("s__get_note", "Get a note.", schema, "s", "get_note"), *SAMPLES])
    assert move.text or move.tool


@settings(deadline=500)
@given(st.text(alphabet="ab1 :'\"/.{}，的", min_size=1, max_size=30))
def test_a_long_message_is_handled_quickly(piece: str) -> None:
    answer("add note " + (piece * 4000)[:3900])


def test_a_message_that_is_too_long_is_rejected_with_the_limit() -> None:
    move = answer("add a note: " + "x" * 100_000)
    assert called(move) == [] and "at most 4000 characters" in move.text


def test_a_question_suggested_on_the_start_screen_or_by_the_demo_calls_its_tool():
    roots = tool("everything", "get-roots-list", "Lists the current MCP roots provided by the client. More.")
    tools = [*SAMPLES, roots, tool("s", "then", "Show the first and then the second item.")]
    assert "\n- List the current MCP roots" in answer("fly me to the moon", tools=[roots]).text
    for question, name in (
        ("List the current MCP roots provided by the client", "get-roots-list"),
        ("show the first and then the second item.", "then"),
    ):
        assert called(answer(question, tools=tools)) == [(name, {})]
