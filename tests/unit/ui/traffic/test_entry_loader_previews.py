"""Previews of entries, read in the background."""

import asyncio
import json

from tests.cases import each_case
from tests.ui.traffic_stage import some
from tui.core.traffic import Direction, Entry, Kind
from tui.traffic.record.open_recording import ReaderThread
from tui.ui.traffic.entry_loader import HEAD_BYTES, NONE, Previews, preview_of


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


@each_case(
    ("detail", "text"),
    [
        ({"event": "exit", "code": 0, "signal": None, "seconds": 8.512}, "code 0 seconds 8.51"),
        ({"event": "exit", "code": 0, "signal": None, "seconds": 3021.471}, "code 0 seconds 3021.47"),
        ({"event": "stop"}, ""),
        ({"event": "spawn", "argv": ["python", "my server.py"], "env": ["x" * 400]}, "python 'my server.py'"),
        ({"event": "sign-in", "http": "POST", "url": "https://a/b", "status": 401}, "401 POST https://a/b"),
        (
            {"event": "sign-in", "http": "POST", "url": "https://a/b", "failed": "x"},
            "failed POST https://a/b",
        ),
    ],
)
def test_the_preview_of_an_event_is_its_fields_even_if_its_body_is_truncated(
    detail: dict[str, object], text: str
) -> None:
    body = json.dumps(detail).encode()
    for cut in (body, body[:HEAD_BYTES]):
        entry = Entry(1, 1, 1, "weather", Direction.NONE, Kind.EVENT, method="event", detail=detail, body=cut)
        assert preview_of(entry).text == text
