"""Secret arguments of calls in saved conversations."""

import asyncio
import json
from pathlib import Path

from tui.core.conversation.conversation import AssistantMessage, CallRequest, Intent, UserMessage
from tui.core.secrets.redact import Redactor
from tui.storage.sessions.store import SessionStore

SCHEMA = {"properties": {"code": {"type": "string", "format": "password"}}}


def test_arguments_that_a_schema_or_rule_makes_secret_are_not_saved(tmp_path: Path):
    redactor = Redactor()
    redactor.arguments.learn("auth", "login", SCHEMA)
    redactor.arguments.set_rules({"auth": ["login.ssn"]})
    arguments = {"code": "canary-1", "ssn": "canary-2", "password": "canary-3", "user": "ada"}

    async def saved() -> str:
        store = SessionStore(tmp_path, lambda: redactor)
        journal = await store.begin()
        journal.message(0, UserMessage("log in"))
        call = CallRequest("1", "auth__login", json.dumps(arguments))
        journal.message(1, AssistantMessage("", calls=(call,), model="m"))
        journal.intent(Intent("1", "auth", "login", arguments))
        await journal.settled()
        await journal.close()
        (info,) = await store.list()
        return await store.exported(info.id, "json")

    text = asyncio.run(saved())
    assert "canary" not in text and text.count("[redacted:code]") == 2 and "ada" in text
    assert not any(b"canary" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_secret_split_between_reasoning_and_answer_is_not_saved(tmp_path: Path):
    redactor = Redactor({"K": "configured-value-1234567890"})

    async def saved() -> str:
        store = SessionStore(tmp_path, lambda: redactor)
        journal = await store.begin()
        journal.message(0, UserMessage("log in"))
        journal.message(
            1, AssistantMessage("value-1234567890 it is: configured", reasoning="configured-", model="m")
        )
        await journal.settled()
        await journal.close()
        (info,) = await store.list()
        return await store.exported(info.id, "json")

    text = asyncio.run(saved())
    assert "configured" not in text and "value-1234567890" not in text and text.count("[redacted]") == 2
