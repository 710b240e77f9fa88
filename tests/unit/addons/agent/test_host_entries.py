"""How other hosts write a server."""

import json
import tomllib
from pathlib import Path

import pytest

from tui.addons.agent.host_entries import ENTRIES, entry_for
from tui.settings.foreign.edits import HostFile
from tui.settings.foreign.file import Source, read_foreign
from tui.settings.save import edited


@pytest.mark.parametrize("host", ENTRIES)
def test_an_entry_is_a_server_for_our_own_import(host: str):
    entry = ENTRIES[host]
    value = entry.entry(["/opt/mcptui", "agent"])
    if entry.host.files[0].endswith(".toml"):
        text = edited("", lambda tree: tree.update({entry.table[0]: {"mcptui": value}}))
        assert tomllib.loads(text)
    else:
        text = HostFile("{}").with_member((*entry.table, "mcptui"), value).text
        assert json.loads(text)
    found = read_foreign(text, Path(entry.host.files[0].rpartition("/")[2]))
    assert isinstance(found, Source)
    table = found.tree["servers"]["mcptui"]
    assert [table["command"], *table["args"]] == ["/opt/mcptui", "agent"]


@pytest.mark.parametrize(
    ("path", "tree", "table"),
    [
        ("/p/mcp.json", {"servers": {}}, ("servers",)),
        ("/p/mcp.json", {"mcp": {"servers": {}}}, ("mcp", "servers")),
        ("/p/.vscode/mcp.json", {}, ("servers",)),
        ("/p/any.json", {"other": 1}, ("mcpServers",)),
        ("/p/config.toml", {}, ("mcp_servers",)),
    ],
)
def test_a_file_keeps_the_table_that_it_has(path: str, tree: dict[str, object], table: tuple[str, ...]):
    assert entry_for(Path(path), tree).table == table
