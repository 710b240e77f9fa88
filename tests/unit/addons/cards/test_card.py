"""Server cards: what is refused, what is used with a note."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.card_server import card
from tests.cases import each_case
from tui.addons.cards.card import MAX_REMOTES, SCHEMA, host_of_template, read_card
from tui.core.errors import UsageError

VARIABLE = {"tenant": {"description": "Your tenant", "isRequired": True}}


def remote(**more: Any) -> dict[str, Any]:
    return {"type": "streamable-http", "url": "https://h.example/mcp", **more}


@each_case(
    ("document", "said"),
    [
        ([], "no JSON object"),
        ({}, "its \\$schema is not set"),
        (card(**{"$schema": SCHEMA.replace("v1", "v2")}), "version 2. mcptui reads version 1"),
        (card(**{"$schema": SCHEMA.replace("/v1", "/2025-12-11")}), "is not a server card of version 1"),
        ({"serverInfo": {"name": "x"}, "endpoint": "https://h/"}, "is not a server card"),
        (card(name="weather"), "no valid name"),
        (card(name="com.example/a/b"), "no valid name"),
        (card(name="a" * 200 + "/b"), "no valid name"),
        (card(name="com.example/weather\n"), "no valid name"),
        (card(name=5), "no valid name"),
        (card(version=""), "has no version"),
        (card(version="1" * 256), "version that is too long"),
    ],
)
def test_a_document_that_does_not_identify_a_server_is_refused(document: Any, said: str):
    with pytest.raises(UsageError, match=said):
        read_card(document)


def test_a_complete_card_has_no_notes():
    found = read_card(
        card(title="Weather", websiteUrl="https://example.com", repository={"url": "https://r"})
    )
    assert (found.name, found.version, found.title) == ("com.example/weather", "2.1.0", "Weather")
    assert (found.website, found.repository, found.notes) == ("https://example.com", "https://r", ())
    assert found.versions == ("2026-07-28",)
    assert [(one.url, one.transport) for one in found.remotes] == [("https://mcp.example.com/mcp", "http")]


@each_case(
    ("more", "note"),
    [
        ({"description": "x" * 101}, "its description has 101 characters, more than 100"),
        ({"description": ""}, "it has no description"),
        ({"title": "x" * 200}, "its title has 200 characters"),
        *(
            ({"version": version}, "is a range")
            for version in ("^1.2.3", "~1", ">=1.2", "1.x", "1.*", "1 - 2")
        ),
    ],
)
def test_a_card_that_breaks_a_bound_is_used_with_a_note(more: dict[str, Any], note: str):
    found = read_card(card(**more))
    assert found.remotes and len(found.notes) == 1 and note in found.notes[0]


@each_case("version", ["1.0.2", "2.1.0-alpha", "2026-11-01", "1.0.0-x.7", "v1"])
def test_an_ordinary_version_is_no_range(version: str):
    assert read_card(card(version=version)).notes == ()


@each_case(
    ("bad", "why"),
    [
        ("https://h", "no JSON object"),
        (remote(type="stdio"), "transport is “stdio”"),
        (remote(url=5), "not set is not a URL"),
        (remote(url="ftp://h/"), "is not a URL"),
        (remote(url="https://h/ x"), "is not a URL"),
        (remote(url="https://h/" + "x" * 3000), "is not a URL"),
        (remote(url="https://{tenant}.h/mcp"), "{tenant}” without a definition"),
        (remote(url="https://{tenant}.h/mcp", variables={"tenant": "x"}), "without a definition"),
        (remote(headers=[{"name": "A", "value": "Bearer {token}"}]), "the header “A” has “{token}”"),
        (remote(headers=[5]), "no JSON object"),
        (remote(headers=[{"name": "a"}] * 51), "51 headers"),
    ],
)
def test_an_endpoint_that_cannot_be_used_is_left_out_with_the_reason(bad: Any, why: str):
    found = read_card(card(remotes=[bad, remote(url="https://{tenant}.h/mcp", variables=VARIABLE)]))
    assert [one.url for one in found.remotes] == ["https://{tenant}.h/mcp"]
    assert len(found.notes) == 1 and why in found.notes[0]


def test_endpoints_of_the_deprecated_transport_are_last():
    kinds = ("sse", "streamable-http", "sse", "streamable-http")
    found = read_card(card(remotes=[remote(type=kind, url=f"https://h/{n}") for n, kind in enumerate(kinds)]))
    assert [one.url[-1] for one in found.remotes] == ["1", "3", "0", "2"]


def test_more_endpoints_than_anyone_needs_are_left_out():
    found = read_card(card(remotes=[remote()] * (MAX_REMOTES + 3)))
    assert len(found.remotes) == MAX_REMOTES and found.notes == ("3 of its endpoints were left out",)


@each_case(
    ("url", "host"),
    [
        ("https://h.example:8443/mcp", "h.example"),
        ("https://{tenant}.example.com/mcp", "{tenant}.example.com"),
        ("https://good.example@evil.example/x", "evil.example"),
        ("{url}/mcp", "{url}"),
        ("https://[::1]/mcp", "::1"),
        ("https://[", ""),
    ],
)
def test_the_host_of_a_template_is_the_one_that_is_connected_to(url: str, host: str):
    assert host_of_template(url) == host


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
FIELDS = (
    "$schema",
    "name",
    "version",
    "description",
    "title",
    "websiteUrl",
    "repository",
    "remotes",
    "icons",
)
REMOTES = st.lists(
    st.fixed_dictionaries(
        {"type": JSON | st.sampled_from(["sse", "streamable-http"])},
        optional={"url": JSON | st.just("https://{a}/"), "headers": JSON, "variables": JSON},
    )
)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON), JSON | REMOTES)
def test_any_document_is_a_card_or_an_error_in_one_sentence(fields: dict[str, Any], remotes: Any):
    for document in (fields, card(remotes=remotes, **{k: v for k, v in fields.items() if k != "remotes"})):
        try:
            found = read_card(document)
        except UsageError as error:
            assert "\n" not in error.message and len(error.message) < 400
        else:
            assert all(one.url for one in found.remotes)
