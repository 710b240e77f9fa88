"""The first frame imports only Textual. Heavy modules are imported while the user types."""

from pathlib import Path

from tests.terminal.pty_app import TerminalApp

HEAVY = {
    *("mcp", "mcp_types", "openai", "pydantic", "jsonschema", "httpx2", "anyio"),
    *("pygments.lexers", "markdown_it", "sqlite3", "tui.runtime.runtime", "tui.host.host"),
    *("tui.core.servers", "tui.core.secrets.commands_and_urls", "tui.core.secrets.secret_names"),
}
QUIT, F4, ESCAPE = "\x11", "\x1bOS", "\x1b"


def test_no_heavy_module_is_imported_before_the_first_frame(tmp_path: Path):
    report = tmp_path / "modules"
    with TerminalApp.watched(f"modules={report}", "--demo", "--no-start", forks=None) as app:
        app.until(lambda: report.exists() and report.read_text(encoding="utf-8"))
        loaded = set(report.read_text(encoding="utf-8").split())
        assert "textual.app" in loaded
        assert loaded & HEAVY == set()
        parts = {
            name.split(".")[3] for name in loaded if name.startswith("tui.addons.") and name.count(".") > 2
        }
        assert parts <= {"addon", "actions"}, "nothing else of an add-on is needed yet"
        app.shows("sk anything")
        app.quits()


def test_text_typed_during_heavy_imports_appears_before_they_end_and_keys_reach_their_screen():
    with TerminalApp.real("--demo", "--no-start", forks=None) as app:
        app.shows("sk anything", "loading")
        app.send("typed early")
        app.shows("typed early")
        assert "0 of 3" not in app.text
        app.send(F4 + "/slow")
        app.shows("TRAFFIC", "filter › slow", seconds=30)
        app.send(ESCAPE + ESCAPE)
        app.shows("0 of 3", "typed early", seconds=30)
        app.quits()


def test_quitting_during_heavy_imports_is_immediate_and_clean():
    with TerminalApp.real("--demo", forks=None) as app:
        app.shows("sk anything", "loading")
        app.send(QUIT)
        assert app.ended(5) == 0
        assert app.faults_of_the_terminal() == []
        assert b"Traceback" not in app.raw
