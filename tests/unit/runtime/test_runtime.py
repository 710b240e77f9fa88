"""The composition root."""

import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Endpoint
from tests.unit.core.stand_ins import policy_of
from tests.unit.storage.session_samples import QUESTION, say
from tui.core.conversation.conversation import SessionMeta, UserMessage
from tui.core.events import ApprovalGiven
from tui.core.permission.approval_policy import Verdict
from tui.core.ports import Answer
from tui.core.secrets.redact import Redactor
from tui.core.tools import Tool
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.locations import data_dir, state_dir
from tui.storage.sessions.store import SessionStore

KEYS = {"first": "kc-4kq9ZtYw7Hs2Vb8X", "second": "kc-8mD3nRfLz5Qp1Wc6"}


NOTHING = "[servers]\n"


@asynccontextmanager
async def running(tmp_path: Path, config: str = NOTHING, **options: Any) -> AsyncIterator[Runtime]:
    file = tmp_path / "config.toml"
    file.write_text(config)
    runtime = Runtime(Options(config=str(file), trust_config=True, **options), {})
    await runtime.ready(taps=False)
    try:
        yield runtime
    finally:
        await runtime.shutdown()


@pytest.fixture
def keys(keychain: dict[tuple[str, str], str]) -> None:
    keychain.update({("mcptui", name): key for name, key in KEYS.items()})


def profile(name: str, base_url: str) -> str:
    return f'[models.{name}]\nmodel = "m"\napi_key = "keyring:mcptui/{name}"\nbase_url = "{base_url}"\n'


async def test_no_representation_contains_the_environment_or_the_conversation():
    runtime = Runtime(Options(save=False), {"OPENAI_API_KEY": KEYS["first"]})
    conversations = runtime.conversations
    conversations.now.talk.messages.append(UserMessage(KEYS["second"]))
    parts = (conversations.active_model, conversations, conversations.now, runtime.configuration)
    shown = repr([*parts, conversations.biller])  # a method's contains that of its object
    assert KEYS["first"] not in shown and KEYS["second"] not in shown


@pytest.mark.usefixtures("keys")
async def test_after_a_key_changed_in_the_keychain_the_old_one_is_still_redacted(
    tmp_path: Path, keychain: dict[tuple[str, str], str]
):
    old, new = KEYS["first"], "kc-new-7Hs2Vb8XrMd3J"
    async with Endpoint() as endpoint:
        async with running(tmp_path, profile("first", endpoint.base_url)) as runtime:
            keychain["mcptui", "first"] = new
            await runtime.conversations.switch("first")
            told = runtime.redactor.redact(f"{old} {new}")
    assert told == "[redacted:models.first.api_key] [redacted:models.first.api_key]"


@pytest.mark.usefixtures("keys")
async def test_a_key_is_redacted_once_the_models_of_its_endpoint_are_listed(tmp_path: Path):
    async with Endpoint() as endpoint:
        config = 'default_model = "first"\n' + "".join(profile(name, endpoint.base_url) for name in KEYS)
        async with running(tmp_path, config) as runtime:
            assert await runtime.conversations.active_model.offered("second") == ["m"]
            told = runtime.redactor.redact(" ".join(KEYS.values()))
    assert told == "[redacted:models.first.api_key] [redacted:models.second.api_key]"


@pytest.mark.usefixtures("keys")
async def test_a_key_read_after_the_servers_started_is_not_shown_with_them(tmp_path: Path):
    async with Endpoint() as endpoint:
        server = f'[servers.s]\ncommand = "x"\nargs = ["{KEYS["second"]}"]\nautostart = false\n'
        config = server + "".join(profile(name, endpoint.base_url) for name in KEYS)
        async with running(tmp_path, 'default_model = "first"\n' + config) as runtime:
            await runtime.conversations.switch("second")
            identity = await runtime.workbench.identity("s")
    assert KEYS["second"] not in str(identity)


@pytest.mark.parametrize("named", [{"session": "trip"}, {"resume": True}])
async def test_a_session_open_elsewhere_is_reported_and_a_new_conversation_starts(
    tmp_path: Path, named: dict[str, object]
):
    journal = await SessionStore(data_dir() / "sessions", Redactor).begin()
    await say(journal, QUESTION)
    journal.describe(SessionMeta(title="trip"))
    await journal.settled()
    async with running(tmp_path, **named) as runtime:
        assert list(runtime.problems) == [
            "“trip” is open in another mcptui. Close it there first. A new conversation was started instead."
        ]
        assert runtime.conversations.info is None and journal.id not in runtime.problems[0]
    await journal.close()


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"session": "trip"}, ["No session “trip” yet. Your first message starts it."]),
        ({"resume": True}, ["no session to resume. A new conversation was started instead."]),
        ({}, []),
    ],
)
async def test_a_named_session_that_does_not_exist_is_reported(
    tmp_path: Path, named: dict[str, object], told: list[str]
):
    async with running(tmp_path, **named) as runtime:
        assert list(runtime.problems) == told
        assert bool(runtime.warnings & {*told}) is ("session" in named)


