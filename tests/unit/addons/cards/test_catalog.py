"""AI catalogs: which entries are server cards, and what is left out."""

from typing import Any

import pytest
from hypothesis import given

from tests.card_server import catalog, entry, nested
from tests.cases import each_case
from tests.unit.addons.cards.test_card import JSON
from tui.addons.cards.card import CARD_TYPE
from tui.addons.cards.catalog import Entry, newest, read_catalog, wanted
from tui.core.errors import UsageError

URL = "https://example.com/.well-known/ai-catalog.json"


@each_case(
    ("document", "said"),
    [
        ([], "no entries"),
        ({"entries": {}}, "no entries"),
        ({"entries": []}, "no specVersion"),
        (catalog(specVersion="2.0"), "version 2.0. mcptui reads versions up to 1"),
        (catalog(specVersion="17.3"), "version 17.3"),
    ],
)
def test_a_document_that_is_no_catalog_or_too_new_is_refused(document: Any, said: str):
    with pytest.raises(UsageError, match=said):
        read_catalog(document, URL)


@pytest.mark.parametrize("version", ["0.9", "1.0", "1.7", "draft"])
def test_older_and_later_minor_versions_and_drafts_are_read(version: str):
    assert len(read_catalog(catalog(entry("a", url="/a"), specVersion=version, more=1), URL).cards) == 1


def test_cards_and_catalogs_are_told_apart_and_other_types_counted():
    others = [entry("c", url="/c") | {"type": kind} for kind in ("application/a2a-agent-card+json", "x")]
    found = read_catalog(
        catalog(entry("a", url="/a"), nested("/more"), *others, host={"displayName": "E"}), URL
    )
    assert [one.url for one in found.cards] == ["https://example.com/a"]
    assert [one.url for one in found.nested] == ["https://example.com/more"]
    assert (found.others, found.broken) == (2, 0)


def test_a_type_is_recognized_with_parameters_and_in_any_case():
    found = read_catalog(catalog(entry("a", url="/a") | {"type": f"{CARD_TYPE.title()}; charset=utf-8"}), URL)
    assert len(found.cards) == 1


@each_case(
    "bad",
    [
        5,
        entry("x"),
        entry("x", url="/a", data={}),
        entry("x", url=5),
        entry("x", url="https://h/\u202e"),
        entry("x", url="https://h/" + "x" * 3000),
        entry("x", url="https://[/"),
        {"type": "application/mcp-server-card+json", "url": "/a"},
        entry("x", url="/a") | {"identifier": "a\nb"},
        entry("x", url="/a") | {"identifier": "x" * 501},
        {"identifier": "x", "url": "/a"},
    ],
)
def test_an_invalid_entry_is_counted_and_the_others_are_used(bad: Any):
    found = read_catalog(catalog(bad, entry("a", url="/a")), URL)
    assert (len(found.cards), found.broken) == (1, 1)


def test_no_more_than_a_thousand_entries_are_read():
    found = read_catalog(catalog(*(entry(f"s{number}", url="/a") for number in range(1200))), URL)
    assert (len(found.cards), found.left) == (1000, 200)


@pytest.mark.parametrize(
    ("versions", "best"),
    [
        (["2.0.0", "2.10.0", "2.9.0"], "2.10.0"),
        (["2.0.0", "2.1.0-beta"], "2.1.0-beta"),
        (["2.1.0", "2.1.0-beta"], "2.1.0"),
        (["1.0.0", "someday"], "1.0.0"),
    ],
)
def test_the_newest_version_of_an_entry_is_used(versions: list[str], best: str):
    assert [one.version for one in newest(Entry("a", "", version=each) for each in versions)] == [best]


def test_without_versions_the_last_update_decides():
    dates = ("2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-02-01T00:00:00Z")
    assert [one.updated for one in newest(Entry("a", "", updated=each) for each in dates)] == [dates[1]]


def test_a_card_is_named_by_its_identifier_its_last_part_or_its_shown_name():
    found = [Entry("urn:air:a.com:mcp:x", "1"), Entry("urn:air:b.com:mcp:x", "2", display="The Ex")]
    assert wanted(found, "X") == found
    assert wanted(found, "urn:air:b.com:mcp:x") == wanted(found, "the ex") == found[1:]
    assert wanted(found, "") == wanted(found, "y") == []


def test_an_inline_card_is_found_again_by_its_identifier():
    found = read_catalog(catalog(entry("a", data={"x": 1})), URL).cards[0]
    assert found.address == f"{URL}#urn:air:example.com:mcp:a"


def test_the_texts_of_an_entry_are_shown_on_one_clean_line():
    line = Entry("urn:\u202eevil:x", "", display="A\x1b[31m\nB", version="1\t2").line
    assert line.isprintable() and "\x1b" not in line and "\u202e" not in line


@given(JSON)
def test_any_document_is_a_catalog_or_an_error_in_one_sentence(document: Any):
    for one in (document, catalog(document), {"specVersion": "1.0", "entries": document}):
        try:
            found = read_catalog(one, URL)
        except UsageError as error:
            assert "\n" not in error.message
        else:
            assert not found.cards
