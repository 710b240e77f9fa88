"""Signing in to a remote server, and that none of its secrets is written or printed."""

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.conftest import until
from tests.hosts import called, host_of
from tests.protocol.command import mcptui, recordings
from tests.protocol.oauth_server import OAuthServer
from tests.unit.host.sign_in.people import Person, browse
from tui.core.errors import ServerError
from tui.core.questions import Action, AddressQuestion, QuestionAnswer
from tui.core.secrets.redact import Redactor
from tui.core.servers import OAuthSpec, ServerSpec, ServerState, StopReason, Transport
from tui.core.traffic import PROBE_METHOD, Captured, Entry, Outcome
from tui.host.server.host_context import Answerers, Remembered
from tui.host.sign_in.token_store import TokenStore
from tui.host.transports import http_sse
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.traffic.lint.lint import Linter
from tui.traffic.record.entry_reader import EntryReader


class Stage:
    """A host with one remote server."""

    def __init__(self, folder: Path, url: str, person: Person | None = None, **spec: object) -> None:
        self.person = person or Person()
        self.captured: list[Captured] = []
        self.redactor = Redactor()
        self.host = host_of(
            ServerSpec("safe", **{"transport": Transport.HTTP, "url": url, **spec}),
            sink=self.captured.append,
            redactor=self.redactor,
            answerers=Answerers(questioner=self.person),
            remembered=Remembered(tokens=TokenStore(folder, use_keychain=False)),
        )
        sign_ins = self.host.sign_ins
        assert sign_ins is not None
        sign_ins.open_browser = browse

    async def __aenter__(self) -> "Stage":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.host.shutdown()

    @property
    def status(self):  # type: ignore[no-untyped-def]
        return self.host.status("safe")

    async def call(self):  # type: ignore[no-untyped-def]
        return await called(self.host, seconds=2)


async def test_after_signing_in_the_tools_of_a_server_can_be_called(tmp_path: Path) -> None:
    async with OAuthServer() as server, Stage(tmp_path, server.url) as stage:
        await stage.host.start("safe")
        assert stage.status.state is ServerState.RUNNING and stage.status.tools == 1
        assert stage.status.sign_in.startswith("signed in until")
        assert (await stage.call()).content[0].text == "3"
        assert len(stage.person.questions) == 1


async def test_the_timeout_of_the_start_is_paused_during_the_sign_in(tmp_path: Path) -> None:
    answer = asyncio.Event()

    class Slow(Person):
        async def ask(self, question):  # type: ignore[no-untyped-def]
            self.questions.append(question)
            await answer.wait()
            return QuestionAnswer(Action.ACCEPT)

    async with (
        OAuthServer() as server,
        Stage(tmp_path, server.url, Slow(), start_seconds=2) as stage,
    ):
        starting = asyncio.create_task(stage.host.start("safe"))
        await until(lambda: stage.person.questions)
        await asyncio.sleep(2.2)  # longer than the timeout of the start
        assert stage.status.state is ServerState.STARTING
        assert stage.status.sign_in == "waiting for you"
        answer.set()
        await starting
        assert stage.status.state is ServerState.RUNNING


async def test_the_timeout_of_a_call_is_paused_while_the_user_grants_more_scopes(tmp_path: Path) -> None:
    class Slow(Person):
        async def ask(self, question):  # type: ignore[no-untyped-def]
            self.questions.append(question)
            if len(self.questions) > 1:
                await asyncio.sleep(2.2)  # longer than the timeout of the call
            return QuestionAnswer(Action.ACCEPT)

    async with OAuthServer(scopes={"tools/call": "write"}) as server:
        async with Stage(tmp_path, server.url, Slow()) as stage:
            await stage.host.start("safe")
            result = await stage.call()
            assert not result.is_error and len(stage.person.questions) == 2


async def test_declining_more_scopes_fails_only_that_call(tmp_path: Path) -> None:
    def answer(question: AddressQuestion) -> QuestionAnswer:
        return QuestionAnswer(Action.DECLINE if "write" in question.message else Action.ACCEPT)

    async with OAuthServer(scopes={"tools/list": "read", "tools/call": "write"}) as server:
        async with Stage(tmp_path, server.url, Person(answer)) as stage:
            await stage.host.start("safe")
            result = await stage.call()
            assert result.is_error and ", which was declined" in result.content[0].text
            assert stage.status.state is ServerState.RUNNING
            assert stage.status.sign_in.startswith("signed in until")


