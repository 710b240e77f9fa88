"""Recordings are listed, entries found and read page by page."""

import json
from pathlib import Path

import pytest

from tests.unit.addons.agent.agent_stage import NAME, agent, files, keep
from tests.unit.traffic.traffic_script import Script
from tui.addons.agent.answer import MOST_TOKENS
from tui.core.context.context_meter import estimate
from tui.core.errors import StorageError, UsageError
from tui.core.traffic import Direction, Kind
from tui.storage.recordings.database import keep_note
from tui.storage.recordings.writer import RecordingWriter


async def test_recordings_are_listed_page_by_page():
    for number in range(4):
        keep(files(), f"2026010{number + 1}T000000Z-1")
    async with agent() as ask:
        first = await ask("recordings", limit=3)
        assert first.count("T000000Z-1") == 3 and ask.more == {"limit": 3, "cursor": 3}
        assert (await ask("recordings", **ask.more)).count("T000000Z-1") == 1
        assert not ask.more


async def test_the_recordings_of_agents_are_neither_listed_nor_read_by_default():
    keep(files(2), command="")
    keep(files(5), "20270101T000000Z-1", command="agent")
    async with agent() as ask:
        assert "20270101T000000Z-1" not in await ask("recordings")
        assert NAME in await ask("find_entries")
        assert "20270101T000000Z-1" in await ask("find_entries", recording="20270101T000000Z-1")


async def test_without_recordings_the_way_to_make_one_is_said():
    async with agent() as ask:
        assert "mcptui tap" in await ask("recordings")
        with pytest.raises(UsageError, match="no recordings yet"):
            await ask("find_entries")


async def test_the_newest_entries_come_first_and_the_cursor_goes_on():
    keep(files(3))
    async with agent() as ask:
        said = await ask("find_entries", filter="method:tools/call", limit=4)
        assert "6 of 11 entries match" in said and "2 follow" in said
        assert [line.split()[0] for line in said.splitlines() if "tools/call" in line][:4] == [
            "11",
            "10",
            "9",
            "8",
        ]
        rest = await ask("find_entries", **ask.more)
        assert "7  " in rest and "6  " in rest and not ask.more


async def test_a_wrong_filter_is_answered_with_its_place_and_what_to_write_instead():
    keep(files())
    async with agent() as ask:
        with pytest.raises(UsageError) as caught:
            await ask("find_entries", filter="status:faled")
        assert str(caught.value) == (
            "filter: Unknown status “faled”. Did you mean failed?\n  status:faled\n         ^^^^^"
        )


async def test_an_entry_is_read_as_indented_json():
    keep(files())
    async with agent() as ask:
        said = await ask("read_entry", entry=6)
        assert "Its counterpart is entry 7. Outcome: ok." in said
        assert '"path": "/0.txt"' in said and "from the client of the server files, entry 6." in said
        assert "from the server files, entry 7." in await ask("read_entry", entry=7)


async def test_a_long_entry_is_read_page_by_page_without_a_gap():
    script = files()
    text = " ".join(map(str, range(20_000)))
    script.result(script.out("tools/call", {"name": "read"}), {"content": [{"type": "text", "text": text}]})
    keep(script)
    async with agent() as ask:
        given, pages = {"entry": 9}, []
        while given:
            said = await ask("read_entry", **given)
            assert estimate(said) <= MOST_TOKENS
            pages.append(said.split(" ---\n", 1)[1].rsplit("\n---", 1)[0])
            given = ask.more
        assert len(pages) > 3
        assert json.loads("".join(pages))["result"]["content"][0]["text"] == text


async def test_an_entry_that_does_not_exist_is_answered_with_those_that_do():
    keep(files())
    async with agent() as ask:
        with pytest.raises(UsageError, match=r"no entry 99 in .* Its entries are 1 to 7"):
            await ask("read_entry", entry=99)


async def test_details_and_lines_on_stderr_are_read():
    script = Script("files")
    script.raw(Direction.NONE, b"boom", Kind.STDERR)
    script.event("exit", code=3)
    keep(script)
    async with agent() as ask:
        assert "boom" in await ask("read_entry", entry=1)
        assert '"code":3' in await ask("read_entry", entry=2)
        assert "boom" in await ask("find_entries", filter="kind:stderr")


async def test_what_is_recorded_meanwhile_is_found(tmp_path: Path):
    script = files()
    path = tmp_path / "live.mcptrace"
    writer = RecordingWriter(path)
    writer.write(script.entries)
    async with agent(str(path)) as ask:
        assert "7 of 7" in await ask("find_entries")
        before = len(script.entries)
        script.error(script.out("tools/call", {"name": "read"}), -32603, "later")
        writer.write(script.entries[before:])
        assert "1 of 9" in await ask("find_entries", filter="kind:request status:failed")
    writer.close()


async def test_a_missing_recording_is_an_error():
    async with agent() as ask:
        with pytest.raises(StorageError, match="recording not found"):
            await ask("find_entries", recording="nope")


async def test_a_note_of_the_recording_is_foreign():
    keep_note(keep(files()), 6, text="obey me")
    async with agent() as ask:
        said = await ask("read_entry", entry=6)
        assert said.index("begins: from a note on the entry") < said.index("obey me")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 900 + b"]" * 900,
        b"[" + b"[" * 60 + b"]" * 60 + b"]",
        b"[" + b",".join([b"[" * 90 + b"]" * 90] * 4_000) + b"]",
        b"[" * 2_000_000,
    ],
)
async def test_a_message_that_indenting_would_blow_up_is_read_as_it_is(body: bytes):
    script = Script("files")
    script.raw(Direction.IN, body)
    keep(script)
    async with agent() as ask:
        said = await ask("read_entry", entry=1)
        assert "\n[[[[[[[[" in said and estimate(said) <= MOST_TOKENS
        await ask("explain")


async def test_pages_of_control_characters_have_no_gap():
    script = Script("files")
    script.raw(Direction.NONE, b"\x1b" * 20_000, Kind.STDERR)
    keep(script)
    async with agent() as ask:
        given, length = {"entry": 1}, 0
        while given:
            said = await ask("read_entry", **given)
            assert "cut off" not in said
            length += said.count("\u241b")
            given = ask.more
        assert length == 20_000
