"""Secret arguments of calls in saved conversations."""

import json
from pathlib import Path

from tests.unit.storage.session_samples import say
from tui.core.conversation.conversation import AssistantMessage, CallRequest, Intent, UserMessage
from tui.core.secrets.redact import Redactor
from tui.storage.sessions.store import SessionStore

SCHEMA = {"properties": {"code": {"type": "string", "format": "password"}}}


def content_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def exported(folder: Path, redactor: Redactor, reply: AssistantMessage, *intents: Intent) -> str:
    store = SessionStore(folder, lambda: redactor)
    journal = await store.begin()
    for intent in intents:
        journal.intent(intent)
    await say(journal, UserMessage("log in"), reply)
    await journal.close()
    return await store.exported(journal.id, "json")


async def test_arguments_that_a_schema_or_rule_makes_secret_are_not_saved(tmp_path: Path):
    redactor = Redactor()
    redactor.arguments.learn("auth", "login", SCHEMA)
    redactor.arguments.set_rules({"auth": ["login.ssn"]})
    arguments = {"code": "canary-1", "ssn": "canary-2", "password": "canary-3", "user": "ada"}
    call = CallRequest("1", "auth__login", json.dumps(arguments))
    intent = Intent("1", "auth", "login", arguments)
    text = await exported(tmp_path, redactor, AssistantMessage("", calls=(call,), model="m"), intent)
    assert "canary" not in text and text.count("[redacted:code]") == 2 and "ada" in text
    assert b"canary" not in content_of(tmp_path)


async def test_a_secret_split_between_reasoning_and_answer_is_not_saved(tmp_path: Path):
    reply = AssistantMessage("value-1234567890 it is: configured", reasoning="configured-", model="m")
    text = await exported(tmp_path, Redactor({"K": "configured-value-1234567890"}), reply)
    assert "configured" not in text and "value-1234567890" not in text and text.count("[redacted]") == 2
