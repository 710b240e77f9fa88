"""How a client introduces itself."""

from tui.core.jsonrpc.client_profile import ClientProfile
from tui.core.jsonrpc.protocol import MODERN


def test_a_profile_is_of_the_newer_era_if_it_offers_one_of_its_versions():
    assert ClientProfile({}, {}, (MODERN, "2025-11-25")).is_modern
    assert not ClientProfile({}, {}, ("2025-11-25", "2025-06-18")).is_modern
