"""A card against the server that it describes."""

from dataclasses import replace
from typing import Any

import pytest

from tests.card_server import card
from tests.cases import each_case
from tui.addons.cards.card import read_card
from tui.addons.cards.comparison import differences, matches
from tui.core.servers import EraChoice, ServerSpec, ServerState, ServerStatus, Transport
from tui.core.workbench import ServerIdentity

URL = "https://mcp.example.com/mcp"
SPEC = ServerSpec("weather", url=URL, transport=Transport.HTTP)
SAID = ServerIdentity("weather", "The Weather", "2.1.0", "2026-07-28")


def differing(
    spec: ServerSpec = SPEC, said: ServerIdentity = SAID, **more: Any
) -> dict[str, tuple[str, str]]:
    status = ServerStatus(spec.name, spec, ServerState.RUNNING, launch=spec.shown_url)
    return {one.what: (one.card, one.server) for one in differences(read_card(card(**more)), status, said)}


def test_a_server_that_says_what_its_card_says_has_no_differences():
    assert differing() == {}


def test_another_version_and_name_are_told():
    said = replace(SAID, name="other", title="", version="3.0.0")
    assert differing(said=said) == {
        "name": ("com.example/weather", "other"),
        "version": ("2.1.0", "3.0.0"),
    }


@pytest.mark.parametrize(
    "name", ["com.example/weather", "Weather", "weather-mcp-server", "Example: Weather!"]
)
def test_a_name_for_people_is_no_other_name(name: str):
    assert differing(said=replace(SAID, name=name, title="")) == {}


def test_what_the_server_has_not_said_is_not_compared():
    assert differing(said=ServerIdentity(protocol="2026-07-28")) == {}


def remotes(url: str = URL, kind: str = "streamable-http", versions: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"remotes": [{"type": kind, "url": url, "supportedProtocolVersions": list(versions)}]}


def test_another_endpoint_is_told_without_its_secrets():
    spec = replace(SPEC, url="https://mcp.example.com/v2?api_key=sk-71hQz9aaBB3344556677")
    found = differing(spec)
    assert found["endpoint"][0] == URL and "sk-71hQz9" not in found["endpoint"][1]


def test_another_transport_is_told():
    assert differing(**remotes(kind="sse")) == {"transport": ("sse", "http")}


@each_case(
    ("versions", "agreed", "era", "is_told"),
    [
        (("2025-11-25", "2026-07-28"), "2026-07-28", EraChoice.AUTO, False),
        (("2025-11-25",), "2026-07-28", EraChoice.AUTO, True),
        (("2025-11-25", "2026-07-28"), "2025-11-25", EraChoice.AUTO, True),
        (("2025-11-25", "2026-07-28"), "2025-11-25", EraChoice.LEGACY, False),
        (("2026-07-28", "2027-01-01"), "2026-07-28", EraChoice.AUTO, True),
        ((), "2025-11-25", EraChoice.AUTO, False),
    ],
)
def test_versions_that_the_server_does_not_speak_are_told(
    versions: tuple[str, ...], agreed: str, era: EraChoice, is_told: bool
):
    found = differing(replace(SPEC, era=era), replace(SAID, protocol=agreed), **remotes(versions=versions))
    assert found == ({"protocol versions": (", ".join(versions), agreed)} if is_told else {})


@each_case(
    ("template", "url", "is_same"),
    [
        ("https://h/mcp", "https://h/mcp/", True),
        ("https://h/mcp/", "https://h/mcp", True),
        ("https://{tenant}.h/mcp", "https://a.h/mcp", True),
        ("https://{tenant}.h/mcp", "https://a.evil/mcp", False),
        ("https://{tenant}.h/mcp", "https://evil/?x=.h/mcp", False),
        ("https://h/mcp", "https://h/mcp2", False),
        ("https://h.x/(a|b)", "https://hyx/a", False),
        ("{address}/mcp", "https://anything/mcp", True),
    ],
)
def test_a_url_matches_the_template_that_it_was_made_of(template: str, url: str, is_same: bool):
    assert matches(template, url) is is_same


def test_versions_that_the_server_names_besides_the_agreed_one_are_no_difference():
    said = replace(SAID, versions=("2027-01-01", "2026-07-28"))
    assert differing(said=said, **remotes(versions=("2025-11-25", "2026-07-28", "2027-01-01"))) == {}
