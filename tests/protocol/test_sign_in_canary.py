"""The values of a sign-in are only in the token store: in no recording, export, log or message."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.protocol.command import mcptui
from tests.protocol.oauth_server import OAuthServer
from tests.unit.host.sign_in.people import Person, browse
from tui.core.servers import ServerState
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime


def canaries(server: OAuthServer) -> set[str]:
    """Return everything secret that travelled: what was issued, and what mcptui made up."""
    found = set(server.issued)
    for request in server.requests:
        for name, value in {**request.query, **dict(parse_qsl(request.body.decode()))}.items():
            if name in ("state", "code_verifier", "code", "client_assertion", "refresh_token"):
                found.add(value)
    return found


def written() -> Iterator[Path]:
    """Yield every file that mcptui wrote, but for the tokens themselves."""
    for path in Path(os.environ["HOME"]).rglob("*"):
        if path.is_file() and path.parent.name != "sign-in":
            yield path


def leaks(text: str, secrets: set[str]) -> list[str]:
    return sorted(secret for secret in secrets if secret in text)


def recording() -> Path:
    (found,) = Path(os.environ["XDG_STATE_HOME"]).glob("mcptui/recordings/*.mcptrace")
    return found


async def exported() -> str:
    out = ""
    for kind in ("jsonl", "md", "har", "html"):
        done = await mcptui("traffic", str(recording()), "--export", kind)
        assert done.code == 0, done.err
        out += done.out
    return out


def configured(folder: Path, server: OAuthServer, more: str = "") -> str:
    path = folder / "remote.toml"
    path.write_text(f'[servers.safe]\nurl = "{server.url}"\n{more}')
    return str(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"methods": ("client_secret_post",)},
        {"iss": "https://evil.example"},
        {"broken": {"/token": 500}},
        {"expires_in": "canary-not-a-number-of-seconds"},
    ],
    ids=["all is well", "a secret client", "another issuer", "no tokens", "tokens that cannot be read"],
)
async def test_no_value_of_a_sign_in_is_written_anywhere(tmp_path: Path, wrong: dict[str, object]) -> None:
    async with OAuthServer(echoes=True, **wrong) as server:  # type: ignore[arg-type]
        runtime = Runtime(
            Options(config=configured(tmp_path, server), demo=True, trust_config=True), os.environ
        )
        await runtime.ready(start=False)
        sign_ins = runtime.host.sign_ins
        assert sign_ins is not None
        sign_ins.questioner, sign_ins._open_browser = Person(), browse
        await runtime.host.start("safe")
        status = runtime.host.status("safe")
        said = f"{status.detail} {status.next_step} {status.sign_in}"
        if status.state is ServerState.RUNNING:
            (tool,) = runtime.host.toolbox.tools()
            await runtime.host.toolbox.call(tool, {}, seconds=5, progress=lambda *_: None)
            server.revoke()
            await runtime.host.toolbox.call(tool, {}, seconds=5, progress=lambda *_: None)
        await runtime.shutdown()
        secrets = canaries(server)
        assert len(secrets) >= 3 and (wrong or status.state is ServerState.RUNNING)
        assert leaks(said, secrets) == []
        assert leaks(runtime.redactor.redact(" ".join(secrets)), secrets) == []  # so in no crash text
        for path in written():
            assert leaks(path.read_bytes().decode("latin-1"), secrets) == [], path
        assert leaks(await exported(), secrets) == []


async def test_a_configured_client_secret_is_written_nowhere(tmp_path: Path) -> None:
    secret = "canary-client-secret-of-the-configuration"
    more = (
        '[servers.safe.oauth]\ngrant = "client_credentials"\nclient_id = "robot"\n'
        f'client_secret = "{secret}"\n'
    )
    robot = OAuthServer(client=("robot", secret), methods=("client_secret_basic",), echoes=True)
    async with robot as server:
        done = await mcptui(
            "run", "--demo", "--json", "--config", configured(tmp_path, server, more), "add 1 2"
        )
        shown = await mcptui("config", "show", "--config", str(tmp_path / "remote.toml"))
        secrets = canaries(server) | {secret}
    assert done.code == 0 and server.valid
    assert leaks(done.out + done.err + shown.out, secrets) == []
    for path in written():
        assert leaks(path.read_bytes().decode("latin-1"), secrets) == [], path
    assert leaks(await exported(), secrets) == []
