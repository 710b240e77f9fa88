"""Choosing a card on a terminal, and what is said about its hosts. The rest is in tests/protocol."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.card_server import card
from tests.cases import each_case
from tui.addons.cards.add import _chosen, refuse_address, told
from tui.addons.cards.card import read_card
from tui.addons.cards.catalog import Entry
from tui.addons.cards.discovery import Found
from tui.core.errors import UsageError
from tui.core.text import clean

ORIGIN = "https://example.com"
CARDS = [Entry("urn:air:example.com:mcp:a", f"{ORIGIN}/a"), Entry("urn:air:example.com:mcp:b", f"{ORIGIN}/b")]


def test_the_card_is_asked_for_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr("tui.addons.cards.add.is_terminal", lambda: True)
    for typed in ("B", "2", CARDS[1].identifier):
        monkeypatch.setattr("builtins.input", lambda prompt, typed=typed: typed)
        assert _chosen(Found("", CARDS), "", ORIGIN) is CARDS[1]
    assert "example.com names 2 servers:\n  1  a" in capsys.readouterr().out
    for typed in ("", "c", "0", "3", "²"):
        monkeypatch.setattr("builtins.input", lambda prompt, typed=typed: typed)
        with pytest.raises(UsageError, match="nothing was chosen"):
            _chosen(Found("", CARDS), "", ORIGIN)


def test_a_subdomain_is_no_other_domain_and_everything_else_is_marked():
    found = Found("", CARDS, [f"{ORIGIN}/.well-known/ai-catalog.json", "https://catalogs.example/x"])
    lines = [*told(ORIGIN, found, CARDS[0], read_card(card("https://mcp.example.com/mcp")))]
    marked = [line.split()[0] for line in lines if "   ! another domain   https://" in line]
    assert marked == ["catalog"] and sum(line.startswith("  catalog") for line in lines) == 2
    assert any(line.startswith("  server        mcp.example.com") for line in lines)


def test_a_name_that_only_ends_like_the_domain_is_marked():
    (line,) = [
        line
        for line in told(ORIGIN, Found(""), CARDS[0], read_card(card("https://notexample.com/mcp")))
        if line.startswith("  server")
    ]
    assert "notexample.com   ! another domain   https://" in line


@each_case(
    ("name", "claims"),
    [
        ("com.github/mcp", "github.com"),
        ("com.github.mcp/x", "mcp.github.com"),
        ("com.example.api/weather", ""),
        ("com.example/weather", ""),
        ("com.Example/weather", ""),
        ("weather/weather", ""),
        ("../weather", ""),
    ],
)
def test_a_name_that_claims_another_domain_is_marked(name: str, claims: str):
    mark = "".join(
        line for line in told(ORIGIN, Found(""), CARDS[0], read_card(card(name=name))) if "claims" in line
    )
    assert mark == (f"! Its name claims {claims}. None of these hosts belongs to it." if claims else "")


def test_the_name_of_the_catalog_is_shown_before_that_of_the_card():
    entry = Entry("a", f"{ORIGIN}/a", display="Shown")
    first = next(told(ORIGIN, Found(""), entry, read_card(card(title="Other"))))
    assert first == "Shown 2.1.0 (com.example/weather)"


@each_case(
    ("template", "url", "said"),
    [
        ("https://mcp.example.com/mcp", "https://mcp.example.com/mcp", ""),
        ("http://mcp.example.com/mcp", "http://mcp.example.com/mcp", "not encrypted"),
        ("https://127.0.0.1/mcp", "https://127.0.0.1/mcp", "private network"),
        ("https://169.254.169.254/{path}", "https://169.254.169.254/x", "private network"),
        ("https://{host}/mcp", "https://10.0.0.1/mcp", "private network"),
        ("https://{host}/mcp", "https://10.0.0.2/mcp", ""),
        ("https://{host}/mcp", "https://${HOST}/mcp", ""),
    ],
)
def test_a_card_names_no_private_address_but_the_user_may(template: str, url: str, said: str):
    variables = {"host": {"default": "10.0.0.1"}, "path": {}}
    one = card(remotes=[{"type": "streamable-http", "url": template, "variables": variables}])
    if not said:
        refuse_address(url, read_card(one), ORIGIN)
        return
    with pytest.raises(UsageError, match=said):
        refuse_address(url, read_card(one), ORIGIN)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_text_of_a_card_is_shown_on_one_clean_line(one: str, other: str, note: str):
    document = card(title=one, description=other, websiteUrl=one, repository={"url": other})
    entry = Entry(other, f"{ORIGIN}/{one}", display=one, version=other)
    for line in told(ORIGIN, Found("", notes=[note]), entry, read_card(document)):
        assert "\n" not in line and clean(line) == line
