"""What leaves in a document, and what is left out of it."""

import json

import pytest

from tests.cases import each_case
from tui.core.conversation.conversation import Attachment
from tui.core.language.translate import message
from tui.core.traffic import Direction, Entry, EntryNote, Finding, Kind, Redaction, Severity
from tui.storage.exports import contents
from tui.storage.exports.contents import (
    LEFT_OUT,
    WHOLE,
    Choice,
    Review,
    chosen,
    cut,
    portions_of,
    review_of,
)
from tui.storage.exports.document import (
    Aside,
    Bar,
    Block,
    Document,
    Files,
    Heading,
    Part,
    Portion,
    Prose,
    Rows,
    Timeline,
)
from tui.storage.exports.export import EntryFacts, entry_document, entry_rows
from tui.storage.exports.html import html
from tui.storage.exports.shapes import with_shapes

CANARIES = {
    Portion.CONVERSATION: "canary-said",
    Portion.REASONING: "canary-thought",
    Portion.SYSTEM: "canary-system",
    Portion.WATERFALL: "canary-bar",
    Portion.VALUES: "canary-value",
    Portion.FINDINGS: "canary-finding",
    Portion.NOTES: "canary-note",
    Portion.ATTACHMENTS: "canary-file",
}
"""A text of each portion. A model request has those of the whole conversation."""


def entries() -> list[Entry]:
    asked = json.dumps({"messages": list(CANARIES.values())[:3]}).encode()
    pictured = json.dumps({"result": {"content": [{"data": "canary-file"}]}, "more": "canary-value"}).encode()
    made = {"source": "weather", "direction": Direction.OUT, "size": 9}
    return [
        Entry(1, 1, 1, kind=Kind.MODEL_REQUEST, method="m", body=asked, **made),
        Entry(2, 2, 2, kind=Kind.RESPONSE, method="tools/call", tool="get", body=pictured, **made),
        Entry(3, 3, 3, kind=Kind.STDERR, body=b"canary-value of a log", **made),
    ]


FACTS = EntryFacts(
    note_of=lambda seq: EntryNote(False, "canary-note" if seq == 2 else ""),
    findings_of=lambda seq: [Finding(2, "code", Severity.ERROR, "canary-finding")] if seq == 2 else [],
)


def document(choice: Choice) -> Document:
    def parts() -> list[Part]:
        return [
            Heading("System prompt", portion=Portion.SYSTEM),
            Block("", "canary-system", portion=Portion.SYSTEM),
            Heading("You", "now", 1),
            Prose("canary-said"),
            Files((Attachment("blob", "text/plain", "canary-file", 3, ""),)),
            Heading("model"),
            Block("Thinking", "canary-thought", portion=Portion.REASONING),
            Block("→ weather › get", "canary-value", note="canary-value"),
            Aside("canary-said"),
            Timeline("", 10, (Bar("canary-bar", "model", 0, 5),)),
            Rows("3 messages", entry_rows(entries(), FACTS, choice)),
        ]

    return chosen(Document("canary-said", "", iter(parts())), choice)


def page(*without: Portion) -> str:
    return "".join(html(document(Choice(without=frozenset(without)))))


@each_case("portion", CANARIES)
def test_a_portion_that_is_left_out_is_nowhere_on_the_page(portion: Portion):
    assert CANARIES[portion] in page()
    assert CANARIES[portion] not in page(portion)


def test_the_other_portions_stay():
    shown = page(Portion.REASONING)
    assert all(text in shown for portion, text in CANARIES.items() if portion is not Portion.REASONING)


def test_without_the_conversation_a_turn_has_its_number():
    shown = page(Portion.CONVERSATION)
    assert "Turn 1" in shown and "A conversation" in shown and "canary-bar" in shown


def test_without_messages_only_those_with_a_finding_or_a_note_are_named():
    shown = page(Portion.MESSAGES)
    assert shown.count('<details class="row"') == 1
    assert "canary-note" in shown and "code" in shown and "canary-finding" not in shown
    assert '<details class="wire"' not in page(Portion.MESSAGES, Portion.NOTES, Portion.FINDINGS)


