"""What `mcptui servers --extensions` prints of a server."""

import pytest

from tui.commands.server_extensions import ServerExtensions, extension_id
from tui.core.comparison.offers import OfferChange
from tui.core.comparison.values import Change
from tui.core.errors import UsageError
from tui.core.jsonrpc.extensions import TASKS, UI, OurSide
from tui.core.jsonrpc.protocol import MODERN
from tui.core.servers import ServerSpec, ServerState, ServerStatus
from tui.core.workbench import ServerIdentity

STATUS = ServerStatus("srv", ServerSpec("srv"), state=ServerState.RUNNING)
IDENTITY = ServerIdentity(
    protocol=MODERN, extensions=tuple(OurSide(MODERN).uses({UI: {}, "com.example/\x1b[31mown": {"level": 2}}))
)


def test_each_extension_has_a_line_with_both_sides():
    text = "\n".join(ServerExtensions(STATUS, IDENTITY, ("logging",)).lines())
    assert text.startswith(f"● srv  {MODERN}  modern") and "\x1b" not in text
    assert "not used       Apps" in text and "declared by the server only  not rendered  stable" in text
    assert "not offered    Tasks" in text and "declared by mcptui only" in text
    assert '{"level": 2}' in text and "deprecated     logging" in text


def test_a_server_without_any_says_so():
    report = ServerExtensions(STATUS, ServerIdentity(protocol="2025-11-25"), ())
    assert list(report.lines()) == ["● srv  2025-11-25  legacy", "    No extensions"]


def test_what_changes_without_an_extension_is_named():
    change = OfferChange("tools", "search", Change.CHANGED, ("_meta",), ("- _meta.ui: …",))
    report = ServerExtensions(STATUS, IDENTITY, (), without=(change,), title="Apps")
    assert list(report.lines())[-3:] == [
        "    without Apps: 1 tool changed",
        "        tool search: _meta changed",
        "            - _meta.ui: …",
    ]
    assert report.as_object()["without"][0]["where"] == ["_meta"]


def test_the_object_has_ids_and_settings():
    (apps, *_, own) = ServerExtensions(STATUS, IDENTITY, ()).as_object()["extensions"]
    assert (apps["id"], apps["server"], apps["mcptui"], apps["use"]) == (UI, True, False, "not used")
    assert own["title"] is None and own["settings"] == {"level": 2}


def test_an_extension_is_named_by_its_id_or_its_last_part():
    assert extension_id("tasks") == extension_id(TASKS) == TASKS
    with pytest.raises(UsageError, match="unknown extension nothing"):
        extension_id("nothing")
