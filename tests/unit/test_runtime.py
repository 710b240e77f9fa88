"""The composition root: what one run knows and keeps."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import pytest

from tests.endpoint import Endpoint
from tests.unit.storage.session_samples import QUESTION, say
from tui.core.redact import Redactor
from tui.core.sessions import SessionMeta
from tui.options import Options
from tui.runtime import Runtime
from tui.settings.locations import data_dir
from tui.storage.sessions import SessionStore

KEYS = {"first": "kc-4kq9ZtYw7Hs2Vb8X", "second": "kc-8mD3nRfLz5Qp1Wc6"}


@asynccontextmanager
async def running(tmp_path: Path, config: str) -> AsyncIterator[Runtime]:
    file = tmp_path / "config.toml"
    file.write_text(config)
    runtime = Runtime(Options(config=str(file)), {})
    await runtime.ready(taps=False)
    try:
        yield runtime
    finally:
        await runtime.shutdown()


@pytest.fixture
def keychain(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("keyring")
    module.get_password = lambda service, name: KEYS.get(name)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)


def profile(name: str, base_url: str) -> str:
    return f'[models.{name}]\nmodel = "m"\napi_key = "keyring:mcptui/{name}"\nbase_url = "{base_url}"\n'


@pytest.mark.usefixtures("keychain")
async def test_the_key_of_one_keychain_profile_stays_redacted_after_a_switch_to_another(tmp_path: Path):
    async with Endpoint() as endpoint:
        config = 'default_model = "first"\n' + "".join(profile(name, endpoint.base_url) for name in KEYS)
        async with running(tmp_path, config) as runtime:
            await runtime.chats.switch("second")
            told = runtime.redactor.redact(" ".join(KEYS.values()))
    assert told == "[redacted:models.first.api_key] [redacted:models.second.api_key]"


@pytest.mark.usefixtures("keychain")
async def test_a_key_that_changed_in_the_keychain_leaves_the_old_one_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    old, new = KEYS["first"], "kc-new-7Hs2Vb8XrMd3J"
    async with Endpoint() as endpoint:
        async with running(tmp_path, profile("first", endpoint.base_url)) as runtime:
            monkeypatch.setitem(KEYS, "first", new)
            await runtime.chats.switch("first")
            told = runtime.redactor.redact(f"{old} {new}")
    assert told == "[redacted:models.first.api_key] [redacted:models.first.api_key]"


@pytest.mark.usefixtures("keychain")
async def test_a_key_is_redacted_once_the_models_of_its_endpoint_are_listed(tmp_path: Path):
    async with Endpoint() as endpoint:
        config = 'default_model = "first"\n' + "".join(profile(name, endpoint.base_url) for name in KEYS)
        async with running(tmp_path, config) as runtime:
            assert await runtime.chats.offered("second") == ["m"]
            assert runtime.redactor.redact(KEYS["second"]) == "[redacted:models.second.api_key]"


@pytest.mark.usefixtures("keychain")
async def test_the_servers_are_shown_without_a_key_that_was_learned_after_they_started(tmp_path: Path):
    async with Endpoint() as endpoint:
        server = f'[servers.s]\ncommand = "x"\nargs = ["{KEYS["second"]}"]\nautostart = false\n'
        config = server + "".join(profile(name, endpoint.base_url) for name in KEYS)
        async with running(tmp_path, 'default_model = "first"\n' + config) as runtime:
            await runtime.chats.switch("second")
            identity = await runtime.workbench.identity("s")
    assert KEYS["second"] not in str(identity)


@pytest.mark.parametrize("named", [{"session": "trip"}, {"resume": True}])
async def test_a_session_open_elsewhere_is_named_and_a_new_conversation_is_said_to_begin(
    tmp_path: Path, named: dict[str, object]
):
    config = tmp_path / "config.toml"
    config.write_text("[servers]\n", "utf-8")
    elsewhere = SessionStore(data_dir() / "sessions", Redactor)
    journal = await elsewhere.begin()
    await say(journal, QUESTION)
    journal.describe(SessionMeta(title="trip"))
    await journal.settled()
    runtime = Runtime(Options(config=str(config), **named), {})
    try:
        await runtime.ready(start=False, model=False)
        assert list(runtime.problems) == [
            "“trip” is open in another mcptui. Close it there first. A new conversation was started instead."
        ]
        assert runtime.chats.info is None and journal.id not in runtime.problems[0]
    finally:
        await runtime.shutdown()
        await journal.close()
