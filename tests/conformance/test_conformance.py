"""The official conformance suite: each client scenario separately, over the ordinary host (`client.py`)."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.conformance.client import play
from tests.conformance.player import Player
from tests.conftest import until
from tests.protocol.command import Done, finish
from tests.real.installed import CONFORMANCE, NODE_22, needs
from tests.unit.host.sign_in.people import browse

pytestmark = [*needs(CONFORMANCE, NODE_22), pytest.mark.timeout(120)]

HERE = Path(__file__).parent

SIGN_IN = (
    *("metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd"),
    *("scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined"),
    *("scope-step-up", "scope-retry-limit", "token-endpoint-auth-basic", "token-endpoint-auth-post"),
    *("token-endpoint-auth-none", "pre-registration"),
)
SKILLS = ("no-prefetch", "verify-digest", "verify-size", "verify-frontmatter")
REQUIRED = {
    "2025-11-25": (
        *("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"),
        "json-schema-2020-12-preservation",
        *(f"auth/{name}" for name in SIGN_IN),
    ),
    "2026-07-28": (
        "tools_call",
        "request-metadata",
        *(f"auth/{name}" for name in SIGN_IN),
        *("auth/resource-mismatch", "auth/offline-access-scope", "auth/offline-access-not-supported"),
        *("auth/authorization-server-migration", "auth/iss-supported", "auth/iss-not-advertised"),
        *("auth/iss-supported-missing", "auth/iss-wrong-issuer", "auth/iss-unexpected"),
        *("auth/iss-normalized", "auth/metadata-issuer-mismatch", "sep-2322-client-request-state"),
        *("http-standard-headers", "http-custom-headers", "http-invalid-tool-headers"),
        *("json-schema-ref-no-deref", "json-schema-2020-12-preservation"),
    ),
    "2025-03-26": ("auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"),
    "": (
        *("auth/client-credentials-jwt", "auth/client-credentials-basic"),
        *(f"sep-2640-client-{name}" for name in SKILLS),
    ),
}
"""The scenarios that a revision requires of a client. "" has those of extensions."""


async def suite(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        NODE_22,
        CONFORMANCE,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )


@pytest.fixture(autouse=True)
def browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sign in without asking: the user is already signed in at the authorization server."""
    monkeypatch.setenv("DISPLAY", ":0")
    for name in ("SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("webbrowser.open", browse)


async def played(player: Player, scenario: str, revision: str, folder: Path) -> tuple[Done, str]:
    """Play a scenario. Return the output of the suite, and the problem of the client."""
    os.mkfifo(folder / "status")
    given = ["--command", f"sh {HERE / 'relay.sh'}", "--scenario", scenario, "--timeout", "60000"]
    if revision:
        given += ["--spec-version", revision]
    playing = asyncio.ensure_future(asyncio.wait_for(player.play("client", *given, RELAY=str(folder)), 90))
    await until(lambda: (folder / "call").exists() or playing.done(), 40.0, "the suite asks for the client")
    assert not playing.done(), playing.result()
    url, name, context = (folder / "call").read_text().splitlines()
    problem = "the client raised"
    # Open for both, so that it does not block without a reader.
    with (folder / "status").open("r+b", buffering=0) as status:
        try:
            problem = await play(name, url, json.loads(context or "{}"), folder)
        finally:
            status.write(f"{int(bool(problem))}\n".encode())
            found = await playing
    return found, problem


@pytest.mark.parametrize(
    ("scenario", "revision"), [(name, revision) for revision, names in REQUIRED.items() for name in names]
)
async def test_the_conformance_suite_reports_no_failures(
    player: Player, scenario: str, revision: str, tmp_path: Path
):
    found, problem = await played(player, scenario, revision, tmp_path)
    assert found.code == 0, f"{found.out}\n{found.err}\nthe client said: {problem}"
    assert "Passed: 0/" not in found.err and "0 failed, 0 warnings" in found.err


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_every_client_scenario_required_by_a_revision_is_run(revision: str):
    listed = await finish(await suite("list", "--requirements", revision), seconds=30)
    _, _, clients = listed.out.partition("Client scenarios")
    required = {line.split()[1] for line in clients.splitlines() if line.startswith("  - ")}
    assert required and required <= set(REQUIRED[revision])
