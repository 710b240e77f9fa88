"""The definitions that a server listed in a recording."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.traffic.traffic_script import ECHO, Script
from tui.addons.tests.contract.listing import Kind
from tui.addons.tests.contract.recorded import recorded_listing
from tui.core.errors import UsageError
from tui.storage.recordings.writer import RecordingWriter


def written(path: Path, script: Script) -> Path:
    with closing(RecordingWriter(path)) as writer:
        writer.write(script.entries)
    return path


def tool(name: str) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}}


def test_the_last_complete_list_counts_with_all_its_pages(tmp_path):
    script = Script().legacy().listed(ECHO)
    script.result(script.out("tools/list", {}), {"tools": [tool("a")], "nextCursor": "2"})
    script.result(script.out("tools/list", {"cursor": "2"}), {"tools": [tool("b")]})
    script.result(script.out("tools/list", {}), {"tools": [tool("c")], "nextCursor": "2"})
    found = recorded_listing(written(tmp_path / "a.mcptrace", script), None)
    assert list(found.entries(Kind.TOOL)) == ["a", "b"]
    assert found.protocol == "2025-11-25" and found.capabilities is not None


def test_what_was_not_listed_is_unknown_unless_the_server_does_not_support_it(tmp_path):
    found = recorded_listing(written(tmp_path / "a.mcptrace", Script().legacy().listed(ECHO)), None)
    supported = found.capabilities or {}
    assert (Kind.PROMPT in found.lists) is ("prompts" not in supported)


def test_a_server_is_chosen_by_name(tmp_path):
    path = written(tmp_path / "a.mcptrace", Script().legacy().listed(ECHO))
    with pytest.raises(UsageError, match="no definitions of other in the recording"):
        recorded_listing(path, "other")


def test_a_handshake_and_lists_that_cannot_be_read_say_nothing(tmp_path):
    script = Script()
    script.result(script.out("initialize", {}), {})
    script.result(script.out("tools/list", {}), {"tools": "none"})
    with pytest.raises(UsageError, match="no complete definitions in the recording"):
        recorded_listing(written(tmp_path / "a.mcptrace", script), None)
