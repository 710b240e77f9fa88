"""Commands, messages, and misspelled commands."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.matching import likely_name
from tui.ui.keys.command_spec import CommandKind, CommandSpec, parse_command
from tui.ui.keys.slash_commands import OWN, of_snippets

PROMPT = CommandSpec("weather:forecast", "city=… [days=…]", "", kind=CommandKind.PROMPT)
SPECS = (*OWN, *of_snippets({"review": "Review {file}."}), PROMPT)


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


@given(st.text(max_size=200))
def test_any_text_is_parsed_without_an_error(text: str):
    found = parse_command(text, SPECS)
    assert found is None or text.startswith("/")


@given(st.text(alphabet="model", max_size=2) | st.text(max_size=2))
def test_one_or_two_letters_are_not_a_misspelling_of_a_long_name(text: str):
    assert likely_name(text, ["model"]) == ""
