"""The first frame costs nothing but Textual; the heavy parts load while the person writes."""

from pathlib import Path

from tests.terminal.pty_app import TerminalApp

HEAVY = {"mcp", "mcp_types", "openai", "pydantic", "jsonschema", "httpx2", "pygments.lexers", "sqlite3"}


def test_nothing_heavy_is_loaded_when_the_first_frame_is_painted(tmp_path: Path):
    report = tmp_path / "modules"
    with TerminalApp.fake("real", str(report)) as app:
        app.until(report.exists)
        loaded = set(report.read_text(encoding="utf-8").split())
        assert "textual" in loaded
        assert loaded & HEAVY == set()
        app.shows("Ask anything")
        app.send("\x11")
        app.ended()


def test_what_is_typed_while_the_heavy_parts_load_is_there(tmp_path: Path):
    with TerminalApp.fake("real", str(tmp_path / "modules")) as app:
        app.shows("Ask anything", "loading")
        app.send("typed early")
        app.shows("typed early")
        app.shows("running", seconds=30)
        assert "typed early" in app.text
        app.send("\x11")
        assert app.ended() == 0
