"""The card of a tool call that needs no screen."""

from tui.ui.chat.transcript.tool_call_cards import Card
from tui.ui.widgets.rows import text_of
from tui.ui.widgets.symbols import UNICODE


def rows(card: Card, width: int = 90) -> list[str]:
    return [text_of(row) for row in card.wrap(width)]


def test_a_call_that_a_rule_denied_names_the_rule():
    card = Card("notes", "delete_all", {}, UNICODE, 0)
    card.rule = "deny */delete_*"
    card.set("denied", "", None, "denied: a rule in the configuration forbids this call")
    (head,) = rows(card)
    assert "rule: deny */delete_*  denied" in head


def test_a_call_that_a_rule_allowed_names_it_when_it_is_open():
    card = Card("notes", "add", {"text": "milk"}, UNICODE, 0)
    card.rule = "allow notes/*"
    card.set("done", "", 3.0, "added")
    assert not any("rule:" in row for row in rows(card))
    card.open = True
    assert any(row.strip() == "rule: allow notes/*" for row in rows(card))
