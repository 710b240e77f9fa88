"""Tools are ranked by the words that they share with a question."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.context.tool_ranking import relevance, words
from tui.core.tools import Tool

TOOLS = [
    Tool("weather", "get_forecast", description="Return the weather of a city for the next days."),
    Tool("github", "createPullRequest", description="Open a pull request in a repository."),
    Tool("github", "list_issues", description="List the issues of a repository."),
    Tool("notes", "delete_note", description="Delete a note by its id.", schema={"properties": {"id": {}}}),
    Tool("天气", "查询天气", description="查询一个城市的天气"),
]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("What will the weather be in Paris?", "get_forecast"),
        ("please open a PR, I mean a pull request", "createPullRequest"),
        ("any open issue in this repo?", "list_issues"),
        ("deleting my notes", "delete_note"),
        ("北京天气如何", "查询天气"),
    ],
)
def test_a_tool_named_in_the_question_ranks_first(question: str, best: str) -> None:
    scores = relevance(question, TOOLS)
    assert TOOLS[scores.index(max(scores))].name == best


@pytest.mark.parametrize("question", ["", "and this?", "!?", "xyzzy"])
def test_a_question_about_no_tool_matches_none(question: str) -> None:
    assert relevance(question, TOOLS) == [0.0] * len(TOOLS)


def test_a_rare_word_has_more_weight() -> None:
    tools = [*(Tool("s", f"read_{name}") for name in ("mail", "file", "page", "feed")), Tool("s", "x_feed")]
    scores = relevance("read the mail", tools)
    assert scores[0] == max(scores) > scores[1] > 0 == scores[4]


def test_names_are_split_into_words() -> None:
    assert words("createPullRequest find_issues get-weather") == words(
        "create pull request finding issue weather"
    )


def test_a_thousand_tools_are_ranked_quickly() -> None:
    tools = [Tool("s", f"tool_{n}", description="does a thing with words " * 60) for n in range(1000)]
    started = time.thread_time()
    relevance("does it " * 1000, tools)
    assert time.thread_time() - started < 1


ANY = st.text(st.characters(codec=None), max_size=40)


@given(ANY, st.lists(st.builds(Tool, ANY, ANY, ANY, ANY, st.just({"properties": 3})), max_size=4))
def test_any_texts_can_be_compared(question: str, tools: list[Tool]) -> None:
    scores = relevance(question, tools)
    assert len(scores) == len(tools) and all(score >= 0 for score in scores)
