"""The card of a tool call that needs no screen."""

import re

import pytest

from tui.core.context.skill_texts import SkillMark, window_words
from tui.core.permission.content_sources import untrusted_words
from tui.core.ports import ApprovalRequest
from tui.core.tools import Tool
from tui.ui.chat.transcript.tool_call_cards import MAX_ARGUMENTS, Card
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.rows import text_of


def rows(card: Card, width: int = 90) -> list[str]:
    return [text_of(row) for row in card.wrap(width)]


def test_a_call_that_a_rule_denied_names_the_rule():
    card = Card("notes", "delete_all", {}, 0)
    card.rule = "deny */delete_*"
    card.set("denied", "", None, "denied: a rule in the configuration forbids this call")
    (head,) = rows(card)
    assert "rule: deny */delete_*  denied" in head


def test_an_expanded_call_names_the_rule_that_allowed_it():
    card = Card("notes", "add", {"text": "milk"}, 0)
    card.rule = "allow notes/*"
    card.set("done", "", 3.0, "added")
    assert not any("rule:" in row for row in rows(card))
    card.open = True
    assert any(row.strip() == "rule: allow notes/*" for row in rows(card))


LONG = "\n".join(f"line {number}" for number in range(30))


def request(why: str) -> ApprovalRequest:
    return ApprovalRequest("1", Tool("mail", "send"), {}, why)


def asking(arguments: dict[str, object], width: int = 80) -> Card:
    card = Card("mail", "send", arguments, 0)
    card.ask(request("it can send something"), KeyOverrides().answers_of)
    assert rows(card, width)
    return card


def test_a_short_question_must_show_its_title_arguments_and_reason_first():
    card = asking({"to": "bob", "text": "hi"})
    assert card.unseen == "Read the whole call first: 5 lines not shown yet."
    card.saw(0, 4)
    assert card.unseen == "Read the whole call first: 1 line not shown yet."
    card.saw(4, 5)
    assert card.unseen == ""


def test_a_question_shows_all_its_reasons_also_if_they_name_a_server_and_a_skill():
    reasons = (
        untrusted_words(["s" * 40]),
        window_words([SkillMark("s" * 40, "k" * 64, "skill://k/SKILL.md", "", False, 1)]),
    )
    card = Card("mail", "send", {}, 0)
    card.ask(request(". ".join(reasons)), KeyOverrides().answers_of)
    shown = " ".join(" ".join(rows(card, 80)).replace("│", " ").split())
    assert "each call that may change something needs approval." in shown


def test_a_question_counts_as_unseen_before_it_is_drawn():
    card = Card("mail", "send", {}, 0)
    card.ask(request("why"), KeyOverrides().answers_of)
    assert card.unseen


def test_a_collapsed_question_shows_all_argument_names_but_counts_as_unseen():
    card = asking({"to": LONG, "bcc": "evil@example.org", "text": "key"})
    shown = "\n".join(rows(card, 80))
    assert "bcc   " in shown and "evil@example.org" in shown and "text  " in shown
    assert "32 lines   enter expand" in shown
    card.saw(0, 100)
    assert card.unseen == "Read the whole call first: 36 lines not shown yet."


def test_a_question_with_many_arguments_shows_all_their_names():
    card = asking({f"name_{number}": LONG for number in range(20)})
    shown = " ".join(rows(card, 80))
    assert all(f"name_{number}" in shown for number in range(20))


def test_an_expanded_question_counts_as_seen_once_each_row_was_on_screen():
    card = asking({"to": LONG})
    card.open, card.width = True, 0
    rows(card, 80)
    card.saw(0, 10)
    card.saw(20, 100)
    assert card.unseen == "Read the whole call first: 10 lines not shown yet." and card.first_unseen == 10
    card.saw(10, 20)
    assert card.unseen == ""
    card.open = False
    rows(card, 80)
    assert card.unseen == ""
    card.open = True
    rows(card, 60)
    assert card.unseen, "at another width it is laid out anew"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("bob\u200b\u200b@x", '"bob[U+200B ×2]@x"'),
        ("a\U000e0062\U000e0063", '"a[tag: bc]"'),
        (f"a{chr(10) * 12}b", '"a [12 line breaks] b"'),
        (["\u202ex"], '["[U+202E]x"]'),
    ],
)
def test_invisible_characters_in_an_argument_are_shown_as_code_points_and_counts(value: object, shown: str):
    assert shown in "\n".join(rows(asking({"to": value}), 80))


def test_look_alike_argument_names_are_told_apart_and_long_names_are_shown_in_full():
    name = "n" * 70
    shown = "\n".join(rows(asking({"to": 1, "to\u200b": 2, name: 3}), 80))
    assert "to[U+200B]" in shown and "to  " in shown and name in shown


def test_a_question_with_arguments_too_long_to_show_never_counts_as_seen():
    card = asking({"text": "x" * (MAX_ARGUMENTS + 1)})
    card.open, card.width = True, 0
    card.saw(0, len(rows(card, 80)))
    assert card.unseen.startswith("The arguments are too long to show in full")


@pytest.mark.parametrize("text", ["\u200b" * 200_000, "abcd\n" * 6_000, "a\u200d" * 50_000])
def test_omitted_parts_of_arguments_are_counted_and_the_call_cannot_be_allowed(text: str):
    card = asking({"text": text, "last": "rm -rf"})
    card.open = True
    assert re.search(r"… .*more (characters|lines) not shown", "\n".join(rows(card, 80)))
    card.saw(0, len(rows(card, 80)))
    assert card.unseen.startswith("The arguments are too long")


def test_a_question_shows_the_keys_that_answer_it():
    card = asking({})
    assert "y once   t until quit   a always   n deny   e deny with a reason   P rules" in rows(card, 80)[-2]
    changed = KeyOverrides([("question.once", ["f11", "o"]), ("question.no", "x")])
    card.ask(request("why"), changed.answers_of)
    assert "f11, o once" in rows(card, 100)[-2] and "x deny" in rows(card, 100)[-2]
