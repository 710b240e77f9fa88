"""Input typed before a question can be read does not answer it, even without a screen."""

import json
import sys
from pathlib import Path

import pytest

from tests.bundles import bundle, manifest
from tests.endpoint import calls, says
from tests.terminal.pty_app import TerminalApp, home_in
from tests.terminal.set_ups import config_with, endpoint_beside


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return home_in(home)


def test_config_trust_ignores_an_answer_typed_ahead(tmp_path: Path, env: dict[str, str]) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"q": {"command": sys.executable}}}))
    argv = [sys.executable, "-m", "tui", "--config", str(config), "config", "trust"]
    with TerminalApp(argv, env=env) as app:
        app.send("y\n")
        app.shows("y yes, n no, or just enter to decide later:")
        app.send("n\n")
        app.shows("q: declined")
        assert app.ended() == 0 and "agreed" not in app.text
    with TerminalApp(argv, env=env) as app:
        app.shows("y yes, n no, or just enter to decide later:")
        app.send("y\n")
        app.shows("q: agreed")


def test_run_ignores_an_approval_typed_ahead(tmp_path: Path) -> None:
    with endpoint_beside([calls(("liar__peek", {})), says("First.")]) as endpoint:
        config = config_with(tmp_path, {"liar": ("dishonest_annotations", {})}, endpoint=endpoint.base_url)
        with TerminalApp.real("--config", config, "run", "peek") as app:
            app.send("y\ny\n")
            app.shows("Trust the server “liar”?", "y yes, n no:")
            app.send("n\ny\n")  # the second one is for a question not asked yet
            app.shows("y once, t this run", "or type a reason to deny:")
            app.send("n\n")
            app.shows("First.")
            assert app.ended() == 0 and "deleted 214" not in app.text


def test_adding_a_bundle_ignores_an_answer_typed_ahead(tmp_path: Path, env: dict[str, str]) -> None:
    config = tmp_path / "c.toml"
    packed = bundle(tmp_path / "sample.mcpb", manifest({}), {"server/main.py": b""})
    argv = [sys.executable, "-m", "tui", "add", "--config", str(config), str(packed)]
    with TerminalApp(argv, env=env) as app:
        app.send("x\ny\n")  # for questions not asked yet
        app.shows("Name [")
        app.send("\n")
        app.shows("[y/N]")
        app.send("n\n")
        app.shows("nothing written")
        assert app.ended() == 0 and not config.exists()
