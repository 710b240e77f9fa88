"""Definitions that changed, in the servers pane."""

from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, ServerState, ServerStatus
from tui.ui.widgets.rows import text_of
from tui.ui.widgets.server_rows import Look, server_rows
from tui.ui.widgets.symbols import UNICODE


def rows(changes: int) -> list[str]:
    status = ServerStatus("calc", ServerSpec("calc"), state=ServerState.RUNNING, tools=3, changes=changes)
    look = Look(columns=78, name_cells=4, symbols=UNICODE, turn=0, now_ns=0, redactor=Redactor())
    return [text_of(row) for row in server_rows(status, look, selected=False, unfolded=False)]


def test_a_server_whose_tools_changed_is_marked() -> None:
    assert any("1 definition changed since you accepted it, not offered" in row for row in rows(1))
    assert any("2 definitions changed since you accepted them, not offered" in row for row in rows(2))


def test_a_server_as_it_was_accepted_has_no_mark() -> None:
    assert not any("accepted" in row for row in rows(0))
