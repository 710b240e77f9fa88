"""Sessions can be referred to by short names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.conversation.sessions import CELLS, SessionInfo, named, title_of
from tui.core.errors import UsageError
from tui.core.text import cells_of, clean

NEW = SessionInfo("20261121T105849Z-ebd4b3", "Weather")
OLD = SessionInfo("20261121T091200Z-0af3c1", "The plan")
TITLED = SessionInfo("20261119T091200Z-5c0de2", "EBD4B3")
TWIN = SessionInfo("20261120T091200Z-77aa01", "weather")


@each_case(
    ("name", "found"),
    [
        ("last", NEW),
        ("20261121T105849Z-ebd4b3", NEW),
        ("20261121T09", OLD),
        ("0af3c1", OLD),
        ("ebd4b3", TITLED),
        ("THE PLAN", OLD),
        ("plan", None),
        ("nope", None),
        ("", None),
    ],
)
def test_a_session_is_named_by_last_an_id_part_of_an_id_or_its_title(name: str, found: SessionInfo | None):
    assert named([NEW, OLD, TITLED], name) == found


def test_without_sessions_last_finds_nothing():
    assert named([], "last") is None


@pytest.mark.parametrize("name", ["2026", "Weather"])
def test_an_ambiguous_name_is_an_error(name: str):
    with pytest.raises(UsageError, match="2 sessions match"):
        named([NEW, TWIN], name)


@each_case(
    ("question", "title"),
    [
        ("What is the weather in Beijing? I leave tomorrow.", "What is the weather in Beijing?"),
        ("北京天气如何？我明天出发。", "北京天气如何？"),
        ("مرحبا كيف حالك؟ أنا بخير", "مرحبا كيف حالك؟"),
        ("आज मौसम कैसा है। बताओ", "आज मौसम कैसा है।"),
        ("Update Python 3.11.2 on example.com. Then stop.", "Update Python 3.11.2 on example.com"),
        ("1. Read the file\n2. Say what it does", "1. Read the file"),
        ("# Task\n\nFix it", "Task"),
        ("> quoted\n", "quoted"),
        ("- **bold** and `code`", "bold and code"),
        ("see [the docs](https://example.com/very/long)", "see the docs"),
        ("```python\nprint(1)\n```\nWhy does this fail?", "Why does this fail?"),
        ("```python\nprint(1)\n```", "python"),
        ("\n\n   \n\thello   world", "hello world"),
        ("hi", "hi"),
        ("Really?! Yes", "Really?!"),
        ("", ""),
        ("请" * 80, "请" * 29 + "…"),
        ("!!! ... ???", ""),
        ("🎉🎉", ""),
        ("\x1b]0;owned\x07 hello", "␛]0;owned␇ hello"),
        ("call mine__big now", "call mine__big now"),
        ("this is __bold__ text", "this is bold text"),
    ],
)
def test_a_title_is_the_cleaned_first_sentence(question: str, title: str):
    assert title_of(question) == title


def test_a_long_title_is_cut_between_words():
    title = title_of(
        "Please compare the three proposals for the new storage format and tell me which is best"
    )
    assert title == "Please compare the three proposals for the new storage…"


@given(st.text(max_size=300))
def test_a_title_is_one_clean_line_that_fits(question: str):
    title = title_of(question)
    assert cells_of(title) <= CELLS
    assert title == clean(title)
    assert "\n" not in title and "\t" not in title


def test_a_question_of_megabytes_gets_a_title():
    assert title_of("word " * 1_000_000).startswith("word word")
