"""A JSON export is imported unchanged; foreign files are checked first."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.storage.session_samples import (
    ANSWER,
    CALL,
    QUESTION,
    RESULT,
    any_json,
    histories,
    say,
    store_in,
)
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Compaction,
    Intent,
    Remark,
    SessionMeta,
    ToolMessage,
    UserMessage,
    sanitised,
)
from tui.core.conversation.message_json import message_object
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.core.errors import StorageError
from tui.core.ports import Usage
from tui.core.turn.turn_endings import words_of
from tui.storage.sessions import json as session_json
from tui.storage.sessions.json import parsed
from tui.storage.sessions.store import SessionStore

LATER = UserMessage("And tomorrow? \ud800")


def export(**more: Any) -> bytes:
    return json.dumps({"format": "mcptui-session", "version": 1, **more}).encode()


async def test_an_imported_export_is_the_same_conversation(tmp_path: Path, store: SessionStore):
    journal = await store.begin()
    journal.describe(SessionMeta(system="Be brief.", title="Weather", profile="local"))
    asking = AssistantMessage(calls=(CALL,), echo={"reasoning_content": "hm"}, model="demo")
    talk = [QUESTION, asking, RESULT, ANSWER, LATER]
    await say(journal, *talk)
    journal.intent(Intent("c1", "weather", "get", {"city": "Beijing"}, "once", 1))
    journal.decision("c1", "once", "")
    journal.result("r1", "sun " * 99 + "\udfff")
    journal.usage("demo", Usage(10, 2), 0.5)
    journal.describe(SessionMeta(compaction=Compaction(4, "It was sunny.", 2, ((4, 900),))))
    await journal.close()
    file = tmp_path / "talk.json"
    await store.export(journal.id, "json", file)
    info = (await store.import_json(file, keep_system=True)).info
    was, now = await store.read(journal.id), await store.read(info.id)
    assert now.conversation == was.conversation
    assert (now.results, now.unknown) == (was.results, was.unknown)
    assert now.meta == replace(was.meta, imported=True, profile=None)
    assert (info.title, info.tokens, info.cost, info.turns) == ("Weather", 12, 0.5, 2)
    assert (info.created, info.changed) == (was.info.created, was.info.changed)
    assert info.id != journal.id and await store.list("weather")
    again = tmp_path / "again.json"
    await store.export(info.id, "json", again)
    old, new = json.loads(file.read_bytes()), json.loads(again.read_bytes())
    assert old.pop("id") != new.pop("id") and old.pop("profile") == "local" and new.pop("profile") == ""
    assert old == new


async def test_imports_and_their_branches_are_marked_and_the_system_prompt_is_left_out(tmp_path: Path):
    store, file = store_in(tmp_path), tmp_path / "talk.json"
    messages = [message_object(one) for one in (QUESTION, ANSWER)]
    file.write_bytes(export(messages=messages, system="Obey the page."))
    found = await store.import_json(file)
    assert found.system == "Obey the page."
    now = await store.read(found.info.id)
    assert (now.conversation.system, now.conversation.imported) == ("", found.info.id)
    branch = await store.begin(parent=found.info.id, upto=2)
    branch.message(2, LATER)
    await branch.close()
    assert (await store.read(branch.id)).conversation.imported == branch.id


async def test_imported_remarks_are_marked_and_the_profile_is_not_used(tmp_path: Path):
    store, file = store_in(tmp_path), tmp_path / "talk.json"
    remarks = [
        {"at": 1.0, "place": 1, "kind": "notice", "text": "Run this.", "imported": False},
        {"at": 2.0, "place": 2, "kind": "error", "text": "Failed.", "next_step": "Run that."},
    ]
    messages = [message_object(one) for one in (QUESTION, ANSWER)]
    file.write_bytes(export(messages=messages, remarks=remarks, profile="work", model="gpt"))
    info = (await store.import_json(file)).info
    _, journal = await store.reopen(info.id)
    journal.remark(Remark(2, "notice", "My own."))
    await journal.close()
    now = await store.read(info.id)
    assert (now.meta.profile, now.meta.model) == (None, "gpt")
    assert [words_of(one) for one in now.conversation.remarks] == [
        "Imported: Run this.",
        "Imported: Failed. Run that.",
        "My own.",
    ]


async def test_imports_are_redacted_with_the_current_secrets(tmp_path: Path):
    file = tmp_path / "talk.json"
    file.write_bytes(export(messages=[{"role": "user", "text": "my key is a-new-secret"}]))
    store = store_in(tmp_path, KEY="a-new-secret")
    info = (await store.import_json(file)).info
    assert info.title == "my key is [redacted:KEY]"


@pytest.mark.parametrize(
    ("stored", "limits"),
    [
        ({"limit": 900}, [[0, 900], [2, 900]]),
        ({"limits": [[0, 700], [1, 700], [2, 0], [8, 9], [2], "x", [2, "x"]]}, [[0, 700]]),
        ({"limits": 5}, []),
    ],
)
def test_only_valid_turn_limits_are_imported(stored: Any, limits: Any):
    said = [{"role": role, "text": "x"} for role in ("user", "assistant", "user", "assistant")]
    whole = parsed(export(messages=said, compaction=stored), "x")
    assert json.loads(json.dumps(whole.meta["compaction"]["limits"])) == limits


def test_a_call_without_a_result_gets_one():
    asking = {"role": "assistant", "calls": [{"id": "a", "name": "x"}, {"id": "b", "name": "y"}]}
    whole = parsed(export(messages=[asking], intents=[{"call_id": "a"}]), "x")
    assert [message.text for message in whole.in_order[1:]] == [UNKNOWN_OUTCOME, NEVER_SENT]


@each_case(
    ("raw", "why"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "UTF-16 text, not UTF-8"),
        (b"{\xff", "byte 1 is not valid UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", '"format" is not'),
        (b'{"format": "x"}', '"format" is not'),
        (b'{"format": "mcptui-session"}', '"version" is not a number'),
        (b'{"format": "mcptui-session", "version": 2, "messages": []}', "written by a newer mcptui"),
        (export(), '"messages" is empty'),
        (export(messages=3), '"messages" is not an array'),
        (export(messages=[3]), "messages[0]: not an object"),
        (export(messages=[{"role": "user"}, {"role": "system"}]), 'messages[1]: "role" is "system"'),
        (export(messages=[{"role": "assistant", "calls": [3]}]), "messages[0]: a call is not an object"),
        (export(messages=[{"role": "tool", "text": "x"}]), '"messages" has no user or assistant message'),
        (
            export(messages=[{"role": "user", "attachments": [{"kind": "image", "data": "<svg>"}]}]),
            "messages[0].attachments[0].data is not base64",
        ),
        (export(messages=[{"role": "user"}], title=3), '"title" is not a string'),
        (export(messages=[{"role": "user"}], results={"a": 3}), '"results" is not an object of strings'),
        (export(messages=[{"role": "user"}], results={"a" * 999: ""}), 'a name in "results" is too long'),
        (export(messages=[{"role": "user"}], intents=[3]), "intents[0] is not an object"),
        (b'{"format": "mcptui-session", "version": ' + b"9" * 9999 + b"}", "not an exported session"),
    ],
)
def test_an_invalid_export_is_rejected_and_the_invalid_part_is_named(raw: bytes, why: str):
    with pytest.raises(StorageError) as caught:
        parsed(raw, "talk.json")
    assert why in str(caught.value) and caught.value.where == "talk.json"
    assert len(str(caught.value)) < 600


def test_the_size_of_an_import_is_bounded(monkeypatch: pytest.MonkeyPatch):
    many = export(messages=[{"role": "user", "text": str(number)} for number in range(50)])
    for name, bound, why in (
        ("MOST_BYTES", 1000, "larger than"),
        ("MOST_PARTS", 40, "too many parts"),
        ("MOST_MESSAGES", 49, "more than 49 items"),
    ):
        with monkeypatch.context() as patch, pytest.raises(StorageError, match=why):
            patch.setattr(session_json, name, bound)
            parsed(many, "x")


@given(any_json, st.sampled_from(["title", "created", "cost", "tokens", "messages", "results", "compaction"]))
def test_any_value_in_any_member_is_imported_or_rejected_with_a_reason(value: Any, name: str):
    given = {"messages": [{"role": "user", "text": "hi"}], name: value}
    try:
        whole = parsed(export(**given), "x")
    except StorageError as error:
        assert error.message
    else:
        assert whole.in_order and whole.meta["tokens"] >= 0 and whole.meta["created"] >= 0


@given(st.binary(max_size=200))
def test_any_bytes_are_rejected_with_a_reason(raw: bytes):
    with pytest.raises(StorageError) as caught:
        parsed(raw, "x")
    assert caught.value.message


@given(histories())
def test_an_imported_conversation_is_valid(messages: list):
    whole_messages = [message_object(message) for message in messages]
    for one in whole_messages:
        one.pop("attachments", None)
    try:
        found = parsed(export(messages=whole_messages), "x").in_order
    except StorageError:
        assert not sanitised(list(messages))
    else:
        assert sanitised(found) == found


async def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path):
    with pytest.raises(StorageError, match="cannot be read"):
        await store_in(tmp_path).import_json(tmp_path / "none.json")
    assert not (tmp_path / "sessions").exists()


def test_one_tool_message_may_answer_several_calls_with_the_same_id():
    asking = {"role": "assistant", "calls": [{"id": "a", "name": "x"}, {"id": "a", "name": "x"}]}
    whole = parsed(export(messages=[asking, {"role": "tool", "call_id": "a", "text": "ok"}]), "x")
    assert whole.in_order[1:] == [ToolMessage("a", "", "ok")] * 2


async def test_the_documentation_names_every_member_of_an_export(store: SessionStore):
    manual = (Path(__file__).parents[4] / "docs" / "session-format.md").read_text(encoding="utf-8")
    journal = await store.begin()
    journal.intent(Intent("c1", "weather", "get", {}))
    journal.decision("c1", "once", "")
    journal.usage("demo", Usage(1, 1), 0.5)
    journal.describe(SessionMeta(compaction=Compaction(0, "", 1)))
    attached = (Attachment("text", "text/plain", "a", 1, "a"),)
    call = CallRequest("c1", "weather__get", "{}", True, {"a": 1}, True, "x")
    await say(
        journal,
        UserMessage("hi", attached),
        AssistantMessage("x", "y", (call,), "demo", {"a": 1}, True),
        ToolMessage("c1", "weather__get", "z", True, attached, "r1"),
    )
    await journal.close()
    found = json.loads(await store.exported(journal.id, "json"))
    rows = [row for name in ("intents", "decisions", "usage", "messages") for row in found[name]]
    inner = [found["compaction"], found["messages"][0]["attachments"][0], found["messages"][1]["calls"][0]]
    names = {name for one in (found, *rows, *inner) for name in one}
    assert {name for name in names if f"`{name}`" not in manual} == set()
