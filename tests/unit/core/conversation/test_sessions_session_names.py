"""A person can name a session by something short."""

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
def test_the_last_an_id_its_beginning_its_end_or_a_title(name: str, found: SessionInfo | None):
    assert named([NEW, OLD], name) == found


def test_without_sessions_there_is_no_last_one():
    assert named([], "last") is None


@pytest.mark.parametrize("name", ["2026", "Weather"])
def test_an_ambiguous_name_is_an_error(name: str):
    with pytest.raises(UsageError, match="2 sessions match"):
        named([NEW, TWIN], name)
