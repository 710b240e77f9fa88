"""Calls by hand in plain mode: which server is meant."""

from types import SimpleNamespace
from typing import Any

import pytest

from tui.addons.plain.asking import named
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec, ServerState, ServerStatus


def runtime(*names: str) -> Any:
    statuses = [ServerStatus(name, ServerSpec(name, "x"), ServerState.STOPPED) for name in names]
    return SimpleNamespace(host=SimpleNamespace(statuses=lambda: statuses))


def test_a_configured_server_is_found_by_its_name():
    assert named(runtime("weather", "notes"), "notes", "/call") == "notes"


@pytest.mark.parametrize(
    ("typed", "said"), [("wether", "no server is named “wether”"), ("", "the name of a server is required")]
)
def test_any_other_name_is_refused_with_the_names_that_there_are(typed: str, said: str):
    with pytest.raises(UsageError, match=said) as raised:
        named(runtime("weather", "notes"), typed, "/call")
    assert "Servers: weather, notes." in str(raised.value)
