"""The linter over whole sessions: revisions, restarts of servers, floods, batches."""

import json
from typing import Any

import pytest

from tests.cases import each_case
from tests.unit.traffic.traffic_script import ECHO, MODERN_META, Script
from tui.core.traffic import Direction, Entry, Finding, Kind, Severity
from tui.traffic.lint import lint
from tui.traffic.lint.lint import Linter, sentence_of

CALLED = ("out", "tools/call", {"name": "echo", "arguments": {}})
PROBED = [("out", "server/discover", {"_meta": MODERN_META}), ("error", 1, -32601, "Method not found")]
NO_TOOLS = {"resultType": "complete", "tools": []}
NEW_PROCESS = [("event", "exit"), ("event", "spawn")]


@each_case(
    "script",
    [
        Script().legacy().listed(ECHO).play(CALLED, ("result", 3, {"content": []})),
        Script().play(*PROBED).legacy().listed(ECHO),
        Script().legacy().play(*NEW_PROCESS, ("restart",)).legacy(),
        Script().legacy().play(("restart",)).legacy(),
        Script().play(("event", "signal")),
    ],
)
def test_a_valid_session_has_no_findings(script: Script):
    assert script.findings() == []


def test_a_session_without_handshake_has_no_findings():
    script = Script().modern()
    called = script.ask("tools/call", name="echo", arguments={})
    assert script.play(("result", called, {"resultType": "complete", "content": []})).findings() == []


@each_case(
    ("script", "revision"),
    [
        (Script().legacy("2025-06-18"), "2025-06-18"),
        (Script().modern(), "2026-07-28"),
        (
            Script().play(("ask", "tools/list"), ("result", 1, {"resultType": "complete", "tools": []})),
            "2026-07-28",
        ),
        (Script().legacy().play(("event", "exit")), "2025-11-25"),
        (Script(), ""),
    ],
)
def test_the_revision_is_learned_from_the_messages(script: Script, revision: str):
    linter = Linter()
    assert [finding for entry in script.entries for finding in linter.feed(entry)] == []
    assert linter.revision("weather") == revision


def test_an_unknown_revision_is_reported_and_not_validated_against():
    script = Script().legacy("2099-01-01")
    script.out("no/such")
    assert script.codes() == ["unknown-revision", "unknown-method"]


def test_a_finding_names_the_section_of_the_revision_in_force():
    old, new = Script().legacy(), Script().modern()
    for script in (old, new):
        script.back({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}})
    assert [finding.section for finding in old.findings()] == ["2025-11-25 basic/utilities/cancellation"]
    old.raw(Direction.IN, b"hello")
    new.raw(Direction.IN, b"hello")
    assert old.findings()[-1].section == "2025-11-25 basic/transports"
    assert new.findings()[-1].section == "2026-07-28 basic/transports/stdio"


def test_servers_are_distinguished():
    one, two = Script("one").legacy(), Script("two").legacy()
    known = one.out("tools/list")
    two.result(known, {"tools": []})
    linter = Linter()
    entries = sorted((*one.entries, *two.entries), key=lambda entry: entry.mono_ns)
    assert [finding.code for entry in entries for finding in linter.feed(entry)] == ["unknown-id"]


def test_an_answer_to_a_request_dropped_from_the_recording_has_no_finding():
    script = Script().legacy()
    known = script.out("tools/list")
    script.result(known, {"tools": []})
    linter = Linter()
    assert linter.feed(script.entries[-1]) == []


def test_stderr_and_the_model_are_not_linted():
    script = Script()
    script.raw(Direction.NONE, b"{not json", Kind.STDERR)
    script.raw(Direction.OUT, b"{not json", Kind.MODEL_REQUEST)
    assert script.findings() == []


def test_batches_are_valid_only_in_one_revision():
    def batch(revision: str) -> list[str]:
        script = Script().legacy(revision)
        ids = [script.out("ping"), script.out("ping")]
        members = [{"jsonrpc": "2.0", "id": known, "result": {}} for known in ids]
        script.raw(Direction.IN, json.dumps(members).encode())
        return script.codes()

    assert batch("2025-03-26") == []
    assert batch("2025-06-18") == ["batch"]


