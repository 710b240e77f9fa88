"""`mcptui config check --against`."""

import asyncio
import json
import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.unit.storage.traffic_samples import request
from tui.cli import dispatch
from tui.commands.command_line import build_parser
from tui.commands.config.check import MAX_CHANGES
from tui.commands.recordings import recordings
from tui.core.ports import DecisionKind, DecisionRecord, digest_of
from tui.core.secrets.redact import Redactor
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.traffic import Cause
from tui.host.sign_in.token_store import TokenStore
from tui.settings.locations import config_path, decisions_file, state_dir
from tui.settings.state.permission.stored_decisions import StoredDecisions
from tui.storage.recordings.writer import RecordingWriter

NOW_NS = time.time_ns()


def call(seq: int, tool: str, arguments: object, **more: object):
    params = {"name": tool, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": seq, "method": "tools/call", "params": params}).encode()
    cause, wall_ns = Cause(1, 1, f"c{seq}"), NOW_NS - 10**9 + seq
    values = {"source": "files", "wall_ns": wall_ns, "root": seq, "cause": cause}
    return request(seq, body, tool=tool, **values | more)


def decided(allowed: bool, by: str, ago: float, **more: Any) -> DecisionRecord:
    when = NOW_NS / 1e9 - ago
    return DecisionRecord(DecisionKind.CALL, "files", "read", allowed, by, "model", when=when, **more)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "calls.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write(
            [
                call(1, "read", {"path": "/tmp/../etc/passwd"}),
                call(2, "read", {"path": "/home/a"}),
                call(3, "delete\x1b[2J_all", {}),
                call(4, "read", {"path": "/etc/x"}, root=2),
                call(5, "read", [])._replace(body=b'{"id":5,"par'),
            ]
        )
    return path


def check(tmp_path: Path, rules: str, against: object, *, foreign: bool = False) -> int:
    path = tmp_path / "config.toml" if foreign else config_path(None, os.environ)[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[approvals]\nrules = {rules}\n")
    path.chmod(0o600)
    words = ["config", "check", *(["--config", str(path)] if foreign else []), "--against", str(against)]
    return dispatch(build_parser().parse_args(words))


def test_calls_with_another_outcome_are_listed_with_the_rule(tmp_path: Path, recording: Path, capsys):
    rules = '["deny files/* path=/etc/*", "allow files/read", "ask nothing/*"]'
    assert check(tmp_path, rules, recording) == 0
    said = capsys.readouterr().out
    assert "rules against 3 calls in 1 recording" in said
    assert "allow 1, ask 0, deny 1, no rule 1" in said
    assert "1 call not checked: the arguments are not recorded completely" in said
    assert "1 call would change:" in said
    assert 'files › read  path="/tmp/../etc/passwd"\n      ran → deny files/* path=/etc/*' in said
    assert "rules that match no recorded call:\n  ask nothing/*   approvals.rules[3], line 2" in said
    assert "\x1b" not in said


def test_the_outcome_of_a_call_is_taken_from_the_recorded_decisions(tmp_path: Path, recording: Path, capsys):
    log = StoredDecisions(decisions_file(), Redactor().redact)
    log.add(decided(True, "key (once)", 5, asked=True, digest=digest_of({"path": "/home/a"})))
    log.close()
    assert check(tmp_path, '["allow files/read"]', recording) == 0
    assert "ran after approval → allow files/read" in capsys.readouterr().out


def test_a_rule_that_denied_calls_is_not_listed_as_unused(tmp_path: Path, capsys):
    etc = "deny files/* path=/etc/*"
    log = StoredDecisions(decisions_file(), Redactor().redact)
    for rule, ago in ((etc, 5), (etc, 6), ("deny notes/*", 10**6)):
        log.add(decided(False, f"rule {rule}", ago))
    log.close()
    assert check(tmp_path, '["deny files/* path=/etc/*", "deny notes/*"]', "24h") == 0
    said = capsys.readouterr().out
    assert (
        f"rules that denied calls (denied calls are never recorded):\n  {etc}   2 calls   approvals" in said
    )
    assert said.endswith("rules that match no recorded call:\n  deny notes/*   approvals.rules[2], line 2\n")


def test_a_time_selects_the_calls_of_all_recordings_since_then(tmp_path: Path, capsys):
    with closing(RecordingWriter(recordings().new_path())) as writer:
        long_ago = call(1, "read", {}, wall_ns=NOW_NS - 3 * 86_400 * 10**9)
        writer.write([long_ago, call(2, "read", {})])
    for time_span, calls in (("24h", "1 call"), ("7d", "2 calls")):
        assert check(tmp_path, '["allow files/read"]', time_span) == 0
        assert f"rules against {calls} in 1 recording since" in capsys.readouterr().out


def test_without_recordings_every_rule_matches_nothing(tmp_path: Path, capsys):
    assert check(tmp_path, '["allow files/read"]', "24h") == 0
    assert "rules against 0 calls in 0 recordings since" in capsys.readouterr().out


def test_an_argument_that_is_neither_time_nor_recording_gets_a_suggestion(tmp_path: Path, capsys):
    assert check(tmp_path, '["allow files/read"]', "nonsense") == 2
    assert "Use a time such as 24h" in capsys.readouterr().err


def test_rules_with_an_error_are_not_checked_against_calls(tmp_path: Path, recording: Path, capsys):
    assert check(tmp_path, '["allow files"]', recording) == 2
    said = capsys.readouterr().out
    assert "config.toml:2 approvals.rules[1]: must be a pattern of server/tool" in said
    assert "cannot check the rules" in said


def test_a_long_list_of_changes_is_truncated(tmp_path: Path, capsys):
    path = tmp_path / "many.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write([call(seq, "read", {"n": seq}) for seq in range(1, MAX_CHANGES + 11)])
    assert check(tmp_path, '["deny files/*"]', path) == 0
    said = capsys.readouterr().out
    assert f"{MAX_CHANGES + 10} calls would change:" in said and "and 10 more" in said


def test_allow_rules_of_a_file_from_elsewhere_are_not_in_force(tmp_path: Path, recording: Path, capsys):
    rules = '["allow files/read", "deny files/* path=/etc/*"]'
    assert check(tmp_path, rules, recording) == 0
    assert "allow 1, ask 0, deny 1, no rule 1" in capsys.readouterr().out
    assert check(tmp_path, rules, recording, foreign=True) == 0
    said = capsys.readouterr().out
    assert "allow 0, ask 0, deny 1, no rule 2" in said and "rules that match no recorded call" not in said
    assert "approvals.rules[1]: this is not your own" in said


async def store_sign_in(url: str) -> None:
    named = {"dpop_signing_alg_values_supported": True}
    stored = StoredSignIn("remote", url, "https://auth.example", metadata=named)
    await TokenStore(state_dir() / "sign-in", use_keychain=False).save(stored)


def test_what_the_authorization_server_named_is_a_note(capsys: pytest.CaptureFixture[str]):
    path = config_path(None, os.environ)[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('[servers.remote]\nurl = "https://remote.example/mcp"\n')
    path.chmod(0o600)
    asyncio.run(store_sign_in("https://remote.example/mcp"))
    assert dispatch(build_parser().parse_args(["config", "check"])) == 0
    said = capsys.readouterr().out
    assert "note: servers.remote: signed in at https://auth.example. Its metadata name DPoP" in said
    assert "OK: 1 server" in said and "warning" not in said
