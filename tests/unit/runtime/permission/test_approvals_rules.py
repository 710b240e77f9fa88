"""Rules changed while mcptui runs: saved in the file, and in force at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import pytest

from tests.unit.core.stand_ins import policy_of
from tui.core.errors import ConfigError
from tui.core.events import ApprovalGiven
from tui.core.permission.approval_policy import Verdict
from tui.core.ports import Answer
from tui.core.tools import Tool
from tui.runtime.options import Options
from tui.runtime.permission.approvals import Approvals
from tui.runtime.runtime import Runtime

TOOL = Tool("notes", "add")


def write(path: Path, text: str) -> None:
    path.write_text(text)


def read(path: Path) -> str:
    return path.read_text()


@asynccontextmanager
async def changing(
    path: Path, approvals: str = "", *, trust: bool = True
) -> AsyncIterator[tuple[Approvals, Runtime]]:
    write(path, f"[servers]\n[approvals]\n{approvals}")
    runtime = Runtime(Options(config=str(path), trust_config=trust), {})
    await runtime.ready(taps=False, model=False, record=False)
    try:
        yield runtime.approvals, runtime
    finally:
        await runtime.shutdown()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def listed(changes: Approvals) -> list[str]:
    return [f"{rule} {rule.origin}[{rule.number}]" for rule in changes.rules]


async def test_an_added_rule_applies_at_once(path: Path):
    async with changing(path, "# mine\n") as (changes, runtime):
        await changes.add("deny  notes/*   text=*x*")
        assert runtime.turn_context.policy.judge(TOOL, {"text": "axb"}).rule == "deny notes/* text=*x*"
        assert listed(changes) == ["deny notes/* text=*x* rules[1]"]
    assert "# mine" in read(path)


async def test_a_rule_is_replaced_in_place(path: Path):
    async with changing(path, 'rules = ["allow a/*"]\nask = ["b/*", "c/*"]\n') as (changes, _):
        await changes.replace(changes.rules[0], "deny a/*")
        await changes.replace(changes.rules[1], "ask b/* x=1")
        assert listed(changes) == ["deny a/* rules[1]", "ask b/* x=1 ask[1]", "ask c/* ask[2]"]
        assert 'ask = ["b/* x=1", "c/*"]' in read(path)


async def test_a_rule_changed_to_another_action_moves_to_the_list_of_all_rules(path: Path):
    async with changing(path, 'ask = ["b/*", "c/*"]\n') as (changes, _):
        await changes.replace(changes.rules[0], "deny b/*")
        assert listed(changes) == ["deny b/* rules[1]", "ask c/* ask[1]"]


async def test_earlier_approvals_are_listed_and_revoked(path: Path):
    async with changing(path) as (changes, runtime):
        policy = runtime.turn_context.policy
        key = policy.key(TOOL)
        write(path, f'[servers]\n[approvals]\nremembered = ["{key}"] # mine\n')
        policy.remember(Tool("notes", "list"), Answer.SESSION)
        session = policy.key(Tool("notes", "list"))
        assert changes.earlier == {key: True, session: False}
        assert policy.judge(TOOL).verdict is Verdict.ALLOW
        await changes.revoke(key)
        await changes.revoke(session)
        assert policy.judge(TOOL).verdict is Verdict.ASK and not changes.earlier
        assert "# mine" in read(path)


@pytest.mark.parametrize("is_own", [True, False])
async def test_an_approval_that_could_not_be_saved_is_revoked(path: Path, is_own: bool):
    async with changing(path, trust=is_own) as (changes, runtime):
        policy = runtime.turn_context.policy
        if is_own:
            write(path, "[approvals")
        policy.remember(TOOL, Answer.ALWAYS, after=["web"])
        runtime.turn_context.notice(ApprovalGiven(1, "c", Answer.ALWAYS, ""))
        await runtime._background.settled(9.0)
        assert policy.judge(TOOL, after=["web"]).verdict is Verdict.ALLOW
        with pytest.raises(ConfigError, match="cannot be changed") if is_own else nullcontext():
            await changes.revoke(*changes.earlier)
        assert policy.judge(TOOL).verdict is Verdict.ASK and not changes.earlier
        policy.remember(TOOL, Answer.ALWAYS)
        assert policy.judge(TOOL, after=["web"]).verdict is Verdict.ASK


async def test_an_approval_revoked_while_it_is_saved_is_removed_from_the_file(path: Path):
    async with changing(path) as (changes, runtime):
        policy = runtime.turn_context.policy
        policy.remember(TOOL, Answer.ALWAYS)
        runtime.turn_context.notice(ApprovalGiven(1, "c", Answer.ALWAYS, ""))
        await asyncio.sleep(0)
        await changes.revoke(*changes.earlier)
        await runtime._background.settled(9.0)
        assert policy.judge(TOOL).verdict is Verdict.ASK and "notes/add" not in read(path)


async def test_a_file_from_elsewhere_can_ask_and_deny_but_not_allow(path: Path):
    key = policy_of(server_digest=lambda server: "").key(TOOL)
    rules = f'rules = ["allow */*", "deny notes/drop"]\nallow = ["notes/*"]\nremembered = ["{key}"]\n'
    for trust in (False, True):
        async with changing(path, rules, trust=trust) as (changes, runtime):
            policy = runtime.turn_context.policy
            assert (policy.judge(TOOL).verdict is Verdict.ALLOW) is trust
            assert policy.judge(Tool("notes", "drop")).verdict is Verdict.DENY
            assert any("approvals.remembered" in one for one in runtime.problems) is not trust
            write(path, read(path) + "# changed\n")
            assert (policy.judge(TOOL).verdict is Verdict.ALLOW) is trust
            await runtime.configuration.reload()
            assert (policy.judge(TOOL).verdict is Verdict.ALLOW) is trust
            assert listed(changes)[-1] == ("allow notes/* allow[1]" if trust else "deny notes/drop rules[2]")


async def test_an_allow_rule_in_a_file_from_elsewhere_is_saved_with_a_note_that_it_does_not_apply(path: Path):
    async with changing(path, 'ask = ["a/*"]\n', trust=False) as (changes, runtime):
        assert runtime.problems == []
        with pytest.raises(ConfigError, match=r"does not apply.*--trust-config"):
            await changes.add("allow notes/*")
        assert "allow notes/*" in read(path) and listed(changes) == ["ask a/* ask[1]"]
        await changes.add("deny notes/*")
        assert listed(changes) == ["deny notes/* rules[2]", "ask a/* ask[1]"]


async def test_a_lasting_answer_does_not_apply_approvals_of_a_file_from_elsewhere(path: Path):
    other = Tool("notes", "drop")
    key = policy_of(server_digest=lambda server: "").key(other)
    async with changing(path, f'remembered = ["{key}"]\n', trust=False) as (_, runtime):
        before = read(path)
        runtime.turn_context.policy.remember(TOOL, Answer.ALWAYS)
        for number in range(2):
            runtime.turn_context.notice(ApprovalGiven(number, "c", Answer.ALWAYS, ""))
        await runtime._background.settled(9.0)
        assert sum("lasts until mcptui quits" in problem for problem in runtime.problems) == 1
        assert runtime.turn_context.policy.judge(TOOL).verdict is Verdict.ALLOW
        assert runtime.turn_context.policy.judge(other).verdict is Verdict.ASK
        assert "lasts until mcptui quits" in runtime.problems[-1] and read(path) == before
