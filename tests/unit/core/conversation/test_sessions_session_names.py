"""Sessions can be referred to by short names."""

import pytest

from tui.core.conversation.sessions import SessionInfo, named
from tui.core.errors import UsageError

NEW = SessionInfo("20261121T105849Z-ebd4b3", "Weather")
OLD = SessionInfo("20261121T091200Z-0af3c1", "The plan")
TWIN = SessionInfo("20261120T091200Z-77aa01", "weather")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("last", NEW),
        ("20261121T105849Z-ebd4b3", NEW),
        ("20261121T09", OLD),
        ("0af3c1", OLD),
        ("THE PLAN", OLD),
        ("plan", None),
        ("nope", None),
        ("", None),
    ],
)
def test_a_session_is_named_by_last_an_id_part_of_an_id_or_its_title(name: str, found: SessionInfo | None):
    assert named([NEW, OLD], name) == found


def test_without_sessions_last_finds_nothing():
    assert named([], "last") is None


@pytest.mark.parametrize("name", ["2026", "Weather"])
def test_an_ambiguous_name_is_an_error(name: str):
    with pytest.raises(UsageError, match="2 sessions match"):
        named([NEW, TWIN], name)