def test_an_empty_batch_is_an_error():
    script = Script().legacy("2025-03-26")
    script.raw(Direction.IN, b"[]")
    assert script.codes() == ["batch"]


def test_a_truncated_message_still_answers_its_request():
    script = Script().legacy()
    known = script.out("tools/list")
    linter = Linter()
    found = [finding for entry in script.entries for finding in linter.feed(entry)]
    last = len(script.entries)
    head = Entry(
        last + 1, 0, 0, "weather", Direction.IN, Kind.RESPONSE, ident=str(known), size=9**7, sha256="a"
    )
    again = Entry(
        last + 2, 0, 0, "weather", Direction.IN, Kind.RESPONSE, ident=str(known), size=60,
        body=json.dumps({"jsonrpc": "2.0", "id": known, "result": {"tools": []}}).encode(),
    )  # fmt: skip
    found += linter.feed(head)
    found += [*linter.feed(again._replace(size=len(again.body)))]
    assert [finding.code for finding in found] == ["not-whole", "duplicate-answer"]


@pytest.mark.parametrize("source", ["server", "server {}"], ids=["one server", "very many servers"])
def test_every_invalid_entry_in_a_flood_has_a_finding(source: str):
    linter = lint.Linter()
    for seq in range(1, 5_002):
        entry = Entry(seq, 0, 0, source.format(seq), Direction.IN, Kind.NOT_JSON, size=5, body=b"noise")
        assert [one.seq for one in linter.feed(entry)] == [seq]


def test_an_answer_to_a_server_whose_session_was_dropped_has_no_unknown_id(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lint, "MOST_SOURCES", 2)
    linter = lint.Linter()
    ask = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    entries = [
        Entry(seq, 0, 0, name, Direction.OUT, Kind.REQUEST, "ping", size=len(ask), body=ask)
        for seq, name in enumerate("abc", 1)
    ]
    entries.append(Entry(4, 0, 0, "a", Direction.IN, Kind.RESPONSE, "ping", size=len(answer), body=answer))
    assert [one.code for entry in entries for one in linter.feed(entry) if one.code == "unknown-id"] == []


def test_a_batch_checked_only_in_part_is_reported():
    script = Script()
    requests = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(1_500)]
    script.raw(Direction.OUT, json.dumps(requests).encode())
    script.raw(Direction.IN, b'{"jsonrpc":"2.0","id":1400,"result":{}}')
    found = {one.code: one.sentence for one in script.findings()}
    assert found["not-whole"] == "Only the first 1,000 of 1,500 messages were checked."
    assert "unknown-id" not in found


class _Counting:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def problems(self, revision, direction, role, method, value):
        self.asked.append(f"{role} {method} {revision}")
        return ["name is missing"] if method == "tools/call" else []

    def schema_problem(self, schema):
        return ""

    def violation(self, schema, value):
        return ""


def test_a_message_that_the_sdk_models_reject_is_an_error_with_its_path():
    script = Script().legacy()
    script.out("tools/call", {})
    finding = script.findings(_Counting())[0]
    assert (finding.code, finding.severity) == ("bad-params", Severity.ERROR)
    assert finding.sentence == 'The params of "tools/call": name is missing.'
    assert finding.section == "2025-11-25 server/tools"


def test_messages_are_validated_against_the_revision_in_force():
    judge = _Counting()
    Script().legacy("2025-03-26").findings(judge)
    assert judge.asked == [
        "request initialize 2025-03-26",
        "result initialize 2025-03-26",
        "notification notifications/initialized 2025-03-26",
    ]


def test_a_large_frame_is_not_validated():
    judge, script = _Counting(), Script().legacy(server={"logging": {}})
    script.hear("notifications/message", {"level": "info", "data": "x" * 70_000})
    assert script.findings(judge) == []
    assert "notification notifications/message 2025-11-25" not in judge.asked


