"""What is completed at the cursor."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.ui.chat.composer.completion import CompletionKind, CompletionTarget, completion_at


@each_case(
    ("line", "found"),
    [
        ("/", CompletionTarget(CompletionKind.COMMAND, "", 0)),
        ("/mo", CompletionTarget(CompletionKind.COMMAND, "mo", 0)),
        ("/model ", CompletionTarget(CompletionKind.ARGUMENT, "", 7, "model")),
        ("/model oll", CompletionTarget(CompletionKind.ARGUMENT, "oll", 7, "model")),
        ("/model ollama qw", CompletionTarget(CompletionKind.ARGUMENT, "qw", 14, "model", "ollama")),
        ("@", CompletionTarget(CompletionKind.REFERENCE, "", 0)),
        ("look at @src/ma", CompletionTarget(CompletionKind.REFERENCE, "src/ma", 8)),
        ("(@a", CompletionTarget(CompletionKind.REFERENCE, "a", 1)),
        ("/review @a", CompletionTarget(CompletionKind.REFERENCE, "a", 8)),
        ("me@example.com", None),
        ("@a b", None),
        ("hello", None),
        ("get_w", CompletionTarget(CompletionKind.TOOL, "get_w", 0)),
        ("call (get_w", CompletionTarget(CompletionKind.TOOL, "get_w", 6)),
        ("snake_case done", None),
        ("a/b_c", None),
        ("", None),
        (" /mo", None),
    ],
)
def test_the_word_before_the_cursor_selects_the_kind_of_completion(line: str, found: CompletionTarget | None):
    assert completion_at(line, len(line), is_first=True) == found


def test_a_command_is_completed_only_in_the_first_line():
    assert completion_at("/mo", 3, is_first=False) is None
    assert completion_at("@a", 2, is_first=False) == CompletionTarget(CompletionKind.REFERENCE, "a", 0)


def test_text_after_the_cursor_is_ignored():
    assert completion_at("/model", 3, is_first=True) == CompletionTarget(CompletionKind.COMMAND, "mo", 0)


@given(st.text(max_size=900), st.integers(0, 900), st.booleans())
def test_the_completed_word_ends_at_the_cursor(line: str, column: int, is_first: bool):
    column = min(column, len(line))
    found = completion_at(line, column, is_first=is_first)
    if found is not None:
        sign = {"command": "/", "reference": "@"}.get(found.what, "")
        assert line[found.start : column] == sign + found.query
