"""Two offers of a server are compared part by part."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tui.core.comparison.offers import MAX_ENTRIES, Offer, change_words, offer_changes
from tui.core.comparison.values import Change

SEARCH = {"name": "search", "description": "Finds.", "_meta": {"ui": {"resourceUri": "ui://x"}}}


def offer(tools: Any = (), capabilities: Any = None, **lists: Any) -> Offer:
    return Offer(capabilities or {}, {"tools": tools, **lists})


def words(before: Offer, after: Offer) -> list[str]:
    return [one.words for one in offer_changes(before, after)]


def test_added_removed_and_changed_parts_are_named():
    plain = {key: value for key, value in SEARCH.items() if key != "_meta"}
    before = offer([SEARCH, {"name": "old"}], {"tools": {}, "extensions": {"a/b": {}}})
    after = offer([plain, {"name": "new"}], {"tools": {"listChanged": True}, "extensions": {}})
    assert words(before, after) == [
        "extension a/b: removed",
        "tool old: removed",
        "tool new: added",
        "capability tools: listChanged changed",
        "tool search: _meta changed",
    ]


def test_the_differences_of_a_changed_part_are_lines():
    (changed,) = offer_changes(offer([SEARCH]), offer([{**SEARCH, "description": "Finds\x1b[1m all."}]))
    assert changed.change is Change.CHANGED and changed.where == ("description",)
    assert "description" in changed.lines[0] and "\x1b" not in "".join(changed.lines)


def test_resources_templates_and_prompts_are_compared_by_what_names_them():
    before = offer(resources=[{"uri": "a://1", "name": "x"}], prompts=[{"name": "p"}])
    after = offer(resourceTemplates=[{"uriTemplate": "a://{n}"}], prompts=[{"name": "p"}])
    assert words(before, after) == ["resource a://1: removed", "resource template a://{n}: added"]


def test_changes_are_counted_in_words():
    changes = offer_changes(offer([{"name": "a"}, {"name": "b"}]), offer([{"name": "c"}]))
    assert change_words(changes) == "2 tools removed, 1 tool added"
    assert change_words(()) == "nothing changed"


def test_entries_that_are_no_objects_and_those_above_the_limit_are_left_out():
    many = [{"name": str(number)} for number in range(MAX_ENTRIES + 10)]
    assert len(offer_changes(offer(), offer(["x", None, *many]))) <= MAX_ENTRIES
    assert words(offer([None, 3]), offer(["text"])) == []


@given(st.lists(st.dictionaries(st.text(max_size=5), st.none() | st.text() | st.integers(), max_size=4)))
def test_an_offer_does_not_differ_from_itself(tools: list[dict[str, Any]]):
    assert offer_changes(offer(tools, {"extensions": tools}), offer(tools, {"extensions": tools})) == ()
