"""The app with a configuration from elsewhere, in a terminal."""

import asyncio
import json
import sys
from pathlib import Path

from tests.endpoint import Endpoint, says
from tests.protocol.command import doubtful
from tests.terminal.pty_app import TerminalApp, home_in


def stored(home: Path, kind: str) -> bool:
    """Return whether an answer is on disk. A terminal app is killed at its end, perhaps before that."""
    file = home / "mcptui" / "consents.json"
    return file.exists() and bool(json.loads(file.read_text("utf-8"))[kind])


def test_a_planted_server_is_shown_and_runs_only_after_consent_which_is_kept(tmp_path: Path):
    planted, home = tmp_path / "EXECUTED", tmp_path / "home"
    home.mkdir()
    code = f"open({str(planted)!r}, 'w')"
    config = tmp_path / "mcp.json"
    config.write_text(
        json.dumps({"mcpServers": {"planted": {"command": sys.executable, "args": ["-c", code]}}})
    )
    argv = [sys.executable, "-m", "tui", "--demo", "--config", str(config)]

    with TerminalApp(argv, env=home_in(home)) as app:
        app.shows("“planted” comes from the file")
        assert "One of the arguments is program code." in app.text and not planted.exists()
        app.until(lambda: "“planted” comes from" not in app.text or app.send(b"\x18"))  # ctrl+x
        app.shows("needs consent")
        app.until(lambda: stored(home, "refused"))
        assert not planted.exists()

    with TerminalApp(argv, env=home_in(home)) as app:  # the refusal is kept until the user starts it
        app.shows("needs consent")
        assert "“planted” comes from the file" not in app.text and not planted.exists()
        app.send(b"\x1bOR")  # f3
        app.shows("s start")
        app.send("s")
        app.shows("“planted” comes from the file")
        app.until(lambda: planted.exists() or app.send(b"\x13"))  # ctrl+s
        app.until(lambda: stored(home, "consents"))
    planted.unlink()

    asyncio.run(doubtful("servers", "--config", str(config), **home_in(home)))
    assert planted.exists()


def test_a_file_from_elsewhere_cannot_swap_the_keys_of_its_own_question(tmp_path: Path):
    planted, home = tmp_path / "EXECUTED", tmp_path / "home"
    home.mkdir()
    config = tmp_path / "f.toml"
    code = json.dumps(f"open({str(planted)!r}, 'w')")
    config.write_text(
        f"[servers.planted]\ncommand = {json.dumps(sys.executable)}\nargs = ['-c', {code}]\n"
        '[ui.keys]\n"ask.send" = "ctrl+x"\n"ask.decline" = "ctrl+s"\n'
    )
    argv = [sys.executable, "-m", "tui", "--demo", "--config", str(config)]
    with TerminalApp(argv, env=home_in(home)) as app:
        app.shows("“planted” comes from the file")
        assert "ctrl+s yes" in app.text and "ctrl+x no" in app.text
        app.until(lambda: "“planted” comes from" not in app.text or app.send(b"\x18"))  # ctrl+x
        app.shows("needs consent")
        assert not planted.exists()


def unwrapped(app: TerminalApp) -> str:
    """Return the text of the screen on one line, since the length of a path determines where a line wraps."""
    return " ".join(app.text.replace("│", " ").split())


async def test_nothing_is_sent_to_a_model_from_elsewhere_before_consent_which_is_kept(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    env = {**home_in(home), "OPENAI_API_KEY": "sk-canary-5512abc"}
    async with Endpoint([says("Hello.")], models=["m"]) as endpoint:
        config = tmp_path / "f.toml"
        model = f'base_url = "{endpoint.base_url}"\nmodel = "m"\napi_key = "${{OPENAI_API_KEY}}"\n'
        config.write_text(f"[servers]\n[models.x]\n{model}")
        argv = [sys.executable, "-m", "tui", "--config", str(config)]

        def refuse() -> None:
            with TerminalApp(argv, env=env) as app:
                app.shows("“models.x” comes from the file")
                assert "value of OPENAI_API_KEY" in app.text and "sk-canary" not in app.text
                app.until(lambda: "“models.x” comes from" not in app.text or app.send(b"\x18"))  # ctrl+x
                app.until(lambda: "needs your consent" in unwrapped(app))
                app.until(lambda: stored(home, "refused"))

        await asyncio.to_thread(refuse)
        assert endpoint.connections == 0

        def agree() -> None:
            with TerminalApp(argv, env=env) as app:  # the refusal is kept until the user selects the model
                app.until(lambda: "needs your consent" in unwrapped(app))
                assert "“models.x” comes from the file" not in app.text and not endpoint.connections
                app.send(b"\x1b[21~")  # f10
                app.shows("find ›", "built in")
                app.send("x")
                app.until(lambda: "built in" not in app.text)
                app.send("\r")
                app.shows("“models.x” comes from the file")
                app.until(lambda: bool(endpoint.others) or app.send(b"\x13"))  # ctrl+s
                app.until(lambda: stored(home, "consents"))

        await asyncio.to_thread(agree)
        assert endpoint.others[0].headers["authorization"] == "Bearer sk-canary-5512abc"
        assert (await doubtful("run", "--config", str(config), "hi", **env)).out == "Hello.\n"
