"""Texts of a request in a shell and in JSON: they arrive as they are, and no terminal acts on them."""

import json
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.traffic.copies.request import (
    CopiedRequest,
    CopiedServer,
    Template,
    json_text,
    quoted,
)

TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_a_word_arrives_as_it_is(texts: list[str]) -> None:
    line = "printf '%s\\0' " + " ".join(map(quoted, texts))
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == texts


@given(TEXTS)
def test_a_word_has_no_character_that_a_terminal_acts_on(text: str) -> None:
    assert all(char.isprintable() or char in "\n\t" for char in quoted(text))


@given(st.text(max_size=40))
def test_json_has_only_characters_that_can_be_printed(text: str) -> None:
    written = json_text({text: [text]})
    assert written.isprintable()
    assert json.loads(written) == {text: [text]}


def test_variables_of_a_text_are_found_and_literals_kept() -> None:
    template = Template()
    assert template.shell("a$${b} ${C}") == "'a${b} '\"${C:?}\""
    assert template.expression("${C}-", repr, "env[{}]") == "env['C'] + '-'"
    assert [*template.needs] == ["C"]


def test_a_sign_in_is_a_header_of_copies_only() -> None:
    server = CopiedServer("s", url="https://x/mcp", headers={"A": "b"}, sign_in="Bearer ${S_TOKEN}")
    assert server.all_headers == {"A": "b", "Authorization": "Bearer ${S_TOKEN}"}
    assert server.headers == {"A": "b"}


def test_the_subject_is_the_tool_or_the_uri() -> None:
    assert CopiedRequest(CopiedServer("s"), "tools/call", {"name": "t"}).subject == "t"
    assert CopiedRequest(CopiedServer("s"), "resources/read", {"uri": "u:1"}).subject == "u:1"
