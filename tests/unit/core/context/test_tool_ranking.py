"""Which tools are offered to a model that does not accept all of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.context.built_in_tools import BuiltInToolbox, ResultStore
from tui.core.context.tool_ranking import Key, OfferContext, choose, relevance, words
from tui.core.conversation.conversation import AssistantMessage, CallRequest, UserMessage
from tui.core.schemas.tool_names import NameTable
from tui.core.tools import Tool


def tool(server: str, name: str, description: str = "") -> Tool:
    return Tool(server, name, description=description, digest=f"{server}/{name}")


def server(name: str, count: int = 10) -> list[Tool]:
    return [tool(name, f"{name}{number}") for number in range(count)]


def chosen(tools: list[Tool], max_tools: int = 6, size: int = 10, **more: object) -> set[Key]:
    context = OfferContext(max_tools, **more)  # type: ignore[arg-type]
    keys, _, _ = choose(NameTable(tools), context, lambda name, one: size)
    return set(keys)


def called(name: str) -> AssistantMessage:
    return AssistantMessage(calls=(CallRequest("1", name, "{}"),))


def test_pinned_tools_come_first() -> None:
    pinned = [replace(one, pinned=one.name in ("b7", "b8")) for one in server("b")]
    keys = chosen([*server("a"), *pinned], talk=[UserMessage("a1 a2 a3 a4")])
    assert {("b", "b7"), ("b", "b8")} <= keys


def test_recently_used_tools_come_before_tools_that_match_the_question() -> None:
    keys = chosen(server("a"), 4, talk=[called("a__a9"), called("a__a8"), UserMessage("a1 a2")])
    assert keys == {("a", "a9"), ("a", "a8")}


def test_tools_that_match_the_question_come_before_the_rest() -> None:
    tools = [*server("a"), tool("mail", "send_message", "Send an e-mail."), *server("b")]
    assert ("mail", "send_message") in chosen(tools, 3, talk=[UserMessage("send a message to Ann")])


def test_the_previous_question_still_counts() -> None:
    tools = [*server("a"), tool("weather", "forecast"), *server("b")]
    talk = [UserMessage("the weather in Rome?"), AssistantMessage("Sunny."), UserMessage("and tomorrow?")]
    assert ("weather", "forecast") in chosen(tools, 3, talk=talk)


def test_servers_take_turns_if_no_tool_matches() -> None:
    keys = chosen([*server("a", 50), *server("b"), *server("c")], 5, talk=[UserMessage("hello")])
    assert {name for name, _ in keys} == {"a", "b", "c"}


def test_slots_are_reserved_for_read_result_and_find_tools() -> None:
    toolbox = BuiltInToolbox(_Fixed(server("a")), ResultStore({"result-1": "x"}))
    with_own = chosen(list(toolbox.tools()))
    assert ("mcptui", "read_result") in with_own and len(with_own) == 5
    assert with_own - {("mcptui", "read_result")} == chosen(server("a"))


def test_tools_that_were_offered_in_this_turn_are_kept() -> None:
    turn = frozenset({("a", "a5"), ("a", "a6"), ("a", "a7"), ("a", "a8")})
    assert chosen(server("a"), turn=turn, talk=[called("a__a1"), UserMessage("a2")]) == turn


def test_loaded_tools_come_after_pinned_ones_and_before_those_offered_earlier() -> None:
    turn = frozenset({("a", "a5"), ("a", "a6"), ("a", "a7"), ("a", "a8")})
    tools = [replace(one, pinned=one.name == "a9") for one in server("a")]
    keys = chosen(tools, turn=turn, loaded=(("a", "a0"), ("a", "a1")))
    assert {("a", "a9"), ("a", "a0"), ("a", "a1")} < keys and len(keys) == 4


def test_definitions_that_exceed_the_window_are_left_out_one_by_one() -> None:
    assert len(chosen(server("a"), 100, size=100, window=3999)) == 5
    assert len(chosen(server("a"), 100, size=100, window=4000)) == 10
    sizes = {"a0": 900}
    keys, _, _ = choose(
        NameTable(server("a")), OfferContext(100, 4000), lambda name, one: sizes.get(one.name, 50)
    )
    assert len(keys) == 9 and ("a", "a0") not in keys


def test_a_tool_that_cannot_be_offered_uses_no_slot() -> None:
    sizes, table = {"a0": None}, NameTable(server("a"))
    keys, _, _ = choose(table, OfferContext(5), lambda name, one: sizes.get(one.name, 1))
    assert len(keys) == 3


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=5)), max_size=30, unique=True),
    st.integers(1, 20),
    st.integers(256, 10_000) | st.none(),
    st.text(max_size=30),
)
def test_no_more_tools_are_chosen_than_fit(
    pairs: list[Key], max_tools: int, window: int | None, question: str
) -> None:
    tools = [tool(*pair) for pair in pairs]
    keys = chosen(tools, max_tools, 30, window=window, talk=[UserMessage(question)])
    assert len(keys) <= max_tools and keys <= set(pairs)
    assert window is None or len(keys) * 30 <= window / 4
    assert len(keys) == len(pairs) or len(pairs) > max_tools or window is not None


class _Fixed:
    def __init__(self, tools: list[Tool]) -> None:
        self._tools = tools

    def tools(self) -> list[Tool]:
        return self._tools


TOOLS = [
    Tool("weather", "get_forecast", description="Return the weather of a city for the next days."),
    Tool("github", "createPullRequest", description="Open a pull request in a repository."),
    Tool("github", "list_issues", description="List the issues of a repository."),
    Tool("notes", "delete_note", description="Delete a note by its id.", schema={"properties": {"id": {}}}),
    Tool("天气", "查询天气", description="查询一个城市的天气"),
]


@each_case(
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
    plain = "create pull request finding issue weather"
    assert words("createPullRequest find_issues get-weather") == words(plain)


ANY = st.text(st.characters(codec=None), max_size=40)


@given(ANY, st.lists(st.builds(Tool, ANY, ANY, ANY, ANY, st.just({"properties": 3})), max_size=4))
def test_any_texts_can_be_compared(question: str, tools: list[Tool]) -> None:
    scores = relevance(question, tools)
    assert len(scores) == len(tools) and all(score >= 0 for score in scores)
