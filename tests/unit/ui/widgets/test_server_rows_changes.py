"""Changed definitions in the servers pane."""

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
    assert any("1 definition not accepted yet, not offered" in row for row in rows(1))
    assert any("2 definitions not accepted yet, not offered" in row for row in rows(2))


def test_a_server_with_accepted_definitions_has_no_mark() -> None:
    assert not any("accepted" in row for row in rows(0))


def hidden_rows(*hidden: tuple[str, str], unfolded: bool = False) -> str:
    status = ServerStatus("calc", ServerSpec("calc"), state=ServerState.RUNNING, tools=3, hidden=hidden)
    look = Look(columns=78, name_cells=4, symbols=UNICODE, turn=0, now_ns=0, redactor=Redactor())
    return "\n".join(text_of(row) for row in server_rows(status, look, selected=False, unfolded=unfolded))


def test_a_server_with_hidden_text_is_marked_with_its_location() -> None:
    add, sub = ("add", "description (HTML comment)"), ("sub", "title (invisible characters)")
    said = ("instructions", "invisible characters")
    assert "! 1 tool has hidden text" in hidden_rows(add)
    assert "! 2 tools have hidden text" in hidden_rows(add, sub)
    assert "! the instructions have hidden text" in hidden_rows(said)
    assert "! 1 tool and the instructions have hidden text" in hidden_rows(said, add)
    assert "hidden    add: description (HTML comment)" in hidden_rows(add, unfolded=True)
