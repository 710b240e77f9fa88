"""Finding a finished request in a recording, from any of its entries."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tui.addons.tests.keep.home import written
from tui.addons.tests.keep.recorded import exchange_at, newest_lists, newest_request, secrets_in
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.errors import UsageError
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction, Kind
from tui.runtime.copies.origin import Origin
from tui.runtime.recording import UNCONFIGURED
from tui.storage.recordings.reader import RecordingReader
from tui.storage.recordings.writer import RecordingWriter
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.recorder import Recorder

OUT, IN = Direction.OUT, Direction.IN
CALL = {"name": "t", "arguments": {"a": 1}}


class Session:
    """The traffic of one server, recorded step by step, a millisecond each."""

    def __init__(self, path: Path, source: str = "s") -> None:
        self._path, self._source, self._at = path, source, 0
        self._recorder = Recorder(
            lambda: RecordingWriter(path), EntryColumns(), redact=Redactor().redact_bytes
        )
        self._recorder.start()

    def event(self, **detail: Any) -> None:
        self._capture(Direction.NONE, json.dumps(detail), Kind.EVENT, detail)

    def sent(self, method: str, params: Any, ident: int = 1, detail: Any = None) -> None:
        self._message(OUT, {"id": ident, "method": method, "params": params}, detail)

    def got(self, ident: int = 1, **members: Any) -> None:
        self._message(IN, {"id": ident, **members})

    def asked(self, ident: str, method: str, params: Any, result: Any) -> None:
        """Record a request of the server, with the response 100 ms later."""
        self._message(IN, {"id": ident, "method": method, "params": params})
        self._at += 99
        self._message(OUT, {"id": ident, "result": result})

    def _message(self, way: Direction, message: dict[str, Any], detail: Any = None) -> None:
        self._capture(way, json.dumps({"jsonrpc": "2.0", **message}), None, detail or {})

    def _capture(self, way: Direction, text: str, kind: Kind | None, detail: dict[str, Any]) -> None:
        self._at += 1
        ns = self._at * 1_000_000
        self._recorder.capture(Captured(self._source, way, ns, ns, text.encode(), kind, detail=detail))

    def reader(self) -> RecordingReader:
        self._recorder.close(5)
        return RecordingReader(self._path)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    yield Session(tmp_path / "a.mcptrace")


def text(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}]}


@pytest.mark.parametrize("seq", [2, 3])
def test_a_request_is_found_from_itself_and_from_its_response(session: Session, seq: int):
    session.event(event="spawn", argv=["python", "s.py"], cwd="/w", env=["MODE"])
    session.sent("tools/call", CALL)
    session.got(result=text("hello"))
    with closing(session.reader()) as reader:
        found = exchange_at(reader, seq)
    assert (found.server, found.request) == ("s", Request(RequestKind.TOOL, "t", {"a": 1}))
    assert (found.result, found.ms, found.is_error) == (text("hello"), 1.0, False)
    assert found.launched is not None
    assert (found.launched.command, found.launched.cwd, found.launched.env) == (
        ("python", "s.py"),
        "/w",
        ("MODE",),
    )


def test_the_era_and_the_references_of_a_command_are_those_that_were_typed(session: Session):
    given = {"env.KEY": "${TOK}", "env.OTHER": "sk-123${X}"}
    session.event(event="spawn", argv=["s"], env=["KEY", "OTHER"], era="legacy", references=given)
    session.sent("tools/call", CALL)
    session.got(result=text("hello"))
    with closing(session.reader()) as reader:
        launched = exchange_at(reader, 2, {"server": UNCONFIGURED}).launched
    assert launched is not None and launched.is_unconfigured
    assert (launched.era, [*launched.references]) == ("legacy", ["env.KEY"])
    made = written(Origin.of_recording("s", launched, "/w"), Path("/w"), str)
    assert made.server.era == "legacy"
    assert (made.server.env, made.needs) == ({"KEY": "${TOK}", "OTHER": "${OTHER}"}, ("TOK", "OTHER"))


def test_a_header_is_written_as_it_was_typed(session: Session):
    session.event(event="connect", url="http://h/mcp", references={"headers.X-Key": "${TOK}"})
    headers = [["x-key", "[redacted:x-key]"], ["x-plain", "yes"], ["accept", "*"]]
    session.sent("tools/call", CALL, detail={"headers": headers})
    session.got(result=text("hello"))
    with closing(session.reader()) as reader:
        launched = exchange_at(reader, 2).launched
    assert launched is not None
    made = written(Origin.of_recording("s", launched, "/w"), Path("/w"), str)
    assert made.server.headers == {"X-Key": "${TOK}", "x-plain": "yes"}


def test_other_results_of_equal_requests_are_found(session: Session):
    calls: Sequence[tuple[Any, str]] = [({"a": 1}, "one"), ({"a": 2}, "two"), ({"a": 1}, "three")]
    for ident, (arguments, said) in enumerate(calls, 1):
        session.sent("tools/call", {"name": "t", "arguments": arguments}, ident)
        session.got(ident, result=text(said))
    with closing(session.reader()) as reader:
        found = exchange_at(reader, 1)
    assert found.others == (text("three"),) and found.other_ms == (1.0,)


def test_results_from_before_the_last_start_of_the_server_are_not_compared(session: Session):
    for ident, said in enumerate(("old", "new", "new too"), 1):
        if said != "new too":
            session.event(event="spawn", argv=["python", "server.py"])
        session.sent("tools/call", CALL, ident)
        session.got(ident, result=text(said))
    with closing(session.reader()) as reader:
        found = exchange_at(reader, 5)
    assert (found.result, found.others) == (text("new"), (text("new too"),))


def test_the_time_in_which_the_user_answers_does_not_count(session: Session):
    session.sent("tools/call", CALL)
    answer = {"action": "accept", "content": {"name": "Ada"}}
    session.asked("q", "elicitation/create", {"message": "Who?", "requestedSchema": {}}, answer)
    session.got(result=text("Hello Ada"))
    with closing(session.reader()) as reader:
        found = exchange_at(reader, 1)
    assert (found.ms, found.answers) == (2.0, {"form": {"name": "Ada"}})


def test_the_rounds_of_a_call_are_one_call(session: Session):
    wanted = {"q": {"method": "elicitation/create", "params": {"message": "Who?"}}}
    session.sent("tools/call", CALL)
    first = {"resultType": "input_required", "inputRequests": wanted, "requestState": "x"}
    session.got(result=first)
    given = {"q": {"action": "accept", "content": {"name": "Ada"}}}
    session.sent("tools/call", {**CALL, "inputResponses": given, "requestState": "x"}, 2)
    session.got(2, result={"resultType": "complete", **text("Hello Ada")})
    with closing(session.reader()) as reader:
        found = [exchange_at(reader, seq) for seq in (1, 2, 3, 4)]
    assert {one.seq for one in found} == {1}
    assert found[0].answers == {"form": {"name": "Ada"}}
    assert found[0].result is not None and found[0].result["content"] == text("Hello Ada")["content"]


def test_the_pages_of_a_list_are_one_list(session: Session):
    session.sent("tools/list", {})
    session.got(result={"tools": [{"name": "a"}], "nextCursor": "2"})
    session.sent("tools/list", {"cursor": "2"}, 2)
    session.got(2, result={"tools": [{"name": "b"}]})
    with closing(session.reader()) as reader:
        assert exchange_at(reader, 1).result == {"tools": [{"name": "a"}, {"name": "b"}]}
        with pytest.raises(UsageError, match="later page"):
            exchange_at(reader, 3)


def test_the_newest_lists_are_those_with_items_of_the_kinds_that_were_meant(session: Session):
    lists = {
        "tools/list": "tools",
        "resources/list": "resources",
        "resources/templates/list": "resourceTemplates",
    }
    for ident, (method, member) in enumerate(lists.items(), 1):
        session.sent(method, {}, ident)
        session.got(ident, result={member: [] if member == "resources" else [{"name": "a"}]})
    with closing(session.reader()) as reader:
        found = {
            kinds: [one.request.name for one in newest_lists(reader, 9, {}, kinds)]
            for kinds in ((), ("tools",), ("resources",), ("resources/list",), ("prompts",))
        }
    assert [*found.values()] == [["tools", "templates"], ["tools"], ["templates"], ["resources"], []]


def test_the_hints_of_the_tool_are_those_of_its_list(session: Session):
    session.sent("tools/list", {})
    session.got(result={"tools": [{"name": "t", "annotations": {"readOnlyHint": True}}]})
    session.sent("tools/call", CALL, 2)
    session.got(2, error={"code": -32602, "message": "bad"})
    with closing(session.reader()) as reader:
        found = exchange_at(reader, 3)
    assert found.hints == {"readOnlyHint": True}
    assert found.is_error and found.error == {"code": -32602, "message": "bad"}


def test_what_is_no_finished_request_to_a_server_says_why(session: Session):
    session.sent("ping", {})
    session.got(result={})
    session.sent("tools/call", CALL, 2)
    session.asked("q", "roots/list", {}, {"roots": []})
    with closing(session.reader()) as reader:
        for seq, why in ((1, "Only tool calls"), (3, "no response"), (4, "Only tool calls"), (99, "dropped")):
            with pytest.raises(UsageError, match=why):
                exchange_at(reader, seq)


def test_the_newest_request_is_the_last_one_with_a_response(session: Session):
    session.sent("tools/call", CALL)
    session.got(result=text("one"))
    session.sent("tools/call", CALL, 2)
    with closing(session.reader()) as reader:
        assert newest_request(reader, 3) == 1
        assert newest_request(reader, 1) == 0


def test_the_findings_about_a_response_are_known(tmp_path: Path):
    session = Session(tmp_path / "x.mcptrace")
    session._capture(IN, "Starting...", None, {})
    session.sent("tools/call", CALL)
    session._capture(IN, "Loading...", None, {})
    session.got(result={"content": [{"type": "text", "text": "\ud800"}]})
    session.sent("tools/call", CALL, 2)
    session.got(2, result={"content": [{"type": "text", "text": "fine"}]})
    with closing(session.reader()) as reader:
        first, second = (
            one.seq for one in reader.columns(0, 100) if one.method == "tools/call" and one.direction is OUT
        )
        assert exchange_at(reader, first).findings == ("lone-surrogate", "stray-output")
        assert exchange_at(reader, first, lint=False).findings == ()
        assert exchange_at(reader, second).findings == ()


def test_a_secret_in_the_name_of_another_is_named_plainly():
    assert secrets_in({"[redacted:[redacted:github]_token]": 1, "a": "[redacted:key]"}) == ("github", "key")
