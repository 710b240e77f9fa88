import os
from pathlib import Path

import pytest

from tui.addons.tests.turns import conversations
from tui.core.conversation.conversation import SessionMeta, UserMessage
from tui.core.errors import StorageError
from tui.core.secrets.redact import Redactor
from tui.storage.sessions.store import SessionStore


async def saved() -> str:
    """Save a conversation of a turn case; return its id."""
    journal = await conversations.store(Redactor).begin()
    journal.message(0, UserMessage("rain?"))
    journal.describe(SessionMeta(title="rain?"))
    await journal.close()
    return journal.id


async def test_a_conversation_becomes_a_session_of_the_user(tmp_path: Path, separate_home: Path) -> None:
    session, mine = await saved(), SessionStore(tmp_path / "mine", Redactor)
    conversations.take_over(session, mine)
    conversations.take_over(session, mine)  # opened again
    assert [one.title for one in await mine.list()] == ["rain?"]
    assert os.stat(mine.files.path_of(session)).st_mode & 0o077 == 0


async def test_a_conversation_that_was_deleted_says_so(tmp_path: Path, separate_home: Path) -> None:
    session, mine = await saved(), SessionStore(tmp_path / "mine", Redactor)
    for path in conversations.folder().iterdir():
        path.unlink()
    with pytest.raises(StorageError, match="the conversation was deleted"):
        conversations.take_over(session, mine)


async def test_the_oldest_are_deleted(separate_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "MOST_KEPT", 2)
    sessions = [await saved() for _ in range(3)]
    store = conversations.store(Redactor)
    for at, session in enumerate(sessions):
        os.utime(store.files.path_of(session), (at, at))
    conversations.make_room()
    assert {one.id for one in await store.list()} == set(sessions[1:])


def test_without_a_folder_there_is_nothing_to_delete(separate_home: Path) -> None:
    conversations.make_room()
    assert not conversations.folder().exists()
