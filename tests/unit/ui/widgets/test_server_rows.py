"""The rows of a server: remote, changed, with hidden text; others are tested through the servers pane."""

from dataclasses import replace
from typing import Any

import pytest

from tui.core.context.context_parts import DefinitionTokens
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason, Transport
from tui.core.web import Reach
from tui.ui.widgets.rows import text_of
from tui.ui.widgets.server_rows import Look, fitted, head_row, server_rows, tool_words

SPEC = ServerSpec("far", transport=Transport.HTTP, url="https://h.example/mcp")
WHERE = "https://h.example/mcp"


def status(state=ServerState.RUNNING, reach=None, **more):
    reach = reach or Reach(WHERE, "HTTP", True, 200)
    return ServerStatus("far", SPEC, state, reason=None, tools=2, since_ns=0, reach=reach, **more)


def shown(given, *, unfolded=False, selected=False, columns=70, tokens=None):
    sizes = {} if tokens is None else {given.name: tokens}
    look = fitted((given,), Look(columns, 8, 0, 5_000_000_000, sizes))
    rows = server_rows(given, look, selected=selected, unfolded=unfolded)
    return ["".join(text for text, _ in row).rstrip() for row in rows]


def test_a_remote_server_shows_its_http_status_instead_of_a_process():
    (line,) = shown(status())
    assert "RUNNING" in line and "2 tools" in line
    assert line.endswith("HTTP 200        <1 m")


def test_a_running_server_that_does_not_answer_shows_why():
    silent = Reach(WHERE, "HTTP", False, 200, "no connection to https://h.example: Connection refused.")
    head, why = shown(status(reach=silent))
    assert "no response" in head
    assert why.strip() == "no connection to https://h.example: Connection refused."


def test_the_selected_server_without_consent_names_the_key_to_review_it():
    stopped = ServerStatus(
        "far", SPEC, ServerState.STOPPED, reason=StopReason.NEEDS_CONSENT, next_step="Press s to review it."
    )
    head, step = shown(stopped, selected=True)
    assert "needs consent" in head and step.strip() == "Press s to review it."
    assert len(shown(stopped)) == 1


def test_without_room_for_both_the_definition_tokens_are_shown_instead_of_the_age():
    tokens = DefinitionTokens({"get": 1_100}, instructions=140)
    (wide,) = shown(status(), columns=80, tokens=tokens)
    assert "~1.2 k tokens   HTTP 200" in wide and wide.endswith("<1 m")
    (narrow,) = shown(status(), columns=44, tokens=tokens)
    assert narrow.endswith("2 tools  ~1.2 k tokens")
    (tiny,) = shown(status(), columns=30, tokens=tokens)
    assert "tokens" not in tiny and "2 tools" in tiny


def test_a_failed_start_says_what_to_do():
    given = status(
        ServerState.STOPPED,
        detail="HTTP 404 (Not Found).",
        next_step="Check the address. Press r to try again.",
    )
    lines = shown(replace(given, reason=StopReason.FAILED_TO_START), selected=True)
    assert lines[1:] == ["  HTTP 404 (Not Found).", "  Check the address. Press r to try again."]


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ((("research", "needs a task"),), "research is not offered to the model: needs a task"),
        (
            (("a", "needs a task"), ("b", "x"), ("c", "x")),
            "a and 2 more tools are not offered to the model: needs a task",
        ),
    ],
)
def test_a_selected_server_says_which_tool_is_not_offered_and_why(tools, words):
    given = status(withheld=len(tools), not_offered=tools)
    assert " ".join(line.strip() for line in shown(given, selected=True)[1:]) == words
    assert len(shown(given, selected=False)) == 1


def test_the_number_of_tools_shows_how_many_are_offered_or_turned_off():
    assert tool_words(status(withheld=1)) == "1 of 2 tools"
    assert tool_words(status(withheld=1, tools_off=1)) == "2 tools, 1 off"


def test_at_any_width_all_rows_have_the_same_columns_and_a_starting_one_its_clock():
    sizes = {"everything-else": DefinitionTokens({"get": 1_500}), "b": DefinitionTokens({"get": 328})}
    big = replace(status(), name="everything-else", tools=16)
    every = big, replace(status(), name="b")
    for columns in range(24, 100):
        look = fitted(every, Look(columns, 10, 0, 5_000_000_000, sizes))
        rows = ["".join(text for text, _ in head_row(one, look)) for one in every]
        columns_of = {("~" in row, " tokens" in row, "<1 m" in row) for row in rows}
        assert len(columns_of) == 1 or "<1 m" not in "".join(rows), rows
        assert "every…else " in rows[0]
        assert text_of(head_row(status(ServerState.STARTING), look)).rstrip().endswith(" 5 s") or columns < 28


def test_the_age_of_a_stopped_server_keeps_its_distance_from_the_reason():
    failed = replace(status(ServerState.STOPPED), reason=StopReason.FAILED_TO_START, reach=None)
    for columns in range(40, 60):
        (line,) = shown(failed, columns=columns)
        assert line.endswith(("failed to start", "   <1 m")), line


def test_details_say_that_the_model_gets_the_secrets_of_a_server():
    given = status()
    assert not any("secrets" in line for line in shown(given, unfolded=True))
    as_is = replace(given, spec=replace(SPEC, send_as_is=True))
    assert "  secrets       sent to the model as is" in shown(as_is, unfolded=True)


def marks(unfolded: bool = False, **more: Any) -> str:
    status = ServerStatus("calc", ServerSpec("calc"), state=ServerState.RUNNING, tools=3, **more)
    return "\n".join(shown(status, unfolded=unfolded, columns=78))


def test_only_a_server_whose_tools_changed_is_marked() -> None:
    assert "1 definition not accepted yet, not offered" in marks(changes=1)
    assert "2 definitions not accepted yet, not offered" in marks(changes=2)
    assert "accepted" not in marks(changes=0)


def test_a_server_with_hidden_text_is_marked_with_its_location() -> None:
    add, sub = ("add", "description (HTML comment)"), ("sub", "title (invisible characters)")
    said = ("instructions", "invisible characters")
    assert "! 1 tool has hidden text" in marks(hidden=(add,))
    assert "! 2 tools have hidden text" in marks(hidden=(add, sub))
    assert "! the instructions have hidden text" in marks(hidden=(said,))
    assert "! 1 tool and the instructions have hidden text" in marks(hidden=(said, add))
    assert "! add         description (HTML comment)" in marks(hidden=(add,), unfolded=True)
