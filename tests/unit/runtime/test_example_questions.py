"""The questions offered at the start."""

import pytest

from tests.cases import each_case
from tui.core.tools import Tool
from tui.runtime import example_questions
from tui.runtime.example_questions import Example, examples, question_of


def reader(server: str, name: str, description: str, **schema) -> Tool:
    return Tool(server, name, description=description, read_only=True, schema=schema)


def test_the_sample_servers_have_natural_example_questions():
    assert examples([Tool("weather", "get_weather"), Tool("notes", "add_note")]) == (
        Example("What's the weather in Hangzhou?", "weather › get_weather"),
        Example("Add a note: buy milk", "notes › add_note"),
    )


def test_examples_for_other_servers_come_from_descriptions_of_read_only_tools():
    tools = [
        reader("files", "read", "Read a file. Slowly.", required=["path"]),
        reader("files", "roots", "List the allowed directories."),
        reader("clock", "now", "Tell what time it is."),
        reader("clock", "zones", "Lists all time zones. Slowly."),
        Tool("files", "rm", description="Delete everything there is."),
    ]
    assert [(one.question, one.tool) for one in examples(tools)] == [
        ("List the allowed directories", "files › roots"),
        ("Tell what time it is", "clock › now"),
        ("List all time zones", "clock › zones"),
    ]


@each_case(
    "description", ["returns escapes", "never answers", "Echoes back the input", "Get", "get it", "", "LIST"]
)
def test_an_unnatural_question_is_not_offered(description: str):
    assert examples([reader("s", "t", description)]) == ()


def test_only_a_few_of_thousands_of_descriptions_are_read(monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []

    def noted(description: str) -> str:
        read.append(description)
        return question_of(description)

    monkeypatch.setattr(example_questions, "question_of", noted)
    many = [reader(server, f"t{at}", f"List number {at}.") for server in "ab" for at in range(2000)]
    assert [one.question for one in examples(many)] == [f"List number {at}" for at in range(4)]
    assert len(read) == 8


def test_a_repeated_question_is_offered_once():
    tools = [reader("a", f"t{at}", "List the notes.") for at in range(9)] + [
        reader("a", "u", "Show all of them.")
    ]
    assert [one.question for one in examples(tools)] == ["List the notes", "Show all of them"]


def test_without_tools_there_are_no_examples():
    assert examples([]) == ()


def test_hostile_descriptions_are_cleaned():
    assert "\x1b" not in examples([reader("s", "t", "Show \x1b[2J the screen")])[0].question
