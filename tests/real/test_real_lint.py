"""The linter has no findings for well-written third-party servers or for mcptui's own messages."""

import asyncio
from pathlib import Path

from tests.real.installed import EVERYTHING, FILES, TIME, needs
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec
from tui.core.traffic import Captured, Finding, Severity
from tui.host.host import Host
from tui.host.schemas.judge import ModelJudge
from tui.traffic.lint.lint import Linter
from tui.traffic.record.entry_reader import EntryReader

pytestmark = needs(EVERYTHING, FILES, TIME)

ARGUMENTS = {
    "everything": {
        "echo": {"message": "a"},
        "get-sum": {"a": 1, "b": 2},
        "get-structured-content": {"location": "Chicago"},
    },
    "files": {"list_allowed_directories": {}},
    "time": {"get_current_time": {"timezone": "Europe/Berlin"}},
}


def _worth_telling(captured: list[Captured]) -> list[Finding]:
    judge, reader, entries = ModelJudge(), EntryReader(lambda raw: (raw, ()), 256 * 1024), []
    for item in captured:
        reader.read(item, entries)
    linter = Linter(judge)
    try:
        found = [finding for entry in entries for finding in linter.feed(entry)]
    finally:
        judge.close()
    return [finding for finding in found if finding.severity is not Severity.HINT]


async def test_good_servers_and_mcptui_itself_have_no_findings(tmp_path: Path):
    seen: list[Captured] = []
    specs = (
        ServerSpec("everything", str(EVERYTHING)),
        ServerSpec("files", str(FILES), (str(tmp_path),)),
        ServerSpec("time", str(TIME)),
    )
    host = Host(specs, sink=seen.append, clock=MonotonicClock())
    await host.start_all()
    called = 0
    for tool in host.toolbox.tools():
        if (arguments := ARGUMENTS[tool.server].get(tool.name)) is not None:
            await host.toolbox.call(tool, arguments, seconds=10, progress=lambda *_: None)
            called += 1
    await host.shutdown()
    assert called == 5
    assert await asyncio.to_thread(_worth_telling, seen) == []
