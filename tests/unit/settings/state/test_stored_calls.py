"""The file of saved calls."""

import pytest

from tui.core.errors import ConfigError
from tui.core.workbench import CallKey, CallKind, CallMemory
from tui.settings.state.stored_calls import MAX_BYTES, StoredCalls

KEY = CallKey("weather", CallKind.TOOL, "get_weather")
URI = CallKey("notes", CallKind.RESOURCE, "notes://all")


def test_saved_calls_are_loaded_again(tmp_path):
    path = tmp_path / "new" / "calls.json"
    arguments = {"city": "Tromsø", "n": None, "deep": [{"a": 1.5}], "odd": "\ud800"}
    kept = StoredCalls(path).write(lambda memory: memory.called(KEY, arguments).with_saved(URI, "all", {}))
    assert StoredCalls(path).read() == kept
    assert kept.last[KEY] == arguments
    StoredCalls(path).write(lambda memory: memory.with_saved(URI, "two", {}))
    assert set(StoredCalls(path).read().saved[URI]) == {"all", "two"}


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"format": 2}', '{"format": 1e999}', "\0", "[" * 100_000, f'"{"x" * MAX_BYTES}"']
)
def test_a_damaged_file_is_not_overwritten(tmp_path, text):
    path = tmp_path / "calls.json"
    path.write_text(text)
    assert StoredCalls(path).read() == CallMemory()
    with pytest.raises(ConfigError, match="It was not changed"):
        StoredCalls(path).write(lambda memory: memory.called(KEY, {}))
    assert path.read_text() == text


def test_invalid_entries_affect_only_themselves(tmp_path):
    path = tmp_path / "calls.json"
    good = '{"server": "s", "kind": "tool", "name": "t", "arguments": {"a": 1}}'
    odd = '3, {}, {"server": "s", "kind": "spell", "name": "t", "arguments": {}}'
    bad_name = '{"server": "s", "kind": "tool", "name": "t", "saved_as": "\\u001b", "arguments": {}}'
    path.write_text(f'{{"format": 1, "last": [{odd}, {good}], "saved": [{bad_name}, 3]}}')
    assert StoredCalls(path).read() == CallMemory().called(CallKey("s", CallKind.TOOL, "t"), {"a": 1})


def test_the_least_recently_used_calls_are_dropped_to_stay_within_the_limit(tmp_path):
    path = tmp_path / "calls.json"

    def fill(memory):
        for number in range(100):
            memory = memory.called(CallKey("s", CallKind.TOOL, f"{number}"), {"a": "x" * 60_000})
        return memory

    StoredCalls(path).write(fill)
    assert path.stat().st_size <= MAX_BYTES
    assert CallKey("s", CallKind.TOOL, "99") in StoredCalls(path).read().last
