"""Previews of entries, read in the background."""

import asyncio
import json

import pytest

from tests.ui.traffic_stage import some
from tui.core.traffic import Direction, Entry, Kind
from tui.traffic.record.open_recording import ReaderThread
from tui.ui.traffic.entry_loader import HEAD_BYTES, NONE, Previews, _event, _preview


async def test_previews_of_the_last_entries_are_read_in_advance() -> None:
    recording, read = some().recording(), asyncio.Event()
    reader = ReaderThread(recording.open_reader)
    previews = Previews(reader, read.set)
    previews.prefetch(recording.entries, 2)
    await asyncio.wait_for(read.wait(), 10)
    last = len(recording.entries)
    assert previews.get(last) is not NONE
    assert previews.get(last - 2) is NONE
    await previews.close()
    reader.close()


async def test_nothing_is_read_of_a_recording_without_entries() -> None:
    recording, changes = some().recording(), list[str]()
    reader = ReaderThread(recording.open_reader)
    previews = Previews(reader, lambda: changes.append("changed"))
    previews.prefetch(type(recording.entries)(), 40)
    await asyncio.sleep(0)  # a task that reads would ask the thread now
    await reader.ask(lambda _: None)  # answered after all earlier questions
    assert changes == []
    await previews.close()
    reader.close()


@pytest.mark.parametrize(
    ("detail", "text"),
    [
        ({"code": 0, "signal": None, "seconds": 8.5}, "code 0, 8.5 s"),
        ({"code": 1}, "code 1"),
        ({"code": None, "signal": "SIGKILL", "seconds": 8.5}, "SIGKILL"),
        ({"signal": 9}, "signal 9"),
        ({"code": "odd", "seconds": 2}, "code odd seconds 2"),
    ],
)
def test_the_preview_of_an_exit_is_its_code_and_run_time_or_its_signal(
    detail: dict[str, object], text: str
) -> None:
    assert _event({"event": "exit", **detail}) == text


def test_the_preview_of_a_start_is_its_shell_command_even_if_its_body_is_truncated() -> None:
    detail = {"event": "spawn", "argv": ["python", "my server.py", "--all"], "env": ["x" * 400]}
    body = json.dumps(detail).encode()
    for cut in (body, body[:HEAD_BYTES]):
        entry = Entry(1, 1, 1, "weather", Direction.NONE, Kind.EVENT, method="spawn", detail=detail, body=cut)
        assert _preview(entry).text == "python 'my server.py' --all"


def test_an_event_without_details_has_no_preview() -> None:
    detail = {"event": "stop"}
    entry = Entry(1, 1, 1, "weather", Direction.NONE, Kind.EVENT, method="stop", detail=detail)
    assert _preview(entry._replace(body=json.dumps(detail).encode())).text == ""
