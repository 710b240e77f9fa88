"""What the SDK's client gets: tidy handshakes, no limit for a probe, task support."""

import inspect
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client import session
from mcp_types import DiscoverResult, InitializeResult

from tests.unit.host.test_connection import running
from tui.core.tasks import EXTENSION
from tui.host.sdk.sdk_bridge import await_probes, tidy_handshake


def test_the_sdk_awaits_a_probe_without_a_limit_of_its_own(monkeypatch):
    """Seen with mcp 2.3."""
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 10.0)
    await_probes()
    assert session.DISCOVER_TIMEOUT_SECONDS == math.inf
    assert '"timeout": DISCOVER_TIMEOUT_SECONDS' in inspect.getsource(session.ClientSession.send_discover)


@pytest.mark.parametrize(("era", "said"), [("legacy", False), ("modern", True)])
async def test_task_support_is_advertised_only_in_revisions_that_have_tasks(era, said):
    async with running(era) as (_, params):
        requests = [*params("initialize"), *params("server/discover")]
        assert requests and (EXTENSION in json.dumps(params("tools/list"))) is said
        assert EXTENSION not in json.dumps(params("initialize"))


# ---- handshakes -----------------------------------------------------------------------------------------


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