def test_without_values_the_files_of_results_are_left_out_and_nothing_is_counted_for_them():
    picture = (Attachment("blob", "text/plain", "canary-picture", 3, ""),)
    parts = [Files(picture, is_result=True), Files(picture), Block("→ get", "canary", note="canary")]
    review = review_of(Document("t", "", iter(parts)), Choice(without=frozenset({Portion.VALUES})))
    assert dict(review.lines()) == {"attachments": "1 file, 3 B"}


def test_the_numbers_of_turns_are_not_counted_as_conversation():
    review = review_of(document(WHOLE), Choice(without=frozenset({Portion.CONVERSATION})))
    assert review.counts[Portion.CONVERSATION] == 0


def test_a_page_says_what_was_left_out_of_it():
    choice = Choice(True, frozenset({Portion.NOTES, Portion.VALUES}))
    shown = "".join(html(entry_document(entries(), "t", FACTS, choice)))
    assert '<p class="dim">redacted, without notes, values · exported by mcptui ' in shown


def test_a_review_counts_no_more_entries_than_a_page_has_room_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(contents, "MOST_ROWS", 2)
    assert review_of(entry_document(entries(), "t")).counts[Portion.MESSAGES] == 2


def test_with_shapes_the_sentence_of_a_finding_is_left_out():
    shaped = map(with_shapes, entries())
    shown = "".join(html(entry_document(shaped, "t", FACTS, Choice(shapes=True))))
    assert "canary" not in shown and "<code>code</code>" in shown and "&lt;text, 11 characters&gt;" in shown


def test_the_head_of_a_message_with_a_file_is_left_out_with_the_files():
    entry = Entry(1, 1, 1, "s", Direction.IN, Kind.RESPONSE, body=b'{"data": "iVBORw0KG', size=99)
    assert cut(entry, {Portion.ATTACHMENTS})[0].body == LEFT_OUT.encode()
    assert cut(entry, {Portion.NOTES})[0].body == entry.body


def test_a_review_counts_each_portion_and_names_the_servers():
    review = review_of(document(Choice()))
    assert dict(review.lines()) == {
        "conversation": "2 messages, 22 B",
        "reasoning": "1 thought, 14 B",
        "system": "1 prompt, 13 B",
        "waterfall": "1 turn",
        "messages": "3 entries, 36 B",
        "values": "4 values, 233 B",
        "findings": "1 finding, 14 B",
        "notes": "1 note, 17 B",
        "attachments": "1 file, 3 B",
    }
    assert review.servers == {"weather"}
    assert review_of(Document("t", "", iter(()), servers=frozenset({"notes"}))).servers == {"notes"}


def test_a_document_is_counted_as_it_is_written():
    counted = review_of(entry_document(entries(), "t", FACTS))
    review = Review()
    shown = html(entry_document(entries(), "t", FACTS, Choice(review=review)))
    assert not review.lines()
    "".join(shown)
    assert review.lines() == counted.lines()
    said = "3 entries, 3 values, 1 finding, 1 note, from the server “weather”, 0 redacted values"
    assert review.words() == said


@pytest.mark.parametrize(
    ("text", "found"), [("", set()), ("notes, values,", {Portion.NOTES, Portion.VALUES})]
)
def test_parts_are_named_with_commas(text: str, found: set[Portion]):
    assert portions_of(text) == found


def test_an_unknown_part_is_named():
    with pytest.raises(ValueError, match="no part is named header; there are conversation, reasoning, "):
        portions_of("notes,header")


def test_entries_of_an_export_that_is_no_document_are_counted_once():
    marks = (Redaction(0, 1, "KEY"),)
    first = Entry(1, 0, 0, "a", Direction.OUT, Kind.REQUEST, body=b"{}", redactions=marks)
    review = Review()
    assert review.words() == "0 entries, 0 redacted values"
    for one in (first, first, first._replace(seq=2, source="model:m", body=b"")):
        review.see_entry(one)
    assert review.words() == "2 entries, 1 value, from the server “a”, 2 redacted values"
    assert review.words(message("2 of 3 entries")).startswith("2 of 3 entries, 1 value")
