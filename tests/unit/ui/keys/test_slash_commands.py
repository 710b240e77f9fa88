"""Commands, messages, and misspelled commands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.matching import likely_name
from tui.core.workbench import PromptArgument, PromptInfo
from tui.ui.keys.slash_commands import (
    OWN,
    CommandKind,
    Wish,
    of_prompts,
    of_snippets,
    parse_command,
    wish_of,
)

ARGUMENTS = (PromptArgument("city", required=True), PromptArgument("days"))
FORECAST = PromptInfo("weather", "forecast", "", "The weather to come", ARGUMENTS)
SPECS = (*OWN, *of_snippets({"review": "Review {file}."}), *of_prompts([FORECAST]))


def command(text: str) -> tuple[str, str]:
    found = parse_command(text, SPECS)
    assert isinstance(found, tuple), found
    return found[0].name, found[1]


@each_case(
    ("text", "name", "rest"),
    [
        ("/help", "help", ""),
        ("/model", "model", ""),
        ("/model ollama qwen3:8b", "model", "ollama qwen3:8b"),
        ("/system Be brief.\nAnswer in French.", "system", "Be brief.\nAnswer in French."),
        ("/system\nBe brief.", "system", "Be brief."),
        ("/rename  A better title ", "rename", "A better title"),
        ("/review app.py", "review", "app.py"),
        ("/weather:forecast city=Beijing", "weather:forecast", "city=Beijing"),
        ("/help\n", "help", ""),
    ],
)
def test_a_line_that_begins_with_a_command_name_is_a_command(text: str, name: str, rest: str):
    assert command(text) == (name, rest)


@each_case(
    "text",
    [
        "hello",
        "",
        "/",
        "/ help",
        "// a comment",
        "/etc/hosts says what?",
        "/usr/bin/env",
        " /help",
        "what does /help do?",
        "first line\n/help",
        "/help/me",
        "/1",
    ],
)
def test_text_that_does_not_begin_with_a_command_name_is_a_message(text: str):
    assert parse_command(text, SPECS) is None


@each_case(
    ("text", "meant"),
    [
        ("/modle", "/model"),
        ("/exprot json", "/export"),
        ("/mod", "/model"),
        ("/Help", "/help"),
        ("/reveiw x", "/review"),
    ],
)
def test_a_misspelled_command_is_reported_and_not_sent(text: str, meant: str):
    found = parse_command(text, SPECS)
    assert isinstance(found, str) and meant in found and "space before it" in found


@each_case("text", ["/revython", "/tmp", "/imagine a cat", "/gone:prompt x", "/écrire"])
def test_an_unknown_command_is_reported_and_not_sent(text: str):
    found = parse_command(text, SPECS)
    assert isinstance(found, str)
    assert f"Unknown command {text.split()[0]}. See /help." in found
    assert "space before it" in found
    assert parse_command(f" {text}", SPECS) is None


def test_a_command_without_arguments_rejects_text_after_it():
    found = parse_command("/clear the table, please", SPECS)
    assert isinstance(found, str) and "/clear takes no arguments." in found


def test_a_prompt_is_named_after_its_server_and_shows_its_arguments():
    (spec,) = of_prompts([FORECAST])
    assert (spec.name, spec.usage, spec.required) == ("weather:forecast", "city=… [days=…]", ("city",))


@pytest.mark.parametrize(
    ("name", "word"),
    [("two words", "weather:two_words"), ("line\nbreak", "weather:line_break"), ("x" * 300, None)],
)
def test_a_prompt_name_that_is_not_one_word_is_converted_to_one(name, word):
    (spec,) = of_prompts([PromptInfo("weather", name)])
    assert spec.target == name
    assert spec.name == word or (word is None and len(spec.name) <= 128)
    assert not any(map(str.isspace, spec.name)) and spec.name.isprintable()


def test_prompts_with_the_same_converted_name_get_different_names():
    specs = of_prompts([PromptInfo("a", "review code"), PromptInfo("a", "review_code")])
    assert {spec.name: spec.target for spec in specs} == {
        "a:review_code": "review_code",
        "a:review_code_2": "review code",
    }


def test_the_description_of_a_prompt_is_cleaned():
    (spec,) = of_prompts([PromptInfo("weather", "x", description="a\x1b]52;c;x\x07\nb")])
    assert "\x1b" not in spec.help and "\n" not in spec.help


def test_a_snippet_does_not_replace_a_command_of_mcptui():
    assert of_snippets({"help": "Help me.", "brief": "Be brief."})[0].name == "brief"


def test_a_snippet_without_placeholders_accepts_text_after_it():
    (spec,) = of_snippets({"brief": "Be brief."})
    assert (spec.kind, spec.takes_text) == (CommandKind.SNIPPET, True)


@given(st.text(max_size=200))
def test_any_text_is_parsed_without_an_error(text: str):
    found = parse_command(text, SPECS)
    assert found is None or text.startswith("/")


@given(st.text(alphabet="model", max_size=2) | st.text(max_size=2))
def test_one_or_two_letters_are_not_a_misspelling_of_a_long_name(text: str):
    assert likely_name(text, ["model"]) == ""


@each_case(
    ("text", "wish"),
    [
        (":q", Wish("app.quit", certain=True)),
        (":wq ", Wish("app.quit", certain=True)),
        ("Exit", Wish("app.quit", certain=False)),
        ("help", Wish("app.help", certain=False)),
        (" quit", None),
        ("quit smoking", None),
        ("help me", None),
        ("", None),
    ],
)
def test_words_of_other_programs_alone_are_wishes(text: str, wish: Wish | None):
    assert wish_of(text) == wish