def remembered(tmp_path: Path) -> list[str]:
    found = tomllib.loads((tmp_path / "config.toml").read_text())
    return sorted(found["approvals"]["remembered"])


async def approve(runtime: Runtime, tool: Tool) -> None:
    """Answer "always" for a tool, as a turn does."""
    runtime.turn_context.policy.remember(tool, Answer.ALWAYS)
    runtime.turn_context.notice(ApprovalGiven(1, "c", Answer.ALWAYS, ""))
    await runtime._background.settled(9.0)


ADD, DROP, LIST = (Tool("notes", name) for name in ("add", "drop", "list"))


async def test_saving_the_next_approval_does_not_restore_a_revoked_one(tmp_path: Path):
    async with running(tmp_path) as runtime:
        await approve(runtime, ADD)
        (tmp_path / "config.toml").write_text("[approvals]\nremembered = []\n")
        await approve(runtime, DROP)
        assert remembered(tmp_path) == [runtime.turn_context.policy.key(DROP)]
        assert runtime.turn_context.policy.judge(ADD).verdict is Verdict.ASK
        assert runtime.turn_context.policy.judge(DROP).verdict is Verdict.ALLOW


async def test_an_approval_revoked_since_the_start_is_not_restored(tmp_path: Path):
    key = policy_of(server_digest=lambda server: "").key(ADD)
    async with running(tmp_path, f'[servers]\n[approvals]\nremembered = ["{key}"]\n') as runtime:
        assert runtime.turn_context.policy.judge(ADD).verdict is Verdict.ALLOW
        (tmp_path / "config.toml").write_text(NOTHING)
        await approve(runtime, DROP)
        assert remembered(tmp_path) == [runtime.turn_context.policy.key(DROP)]


@pytest.mark.parametrize("text", [NOTHING, "[approvals]\nremembered = []\n", "[[[", None])
async def test_a_running_app_notices_a_revoked_approval_before_the_next_call(
    tmp_path: Path, text: str | None
):
    config = tmp_path / "config.toml"
    async with running(tmp_path) as runtime:
        await approve(runtime, ADD)
        assert runtime.turn_context.policy.judge(ADD).verdict is Verdict.ALLOW
        saved = config.read_text()
        config.unlink() if text is None else config.write_text(text)
        assert runtime.turn_context.policy.judge(ADD).verdict is Verdict.ASK
        config.write_text(saved)
        assert runtime.turn_context.policy.judge(ADD).verdict is Verdict.ALLOW


async def test_an_unsaved_approval_is_kept_when_the_file_changes(tmp_path: Path):
    async with running(tmp_path) as runtime:
        runtime.turn_context.policy.remember(ADD, Answer.ALWAYS)
        (tmp_path / "config.toml").write_text("[servers]\n# changed\n")
        assert runtime.turn_context.policy.judge(ADD).verdict is Verdict.ALLOW


async def test_two_apps_keep_the_approvals_of_each_other(tmp_path: Path):
    async with running(tmp_path) as one:
        other = Runtime(Options(config=str(tmp_path / "config.toml"), trust_config=True), {})
        await other.ready(taps=False)
        await approve(one, ADD)
        await approve(other, DROP)
        await approve(one, LIST)
        keys = sorted(one.turn_context.policy.key(tool) for tool in (ADD, DROP, LIST))
        await other.shutdown()
        assert remembered(tmp_path) == keys
        assert one.turn_context.policy.judge(DROP).verdict is Verdict.ALLOW


async def test_an_approval_that_failed_to_save_is_saved_with_the_next_one(tmp_path: Path):
    config = tmp_path / "config.toml"
    async with running(tmp_path) as runtime:
        config.write_text("[[[")
        await approve(runtime, ADD)
        assert "lasts until mcptui quits" in runtime.problems[-1]
        assert runtime.problems[-1].endswith("mcptui saves it with the next tool that you always allow.")
        config.write_text(NOTHING)
        await approve(runtime, DROP)
        assert remembered(tmp_path) == sorted(map(runtime.turn_context.policy.key, (ADD, DROP)))


async def test_a_damaged_file_of_trusted_servers_is_a_warning_with_its_name(tmp_path: Path) -> None:
    damaged = state_dir() / "trusted-servers.json"
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_text("{", "utf-8")
    async with running(tmp_path) as runtime:
        (problem,) = runtime.problems
        assert str(damaged) in problem and "it is copied to trusted-servers.damaged" in problem
        assert problem in runtime.warnings


async def test_a_theme_saved_before_the_configuration_was_read_starts_nothing(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[servers.a]\ncommand = "python3"\n')
    runtime = Runtime(Options(config=str(config), trust_config=True), {})
    try:
        await runtime.configuration.save_theme("dusk")
        assert 'theme = "dusk"' in config.read_text()
        assert not runtime.host.statuses()
    finally:
        await runtime.shutdown()
