"""The commands of snippets and prompts, and words of other programs."""

import pytest

from tests.cases import each_case
from tui.core.workbench import PromptArgument, PromptInfo
from tui.ui.keys.command_spec import CommandKind
from tui.ui.keys.slash_commands import Wish, of_prompts, of_snippets, wish_of

ARGUMENTS = (PromptArgument("city", required=True), PromptArgument("days"))
FORECAST = PromptInfo("weather", "forecast", "", "The weather to come", ARGUMENTS)


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
