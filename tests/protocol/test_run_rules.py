"""Rules in `mcptui run` and `config check --against`: real processes, the samples and the demo model."""

import json
from pathlib import Path

import pytest

from tests.protocol.command import mcptui

QUESTION = "What's the weather in Hangzhou?"


def config(path: Path, *rules: str) -> str:
    path.write_text(f"[approvals]\nrules = {json.dumps(rules)}\n")
    return str(path)


@pytest.mark.parametrize(
    ("rules", "mode", "decision", "rule", "ran"),
    [
        (
            ["allow weather/*", "deny weather/* location=H*"],
            "all",
            "deny",
            "deny weather/* location=H*",
            False,
        ),
        (["allow weather/* location=H*"], "ask", "allow", "allow weather/* location=H*", True),
        (["ask weather/get_*", "allow */*"], "reads", "deny", "ask weather/get_*", False),
    ],
)
async def test_a_rule_decides_a_call_and_the_events_name_it(
    tmp_path: Path, rules: list[str], mode: str, decision: str, rule: str, ran: bool
):
    file = config(tmp_path / "c.toml", *rules)
    done = await mcptui("run", "--json", "--approve", mode, "--config", file, QUESTION)
    events = [json.loads(line) for line in done.out.splitlines()]
    (decided,) = (event for event in events if event["type"] == "decision")
    assert (decided["decision"], decided["rule"]) == (decision, rule)
    (result,) = (event for event in events if event["type"] == "tool_result")
    assert (result["why"] == "") is ran and ("22 °C" in result["text"]) is ran


async def test_a_tool_denied_by_a_rule_is_not_offered(tmp_path: Path):
    offered = []
    for rules in ([], ["deny weather/get_*"]):
        done = await mcptui("run", "--json", "--config", config(tmp_path / "c.toml", *rules), "hello")
        offered.append(json.loads(done.out.splitlines()[0])["tools"])
    assert offered[1] == offered[0] - 1


async def test_an_invalid_rule_stops_the_run_with_its_line(tmp_path: Path):
    done = await mcptui("run", "--config", config(tmp_path / "c.toml", "deny weather"), QUESTION)
    assert done.code == 2
    assert "c.toml:2 approvals.rules[1]: must be a pattern of server/tool" in done.err


async def test_rules_are_checked_against_recorded_calls(tmp_path: Path):
    home = {"XDG_STATE_HOME": str(tmp_path / "s"), "XDG_DATA_HOME": str(tmp_path / "d")}
    before = config(tmp_path / "before.toml", "allow weather/*")
    assert (await mcptui("run", "--config", before, QUESTION, **home)).code == 0
    after = config(tmp_path / "after.toml", "deny */* location=Hang*", "allow nothing/*")
    check = ("config", "check", "--config", after, "--against", "1h")
    foreign = await mcptui(*check, **home)
    assert "deny 1" in foreign.out and "rules that match no recorded call" not in foreign.out
    done = await mcptui(*check, "--trust-config", **home)
    assert "this is not your own" not in done.out
    assert "rules against 1 call in 1 recording" in done.out
    assert "ran by rule allow weather/* → deny */* location=Hang*" in done.out
    assert "rules that match no recorded call:\n  allow nothing/*   approvals.rules[2], line 2" in done.out
