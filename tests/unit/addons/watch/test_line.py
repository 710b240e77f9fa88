"""The keys of the line about a watched server."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.changing_server import tool
from tui.addons.watch.handover import HandoverResult
from tui.addons.watch.line import PAUSED, WatchStatus, toggle, toggle_accepting
from tui.addons.watch.report import RANKS, RestartReport, report_row
from tui.core.permission.definitions import Accepted, DefinitionChange
from tui.core.servers import ServerSpec, ServerStatus
from tui.ui.widgets.bar import key_cap
from tui.ui.widgets.rows import Row, text_of
from tui.ui.workbench.kept_calls import KeptCheck


class Owner:
    """The workbench of a server, with what its keys do written down."""

    def __init__(self, opens: str = "", **spec: Any) -> None:
        self.server = "srv"
        self.said: list[str] = []
        self.set: dict[str, Any] = {}
        self.asked: list[tuple[str, str]] = []
        self.begun = 0
        status = ServerStatus("srv", ServerSpec("srv", "python", ("server.py",), **spec))
        self.watches = SimpleNamespace(paused=set(), begin=self._begin)
        host = SimpleNamespace(reconfigure=lambda name, **fields: self.set.update(fields))
        configuration = SimpleNamespace(choose=lambda name, field, value: self.set.update({field: value}))
        runtime = SimpleNamespace(watches=self.watches, host=host, configuration=configuration)
        runtime.options = SimpleNamespace(opens=opens)
        self.shared = SimpleNamespace(runtime=runtime, configured=lambda: status, choose=lambda chosen: None)
        self.prompt = SimpleNamespace(ask=self._ask)

    def _begin(self) -> None:
        self.begun += 1

    def _ask(self, what: str, use: Any, *, value: str, about: str, placeholder: str) -> None:
        self.asked.append((what, value))
        use(" src/**/*.py, *.json ")

    def notify(self, text: str, timeout: int) -> None:
        self.said.append(text)


@pytest.mark.parametrize(("is_own", "said"), [(True, "need your consent"), (False, "are accepted")])
def test_definitions_are_accepted_or_asked_about(is_own: bool, said: str):
    owner: Any = Owner(is_own=is_own)
    toggle_accepting(owner)
    assert owner.set == {"is_own": not is_own} and said in owner.said[0]


STANDING = [key_cap("L", "accepts definitions"), key_cap("W", "stop watching"), key_cap(".", "auto off")]


@pytest.mark.parametrize(("keys", "end"), [([key_cap("D", "changes")], "   D changes"), ([], "still runs")])
def test_a_long_line_is_shortened_for_a_key_about_the_restart_only(keys: list[Row], end: str):
    line: Any = WatchStatus(SimpleNamespace())
    line._left = ((("! ", "bad"), ("x" * 200, "bad"), (" · the old process still runs", "dim")),)
    line._keys = [*keys, *STANDING]
    text = text_of(line.row(80)).rstrip()
    assert "… · the old process still runs" in text and text.endswith(end) and len(text) == 80


def test_at_80_columns_the_effect_of_a_change_and_the_keys_about_the_restart_remain():
    before, after = tool("get_weather", "city"), tool("get_weather", "city", "days")
    change = DefinitionChange("srv", "get_weather", "new", Accepted("old", before), after)
    report = RestartReport(HandoverResult(True, True, 1.0, changes=[change]), KeptCheck(0, ["Oslo"]))
    line: Any = WatchStatus(SimpleNamespace())
    line._left = [report_row(report, shorter) for shorter in range(RANKS + 1)]
    line._keys = [key_cap("D", "changes"), key_cap("7", "review"), *STANDING]
    text = text_of(line.row(78)).rstrip()
    assert (
        text.startswith("1.0 s · get_weather: breaking · 1 kept differs") and "D changes   7 review" in text
    )


@pytest.mark.parametrize(("opens", "said"), [("", PAUSED), ("srv", "No longer watching.")])
def test_a_watched_server_is_paused_and_watched_again(opens: str, said: str):
    owner: Any = Owner(opens, watch=("*.py",))
    toggle(owner)
    assert owner.watches.paused == {"srv"}
    toggle(owner)
    assert owner.watches.paused == set() and owner.said == [said, "Watching."]


def test_another_one_is_watched_after_asking_for_its_files():
    owner: Any = Owner(is_own=False)
    toggle(owner)
    assert owner.asked[0][0] == "files to watch" and owner.begun == 1
    assert owner.set == {"is_own": True, "watch": ("src/**/*.py", "*.json")}
