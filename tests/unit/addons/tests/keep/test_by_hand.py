"""A kept call in words."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tui.addons.tests.keep.by_hand import KeptCall, why_not_again
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.keeping import Keeping
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.servers import ServerSpec
from tui.runtime.copies.origin import Origin

CALL = Request(RequestKind.TOOL, "get", {"city": "Oslo"})


def keeping(folder: Path, *others: int) -> Keeping:
    def result(temp: int) -> dict[str, Any]:
        return {"content": [], "structuredContent": {"temp": temp}}

    exchange = Exchange("weather", CALL, result=result(22), ms=7, others=[result(one) for one in others])
    origin = Origin.of_spec(ServerSpec("weather", "python", ("server.py",)), str(folder), configured=True)
    return Keeping.of(exchange, origin, folder, str, is_own=True)


def said(made: Keeping) -> list[str]:
    runtime: Any = SimpleNamespace()
    return [*KeptCall(runtime, made, made.target(), lambda: "1", "").lines()]


def test_what_is_written_where_and_what_varies_is_said(tmp_path: Path):
    file, *rest = said(keeping(tmp_path, 19))
    assert file.endswith("weather.mcp.toml: new file")
    assert rest == [
        "Varies: result.temp, here 22. Expected: <number> (differs in 1 of 1).",
        "compared with 1 other result",
    ]


def test_a_call_that_is_kept_already_is_said_to_be(tmp_path: Path):
    made = keeping(tmp_path)
    made.keep(made.target())
    assert "already kept, with this result, as “get Oslo” in " in said(made)[0]
    assert said(made)[1:] == ["Nothing looks like a time or an id.", "no other result to compare with"]


def test_a_server_that_does_not_run_is_not_called_again(tmp_path: Path):
    made = keeping(tmp_path)
    made = Keeping.of(
        Exchange("weather", CALL, result={"content": []}, hints={"readOnlyHint": True}),
        *(made.origin, tmp_path, str),
        is_own=True,
    )
    stopped: Any = SimpleNamespace(host=SimpleNamespace(find=lambda name: None))
    assert why_not_again(stopped, made) == "Its server is not running here, so it is not called again."
    assert why_not_again(None, made) == "A recording has no server to call again."