async def test_declining_ends_the_start_as_a_sign_in_that_waits_after_one_question(tmp_path: Path) -> None:
    person = Person(lambda question: QuestionAnswer(Action.DECLINE))
    async with OAuthServer() as server, Stage(tmp_path, server.url, person) as stage:
        await stage.host.start("safe")
        assert stage.status.state is ServerState.STOPPED
        assert stage.status.detail == "it requires signing in, which was declined."
        assert stage.status.reason is StopReason.NEEDS_SIGN_IN and not stage.status.failed
        assert stage.status.next_step == "Press s to sign in."
        assert stage.status.sign_in == "not signed in" and len(person.questions) == 1


async def test_a_start_that_could_ask_nobody_does_not_claim_that_the_user_declined(tmp_path: Path) -> None:
    async with OAuthServer() as server:
        (tmp_path / "c.toml").write_text(f'[servers.safe]\nurl = "{server.url}"\n')
        listed = await mcptui("servers", "--config", str(tmp_path / "c.toml"), "--trust-config")
    assert "it requires signing in. Sign in with `mcptui login safe`.\n" in listed.out


class Forever(Person):
    """Answers nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.withdrawn: list[object] = []

    async def ask(self, question):  # type: ignore[no-untyped-def]
        self.questions.append(question)
        try:
            await asyncio.Event().wait()
        finally:
            self.withdrawn.append(question)


async def leave(stage: Stage, how: str) -> None:
    """Stop, remove or replace the server."""
    spec = stage.status.spec
    match how:
        case "stop":
            await stage.host.stop("safe")
        case "remove":
            await stage.host.remove("safe")
        case "replace":
            await stage.host.replace(replace(spec, headers={"x-edited": "1"}))


@pytest.mark.parametrize("how", ["stop", "remove", "replace"])
async def test_a_server_that_leaves_during_its_start_withdraws_its_question(tmp_path: Path, how: str) -> None:
    person = Forever()
    async with OAuthServer() as server, Stage(tmp_path, server.url, person) as stage:
        starting = asyncio.create_task(stage.host.start("safe"))
        await until(lambda: person.questions)
        await leave(stage, how)
        await starting
        assert person.withdrawn == person.questions and len(person.questions) == 1


@pytest.mark.parametrize("how", ["remove", "replace"])
async def test_a_sign_in_on_request_ends_when_its_server_leaves(tmp_path: Path, how: str) -> None:
    person = Forever()
    async with OAuthServer() as server, Stage(tmp_path, server.url, person) as stage:
        signing_in = asyncio.create_task(stage.host.sign_in("safe"))
        await until(lambda: person.questions)
        await leave(stage, how)
        with pytest.raises(ServerError, match="was cancelled: its configuration changed"):
            await signing_in
        assert person.withdrawn == person.questions


async def test_a_refused_configured_header_is_reported_without_a_sign_in_question(tmp_path: Path) -> None:
    headers = {"Authorization": "Bearer canary-old"}
    async with OAuthServer() as server, Stage(tmp_path, server.url, headers=headers) as stage:
        await stage.host.start("safe")
        assert (
            "401" in stage.status.detail
            and "The server rejected the configured Authorization header. Check headers."
            in stage.status.next_step
        )
        assert stage.person.questions == []


async def test_a_header_can_come_from_the_keychain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import ModuleType

    keyring = ModuleType("keyring")
    keyring.get_password = lambda service, name: "canary-kept"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    headers = {"Authorization": "Bearer keyring:mcptui/safe"}
    async with OAuthServer() as server, Stage(tmp_path, server.url, headers=headers) as stage:
        server.valid["canary-kept"] = ""
        await stage.host.start("safe")
        assert stage.status.state is ServerState.RUNNING
        assert stage.redactor.redact("canary-kept") != "canary-kept"


async def test_the_requests_of_a_sign_in_are_recorded_as_events_without_their_values(tmp_path: Path) -> None:
    async with OAuthServer() as server, Stage(tmp_path, server.url) as stage:
        await stage.host.start("safe")
        told = [one.detail for one in stage.captured if one.detail.get("event") == "sign-in"]
        assert [one["url"].removeprefix(server.origin) for one in told] == [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
            "/register",
            "/token",
        ]
        assert told[-1]["sent"]["code"] == "[redacted:code]" and "canary" not in json.dumps(told)


async def test_a_server_with_client_credentials_starts_without_a_question(tmp_path: Path) -> None:
    from tui.core.servers import Grant

    oauth = OAuthSpec(Grant.CREDENTIALS, "robot", "canary-robot")
    robot = OAuthServer(client=("robot", "canary-robot"), methods=("client_secret_basic",))
    async with robot as server, Stage(tmp_path, server.url, oauth=oauth) as stage:
        await stage.host.start("safe")
        assert stage.status.state is ServerState.RUNNING and stage.person.questions == []


async def test_a_request_resent_after_sign_in_is_not_pending_and_has_no_finding(tmp_path: Path) -> None:
    async with OAuthServer() as server, Stage(tmp_path, server.url) as stage:
        await stage.host.start("safe")
        entries: list[Entry] = []
        reader = EntryReader(lambda raw: (raw, ()), 0)
        for one in stage.captured:
            reader.read(one, entries)
        refused = [one for one in entries if one.method == "gave up"]
        assert [one.detail["why"] for one in refused] == ["HTTP 401, sent again with another token"]
        asked = next(one for one in entries if one.seq == refused[0].pair)
        assert asked.method == PROBE_METHOD and refused[0].outcome is Outcome.PROBE  # no failure
        linter = Linter()
        assert "reused-id" not in [found.code for one in entries for found in linter.feed(one)]


async def test_over_http_sse_opening_the_stream_waits_for_the_sign_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_sse, "ENDPOINT_SECONDS", 2.0)

    class Slow(Person):
        async def ask(self, question):  # type: ignore[no-untyped-def]
            self.questions.append(question)
            await asyncio.sleep(2.2)  # longer than the timeout of opening the stream
            return QuestionAnswer(Action.ACCEPT)

    async with OAuthServer(sse=True) as server:
        async with Stage(tmp_path, server.url, Slow(), transport=Transport.SSE) as stage:
            await stage.host.start("safe")
            assert stage.status.state is ServerState.RUNNING, stage.status.detail
            assert (await stage.call()).content[0].text == "3" and len(stage.person.questions) == 1


def canaries(server: OAuthServer) -> set[str]:
    """Return every secret in the requests: those issued, and those generated by mcptui."""
    found = set(server.issued)
    for request in server.requests:
        for name, value in {**request.query, **dict(parse_qsl(request.body.decode()))}.items():
            if name in ("state", "code_verifier", "code", "client_assertion", "refresh_token"):
                found.add(value)
    return found


def written() -> Iterator[Path]:
    """Yield every file written by mcptui, except the token store."""
    for path in Path(os.environ["HOME"]).rglob("*"):
        if path.is_file() and path.parent.name != "sign-in":
            yield path


def leaks(text: str, secrets: set[str]) -> list[str]:
    return sorted(secret for secret in secrets if secret in text)


async def exported() -> str:
    out, (recording,) = "", recordings()
    for kind in ("jsonl", "md", "har", "html"):
        done = await mcptui("traffic", str(recording), "--export", kind)
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
        sign_ins.questioner, sign_ins.open_browser = Person(), browse
        await runtime.host.start("safe")
        status = runtime.host.status("safe")
        said = f"{status.detail} {status.next_step} {status.sign_in}"
        if status.state is ServerState.RUNNING:
            await called(runtime.host)
            server.revoke()
            await called(runtime.host)
        await runtime.shutdown()
        secrets = canaries(server)
        assert len(secrets) >= 3 and (wrong or status.state is ServerState.RUNNING)
        assert leaks(said, secrets) == []
        assert leaks(runtime.redactor.redact(" ".join(secrets)), secrets) == []  # and so in no crash report
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
