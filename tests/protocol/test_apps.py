"""App views of a server on the SDK, in both eras: what is offered, read and linted."""

import sys
from pathlib import Path

import pytest

from tests.hosts import running
from tui.core.servers import EraChoice, ServerSpec
from tui.core.tools import ResourceContent
from tui.core.traffic import Captured, Entry
from tui.traffic.lint.lint import Linter
from tui.traffic.record.entry_reader import EntryReader

SERVER = Path(__file__).with_name("apps_server.py")


@pytest.mark.parametrize("era", [EraChoice.LEGACY, EraChoice.MODERN])
async def test_the_tools_of_an_app_work_with_text_and_its_view_is_named(era: EraChoice):
    taken: list[Captured] = []
    spec = ServerSpec("clock", command=sys.executable, args=(str(SERVER),), era=era)
    async with running(spec, sink=taken.append) as host:
        tools = {tool.name: tool for tool in host.workbench.tools("clock")}
        assert {tool.app_view for tool in tools.values()} == {"ui://clock/app.html"}
        assert [name for name, tool in tools.items() if not tool.withheld] == ["show_time"]
        assert "meant for the app" in tools["tick"].withheld
        result = await host.toolbox.call(tools["show_time"], {}, seconds=10, progress=lambda *_: None)
        assert "Noon." in str(result.content)
        view = await host.workbench.read_resource(
            "clock", tools["show_time"].app_view, call="hand-1", seconds=10
        )
        (content,) = view.content
        assert isinstance(content, ResourceContent) and "<h1>Noon</h1>" in content.text
    reader, entries, linter = EntryReader(lambda raw: (raw, ()), 1 << 18), list[Entry](), Linter()
    for captured in taken:
        reader.read(captured, entries)
    assert [finding for entry in entries for finding in linter.feed(entry)] == []
