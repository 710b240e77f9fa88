"""Signing in from the composer, and where its state is shown."""

import time
from dataclasses import replace

from tests.conftest import until
from tests.ui.app_stage import opened, send, shows
from tests.ui.fake_host import FakeHost, running
from tests.ui.fakes import FakeRuntime
from tui.core.servers import ServerSpec, ServerState, ServerStatus, Transport

REMOTE = ServerStatus(
    "safe",
    ServerSpec("safe", transport=Transport.HTTP, url="https://mcp.example/mcp"),
    ServerState.RUNNING,
    tools=1,
    sign_in="not signed in",
)


def with_servers(*statuses: ServerStatus) -> FakeRuntime:
    runtime = FakeRuntime()
    runtime.host = FakeHost(*statuses)  # type: ignore[assignment]
    return runtime


async def test_login_signs_in_restarts_the_server_and_shows_where_the_tokens_are_stored():
    runtime = with_servers(REMOTE)
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/login safe")
        await shows(app, "safe: signed in until 14:30. Tokens are stored in the keychain.")
        assert runtime.host.asked == [("sign in", "safe"), ("restart", "safe")]


async def test_logout_deletes_the_tokens():
    runtime = with_servers(REMOTE)
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/logout safe")
        await shows(app, "safe: signed out, tokens deleted.")
        assert runtime.host.asked == [("sign out", "safe")]


async def test_login_without_a_name_lists_the_remote_servers():
    async with opened(with_servers(running("local"), REMOTE)) as (app, pilot):
        await send(pilot, "/login")
        await shows(app, "SIGN IN", "safe   not signed in")
        await pilot.press("enter")
        await until(lambda: app.main.composer.text == "/login safe")


async def test_the_servers_pane_shows_what_a_server_waits_for():
    now = time.monotonic_ns()
    starting = replace(REMOTE, state=ServerState.STARTING, sign_in="waiting for the browser", since_ns=now)
    async with opened(with_servers(starting)) as (app, _):
        await shows(app, "STARTING", "waiting for the")
