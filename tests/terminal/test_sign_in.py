"""`mcptui login` and `logout` on a terminal: a question, a browser, and tokens that later commands use."""

import asyncio
import re
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import programs
from tests.protocol.command import mcptui
from tests.protocol.oauth_server import OAuthServer
from tests.terminal.plain_session import PipedPlain
from tests.terminal.pty_app import TerminalApp, home_in
from tests.unit.host.sign_in.people import final_address
from tui.ui.keys.answer_pause import GRACE_SECONDS

OPEN = "\x13"  # ctrl+s
BROWSER = """
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=10).read()
"""


@contextmanager
def served(server: OAuthServer) -> Iterator[OAuthServer]:
    """Run a server in a thread, since the terminal is read without an event loop."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return an environment with a browser, and forget the keychain of this machine."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setitem(sys.modules, "keyring", None)
    browser = tmp_path / "browser.py"
    browser.write_text(BROWSER)
    return home_in(tmp_path) | {
        "BROWSER": f"{shlex.join(programs.command(browser))} %s",
        "SSH_CONNECTION": "",
        "SSH_TTY": "",
    }


def ripe(app: TerminalApp) -> None:
    """Wait until keys answer the question: they are ignored during the grace time."""
    began = time.monotonic()
    app.until(lambda: time.monotonic() - began > GRACE_SECONDS + 0.2)


def configured(folder: Path, server: OAuthServer) -> str:
    path = folder / "remote.toml"
    path.write_text(f'[servers.safe]\nurl = "{server.url}"\n')
    return str(path)


def test_login_asks_and_opens_a_browser_and_later_commands_are_signed_in(
    tmp_path: Path, home: dict[str, str]
) -> None:
    with served(OAuthServer()) as server:
        config = configured(tmp_path, server)
        with TerminalApp.real("login", "safe", "--config", config, env=home) as app:
            app.shows("The server “safe” requires signing in at 127.0.0.1:", "Open it in your browser?")
            assert not server.asked("/authorize")  # nothing is fetched before the confirmation
            app.send("y\n")
            app.shows("safe: signed in until")
            app.until(lambda: "mode 0600" in app.text.replace("\n", ""))  # the path may be long
            assert app.process.wait() == 0
        done = asyncio.run(mcptui("servers", "--config", config, **home))
        assert done.code == 0 and "signed in until" in done.out
        done = asyncio.run(mcptui("logout", "safe", "--config", config, **home))
        assert done.out == "safe: signed out, 1 sign-in deleted.\n"
        done = asyncio.run(mcptui("servers", "--config", config, **home))
        assert done.code == 5 and "requires signing in" in done.out and "mcptui login safe" in done.out


ROBOT = 'grant = "client_credentials"\nclient_id = "robot"\nclient_secret = "${ROBOT}"\n'


@contextmanager
def robot(tmp_path: Path, home: dict[str, str]) -> Iterator[tuple[OAuthServer, Path, dict[str, str]]]:
    """A server that a configured client has signed in to, its configuration, and the environment."""
    client = ("robot", "canary-robot")
    with served(OAuthServer(client=client, methods=("client_secret_basic",), revokes=True)) as server:
        path = (
            Path(home["XDG_CONFIG_HOME"]) / "mcptui" / "config.toml"
        )  # the user's own file needs no consent
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'[servers.safe]\nurl = "{server.url}"\n[servers.safe.oauth]\n{ROBOT}')
        env = home | {"ROBOT": client[1]}
        done = asyncio.run(mcptui("login", "safe", **env))
        assert done.code == 0, done.err
        yield server, path, env


def test_logout_revokes_as_the_configured_client_even_for_a_disabled_server(
    tmp_path: Path, home: dict[str, str]
) -> None:
    with robot(tmp_path, home) as (server, path, env):
        path.write_text(path.read_text().replace("[servers.safe]\n", "[servers.safe]\ndisabled = true\n"))
        done = asyncio.run(mcptui("logout", "safe", **env))
        assert (done.code, done.out) == (0, "safe: signed out, 1 sign-in deleted. Tokens revoked.\n")
        assert not server.valid and "authorization" in server.asked("/revoke")[0].headers


@pytest.mark.parametrize("is_configured", [True, False])
def test_logout_deletes_the_tokens_of_an_unusable_server(
    tmp_path: Path, home: dict[str, str], is_configured: bool
) -> None:
    with robot(tmp_path, home) as (_server, path, env):
        del env["ROBOT"]
        if not is_configured:
            path.write_text('[servers.other]\ncommand = "true"\n')
        done = asyncio.run(mcptui("logout", "safe", **env))
        assert done.code == 0 and "safe: signed out, 1 sign-in deleted. Not revoked: " in done.out
        assert "HTTP 401 (invalid_client)" in done.out and ("ROBOT" in done.out) is is_configured
        assert "The tokens work until they expire." in done.out
        done = asyncio.run(mcptui("logout", "safe", **env))
        assert "signed out" not in done.out


def test_remove_revokes_the_tokens_that_it_deletes(tmp_path: Path, home: dict[str, str]) -> None:
    with robot(tmp_path, home) as (server, path, env):
        done = asyncio.run(mcptui("remove", "safe", **env))
        assert done.code == 0 and "its tokens were also deleted. Tokens revoked.\n" in done.out
        assert not server.valid and "[servers.safe]" not in path.read_text()


def test_remove_warns_that_tokens_that_were_not_revoked_still_work(
    tmp_path: Path, home: dict[str, str]
) -> None:
    with robot(tmp_path, home) as (server, _path, env):
        server.broken = {"/revoke": 503}
        done = asyncio.run(mcptui("remove", "safe", **env))
        assert "Not revoked: 127.0.0.1 returned HTTP 503" in done.out and "until they expire" in done.out


def test_over_ssh_the_address_is_shown_and_the_redirect_is_pasted(
    tmp_path: Path, home: dict[str, str]
) -> None:
    home["SSH_CONNECTION"] = "10.0.0.1 5 10.0.0.2 22"
    with served(OAuthServer()) as server:
        config = configured(tmp_path, server)
        with TerminalApp.real("login", "safe", "--config", config, env=home, columns=700) as app:
            app.shows("paste the URL from its address bar")
            found = re.search(r"http://127\S+/authorize\S+", app.text)
            assert found is not None
            app.send(f"{final_address(found[0])}\n")
            app.shows("safe: signed in until")
            assert app.process.wait() == 0


def test_in_plain_mode_the_address_is_a_line_and_the_redirect_is_pasted(
    tmp_path: Path, home: dict[str, str]
) -> None:
    home["SSH_CONNECTION"] = "10.0.0.1 5 10.0.0.2 22"
    with served(OAuthServer()) as server:
        config = configured(tmp_path, server)
        with PipedPlain("--demo", "--config", config, env=home) as session:
            session.until(lambda: "server: safe: It requires signing in. /login safe" in session.raw.decode())
            session.type("/login safe")
            session.until(lambda: "question: Answer with a number" in session.raw.decode())
            session.type("1")
            session.until(lambda: "question: Open the URL in a browser" in session.raw.decode())
            found = re.search(r"http://127\S+/authorize\S+", session.raw.decode())
            assert found is not None
            session.type(final_address(found[0]))
            session.until(lambda: "mcptui: Signed in." in session.raw.decode())
            session.until(lambda: "server: safe, RUNNING" in session.raw.decode())
            assert session.ended() == 0


def test_a_url_without_a_configuration_can_be_signed_in_to_and_called(
    tmp_path: Path, home: dict[str, str]
) -> None:
    with served(OAuthServer()) as server:
        done = asyncio.run(mcptui("call", server.url, "add", **home))
        assert done.code == 5 and f"mcptui login {server.url}" in done.err
        with TerminalApp.real("login", server.url, env=home) as app:
            app.shows("Open it in your browser?")
            app.send("y\n")
            app.shows("signed in until")
            assert app.process.wait() == 0
        done = asyncio.run(mcptui("call", server.url, "add", **home))
        assert (done.code, done.out) == (0, "3\n")


def test_a_call_on_a_terminal_offers_the_sign_in(tmp_path: Path, home: dict[str, str]) -> None:
    with served(OAuthServer()) as server, TerminalApp.real("call", server.url, "add", env=home) as app:
        app.shows("Open it in your browser?")
        app.send("y\n")
        app.until(lambda: app.process.poll() is not None)
        assert app.process.wait() == 0


def test_answering_no_declines_the_sign_in(tmp_path: Path, home: dict[str, str]) -> None:
    with served(OAuthServer()) as server:
        config = configured(tmp_path, server)
        with TerminalApp.real("login", "safe", "--config", config, env=home) as app:
            app.shows("Open it in your browser?")
            app.send("n\n")
            app.shows("which was declined")
            assert app.process.wait() == 5
            assert not server.asked("/authorize")


def test_a_local_server_and_an_unknown_one_are_reported(tmp_path: Path, home: dict[str, str]) -> None:
    path = tmp_path / "local.toml"
    path.write_text('[servers.local]\ncommand = "true"\n')
    done = asyncio.run(mcptui("login", "local", "--config", str(path), **home))
    assert done.code == 2 and "The server “local” is local." in done.err
    done = asyncio.run(mcptui("login", "other", "--config", str(path), **home))
    assert done.code == 2 and "Configured servers: local" in done.err


def test_the_app_asks_in_a_dialog_and_shows_who_is_signed_in(tmp_path: Path, home: dict[str, str]) -> None:
    with served(OAuthServer()) as server:
        config = configured(tmp_path, server)
        with TerminalApp.real("--config", config, "--demo", env=home) as app:
            app.shows("safe STOPPED", "needs sign-in")
            app.send("/login safe\r")
            app.shows("The server “safe” requires signing in", "open in the browser", "needs sign-in")
            ripe(app)
            app.send(OPEN)
            app.shows("safe RUNNING", "1 tool")
            app.send("/logout safe\r")
            app.shows("safe: signed out, tokens deleted.", "safe STOPPED")
            app.send("/login safe\r")
            app.shows("The server “safe” requires signing in")
            ripe(app)
            app.send(OPEN)
            app.shows("safe RUNNING", "safe: signed in until")