@each_case("ident", ["--5", "-5", "9" * 5000, "²", "-"])
def test_a_truncated_id_is_not_reported(ident: str):
    cut = Entry(
        1, 1, 1, "s", Direction.OUT, Kind.REQUEST, "ping", ident=ident, size=99, sha256="ab", body=b'{"x'
    )
    assert [finding.code for finding in Linter().feed(cut)] == ["not-whole"]


@pytest.mark.parametrize(
    ("raw", "code", "severity", "sentence"),
    [
        (b"late noise", "stray-output", Severity.WARNING, '"late noise" is not a message.'),
        (
            b'{"jsonrpc":"2.0","id":"u7510","result":{}}',
            "unknown-id",
            Severity.ERROR,
            "The same finding as in #1, #2,",
        ),
        (b"noise", "stray-output", Severity.ERROR, "The same finding as in #1, #2,"),
    ],
    ids=["of the entry alone", "of other entries too", "of another severity"],
)
def test_a_stored_finding_without_a_sentence_gets_one(
    raw: bytes, code: str, severity: Severity, sentence: str
):
    entry = Script().legacy().raw(Direction.IN, raw)
    found = Finding(entry.seq, code, severity, "", "basic", entry.source, entry.method, 9, (1, 2, 3, 4, 5))
    assert sentence_of(found, entry).startswith(sentence)
    assert sentence_of(found, None).startswith("The same finding as in #1, #2,")


OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
OPENED = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}


class Clients(Script):
    """Messages of clients, each in an HTTP exchange of its own."""

    def send(self, peer: int, exchange: int, **message: Any) -> None:
        about = {"http": "POST", "exchange": exchange, "peer": peer}
        self.raw(Direction.OUT, json.dumps({"jsonrpc": "2.0", **message}).encode(), detail=about)

    def answer(self, peer: int, exchange: int, **message: Any) -> None:
        about = {"status": 200, "exchange": exchange, "peer": peer}
        self.raw(Direction.IN, json.dumps({"jsonrpc": "2.0", **message}).encode(), detail=about)

    def opened(self, peer: int, exchange: int) -> None:
        self.send(peer, exchange, id=0, method="initialize", params=OPENING)
        self.answer(peer, exchange, id=0, result=OPENED)
        self.send(peer, exchange + 1, method="notifications/initialized")


def test_two_clients_may_use_the_same_ids_one_after_the_other_and_at_the_same_time():
    script = Clients()
    script.opened(1, 1)
    script.send(1, 3, id=1, method="ping")
    script.opened(2, 4)
    script.send(2, 6, id=1, method="ping")
    script.answer(2, 6, id=1, result={})
    script.answer(1, 3, id=1, result={})
    assert script.codes() == []


def test_an_id_that_one_of_several_clients_uses_twice_is_reported():
    script = Clients()
    script.opened(1, 1)
    script.opened(2, 4)
    script.send(1, 6, id=1, method="ping")
    script.send(1, 7, id=1, method="ping")
    assert script.codes() == ["reused-id"]


def test_another_connection_of_a_client_without_a_session_has_no_findings():
    script = Clients()
    script.opened(1, 1)
    script.send(2, 3, id=1, method="ping")
    script.answer(2, 3, id=1, result={})
    assert script.codes() == []


def test_what_a_fault_made_of_our_requests_is_no_finding():
    script = Script().legacy().listed(ECHO)
    call = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}
    raw = json.dumps(call).encode()
    script.event("fault", fault="repeat", dir="out", id=9)
    for body in (raw, raw, raw[:20]):
        script.raw(Direction.OUT, body)
    script.tell("notifications/cancelled", {"requestId": 77})
    assert script.findings() == []


@pytest.mark.parametrize("word", ["fault", "edited", "answered", "discarded"])
@pytest.mark.parametrize("method", ["initialize", "notifications/initialized"])
def test_what_follows_an_opening_that_mcptui_touched_is_not_too_early(word: str, method: str):
    script = Script()
    script.event("spawn")
    script.event(word, method=method, dir="out")
    script.ask("tools/list")
    script.raw(Direction.IN, b'{"jsonrpc": "2.0", "id": 1, "method": "roots/list"}')
    assert "before-initialize" not in [finding.code for finding in script.findings()]
