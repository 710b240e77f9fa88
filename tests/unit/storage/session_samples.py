"""Conversations for the tests of saved sessions, and messages of any kind for hypothesis."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.secrets.redact import Redactor
from tui.storage.sessions.journal import SessionJournal
from tui.storage.sessions.store import SessionStore

CALL = CallRequest("c1", "weather__get", '{"city": "Beijing"}')
OTHER = CallRequest("c2", "weather__get", "{}")
QUESTION = UserMessage("What is the weather in Beijing?")
ASKING = AssistantMessage("Let me see.", calls=(CALL, OTHER), model="demo")
RESULT = ToolMessage("c1", "weather__get", "sunny, 25 °C")
ANSWER = AssistantMessage("It is sunny.", model="demo")


def store_in(folder: Path, **secrets: str) -> SessionStore:
    return SessionStore(folder / "sessions", lambda: Redactor(secrets))


async def say(journal: SessionJournal, *messages: Message, start: int = 0) -> None:
    for index, message in enumerate(messages, start):
        journal.message(index, message)
    await journal.settled()
    assert journal.problem == ""


def slow_reopen(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> tuple[threading.Event, threading.Event]:
    """Block the thread that reads a session. Return the events for "has read" and "may continue"."""
    read, go = threading.Event(), threading.Event()
    reopen = store._reopen

    def slow(session: str) -> object:
        found = reopen(session)
        read.set()
        go.wait(10)
        return found

    monkeypatch.setattr(store, "_reopen", slow)
    return read, go


async def saved(store: SessionStore, *messages: Message) -> str:
    """Save a conversation and return its id."""
    journal = await store.begin()
    await say(journal, *messages)
    await journal.close()
    return journal.id


any_text = st.text(st.characters(), max_size=30)
"""Lone surrogates and control characters too."""

any_json: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
opaque = st.none() | st.dictionaries(any_text, any_json)
attachments = st.lists(
    st.builds(
        Attachment,
        st.sampled_from(["text", "image", "audio", "blob"]),
        any_text,
        any_text,
        st.integers(0, 2**60),
        any_text,
    ),
    max_size=2,
).map(tuple)


def calls(ids: st.SearchStrategy[str] = any_text) -> st.SearchStrategy[CallRequest]:
    return st.builds(
        CallRequest, ids, any_text, any_text, st.booleans(), opaque, st.booleans(), problem=any_text
    )


def messages(ids: st.SearchStrategy[str] = any_text) -> st.SearchStrategy[Message]:
    return st.one_of(
        st.builds(UserMessage, any_text, attachments),
        st.builds(
            AssistantMessage,
            any_text,
            any_text,
            st.lists(calls(ids), max_size=3).map(tuple),
            any_text,
            opaque,
            st.booleans(),
        ),
        st.builds(ToolMessage, ids, any_text, any_text, st.booleans(), attachments, any_text),
    )


FEW_IDS = st.sampled_from(["a", "b", "c"])


def histories() -> st.SearchStrategy[Sequence[Message]]:
    """Messages in any order, with calls and results that do and do not match."""
    return st.lists(messages(FEW_IDS), max_size=8)
