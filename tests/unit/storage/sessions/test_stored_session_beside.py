"""Times, turn endings and estimates are saved too."""

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from tests.unit.storage.session_samples import ANSWER, CALL, QUESTION, saved, say, store_in
from tui.core.conversation.conversation import AssistantMessage, Remark, ToolMessage, Usage, UserMessage
from tui.storage.sessions.store import SessionStore

ASKED = UserMessage("Will it rain?", at=1_790_000_000.5)
CALLING = AssistantMessage("", "hm", (CALL,), "demo", seconds=2.5, thought=1.5, usage=Usage(90, 10, True))
GAVE = ToolMessage("c1", "weather__get", "sunny", seconds=0.25, why="timeout")
STOPPED = Remark(3, "end", "cancelled", at=1_790_000_010.0)
FAILED = Remark(4, "error", "HTTP 500", "model", "Retry.")


async def talked(store: SessionStore) -> str:
    journal = await store.begin()
    await say(journal, ASKED, CALLING, GAVE)
    journal.usage("demo", Usage(90, 10, estimated=True), None)
    journal.remark(STOPPED)
    journal.message(3, QUESTION)
    journal.remark(FAILED)
    await journal.settled()
    await journal.close()
    return journal.id


def file_of(store: SessionStore, session: str) -> sqlite3.Connection:
    return sqlite3.connect(store.files.existing(session), isolation_level=None)


async def check(store: SessionStore, session: str, *, imported: bool = False) -> None:
    found = await store.read(session)
    asked, calling, gave, again = found.conversation.messages
    assert asked.at == ASKED.at and time.time() - again.at < 60
    assert (calling.seconds, calling.thought, calling.usage) == (2.5, 1.5, Usage(90, 10, True))
    assert (gave.seconds, gave.why) == (0.25, "timeout")
    assert found.conversation.remarks == [replace(one, imported=imported) for one in (STOPPED, FAILED)]
    assert found.conversation.remarks[0].at == STOPPED.at


async def test_times_endings_and_estimates_are_restored(tmp_path: Path):
    store = store_in(tmp_path)
    session = await talked(store)
    await check(store, session)
    (info,) = await store.list()
    assert info.tokens == 100 and info.estimated


async def test_times_endings_and_estimates_survive_export_and_import(tmp_path: Path):
    store = store_in(tmp_path)
    session = await talked(store)
    await store.export(session, "json", tmp_path / "talk.json")
    taken = (await store.import_json(tmp_path / "talk.json")).info
    assert taken.estimated
    await check(store, taken.id, imported=True)


async def test_exports_for_people_show_how_turns_ended_and_how_long_they_took(tmp_path: Path):
    store = store_in(tmp_path)
    session = await talked(store)
    for kind in ("markdown", "html"):
        page = await store.exported(session, kind)
        parts = ("2.5 s", "Thinking, 1.5 s", "Stopped.", "HTTP 500. Retry.")
        places = [page.index(part) for part in parts]
        assert places == sorted(places) and page.index("sunny") < page.index("Stopped.")
        assert "~100 tokens" in page


async def test_a_file_without_times_endings_and_estimates_opens_and_continues(tmp_path: Path):
    store = store_in(tmp_path)
    session = await talked(store)
    with closing(file_of(store, session)) as file:
        file.execute("DROP TABLE remarks")
        file.execute("DELETE FROM meta WHERE name = 'estimated'")
        for place, body in file.execute("SELECT place, body FROM messages").fetchall():
            old = {
                name: value
                for name, value in json.loads(body).items()
                if name not in ("seconds", "thought", "usage", "why")
            }
            file.execute("UPDATE messages SET body = ? WHERE place = ?", (json.dumps(old), place))
    found, journal = await store.reopen(session)
    assert [message.text for message in found.conversation.messages] == [
        ASKED.text, "", "sunny", QUESTION.text
    ]  # fmt: skip
    assert found.conversation.messages[0].at == ASKED.at  # times were always stored
    assert found.conversation.remarks == [] and found.info.estimated
    journal.remark(FAILED)
    await journal.settled()
    assert journal.problem == ""
    await journal.close()
    assert (await store.read(session)).conversation.remarks == [FAILED]


async def test_if_messages_are_lost_remarks_still_follow_the_same_messages(tmp_path: Path):
    store = store_in(tmp_path)
    session = await saved(store, QUESTION, ANSWER, QUESTION, ANSWER)
    with closing(file_of(store, session)) as file:
        file.execute("UPDATE messages SET body = 'torn' WHERE place = 3")
        file.execute(
            "INSERT INTO remarks (at, body) VALUES (1.0, ?)",
            (json.dumps({"place": 4, "kind": "end", "text": "cut"}),),
        )
        file.execute("INSERT INTO remarks (at, body) VALUES (1.0, '[]'), (1.0, '{}'), (1.0, 'torn')")
    _, journal = await store.reopen(session)  # writes the file again
    await journal.close()
    found = await store.read(session)
    assert len(found.conversation.messages) == 3
    assert found.conversation.remarks == [Remark(3, "end", "cut")]


async def test_configured_secrets_are_redacted_in_errors(tmp_path: Path):
    store = store_in(tmp_path, KEY="sk-very-secret-key")
    journal = await store.begin()
    journal.message(0, QUESTION)
    journal.remark(Remark(1, "error", "the key sk-very-secret-key is wrong", "model"))
    await journal.settled()
    await journal.close()
    (remark,) = (await store.read(journal.id)).conversation.remarks
    assert "very-secret" not in remark.text and remark.text.startswith("the key ")
