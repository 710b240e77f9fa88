import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import DiscoverResult, InitializeResult

from tui.host.sdk.sdk_bridge import tidy_handshake

SOUND = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}, "logging": {}},
    "serverInfo": {"name": "weather", "version": "1.0"},
    "instructions": "Ask for a city.",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["capabilities", "serverInfo", "instructions", "_meta"]


def test_a_valid_response_is_unchanged():
    assert tidy_handshake(SOUND) == SOUND


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_the_sdk_accepts_any_initialize_result_with_a_valid_version(odd):
    InitializeResult.model_validate(tidy_handshake(SOUND | odd))


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_the_sdk_accepts_any_discover_result_with_a_valid_version(odd):
    sound = {"supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}
    DiscoverResult.model_validate(tidy_handshake(sound | odd))


@pytest.mark.parametrize("said", [None, [], "tools", 7])
def test_a_server_without_capabilities_is_assumed_to_have_tools(said):
    assert tidy_handshake(SOUND | {"capabilities": said})["capabilities"] == {"tools": {}}


def test_a_capability_of_the_wrong_type_still_counts():
    tidy = tidy_handshake(SOUND | {"capabilities": {"tools": True, "prompts": [], "resources": None}})
    assert tidy["capabilities"] == {"tools": {}, "prompts": {}}


def test_a_name_of_megabytes_is_truncated():
    tidy = tidy_handshake(SOUND | {"serverInfo": {"name": "n" * 5_000_000}})
    assert tidy["serverInfo"] == {"name": "n" * 200, "version": ""}
