"""Explanations of entries in plain words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.traffic.traffic_script import ECHO, Script
from tui.core.text import clean
from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome
from tui.traffic.explain.explain import Explanation, explain
from tui.traffic.methods import METHODS

NOW = "2026-07-28"


def lines(found: Explanation) -> list[str]:
    return [found.title, *found.sentences, found.section]


def called(result: object = None) -> Script:
    script = Script()
    known = script.out("tools/call", {"name": "get_weather", "arguments": {"city": "Rome"}}, Cause(3, 1, "c"))
    script.wait(410)
    script.result(known, {"content": [{"type": "text", "text": "hi"}]} if result is None else result)
    return script


def test_a_call_is_explained_with_its_tool_its_answer_and_its_turn():
    request, answer = called().entries
    assert lines(explain(request, answer, "2025-11-25")) == [
        "tools/call request 1",
        "The client calls the tool get_weather of server weather.",
        "Arguments: city.",
        "Answered after 420 ms by #2.",
        "Part of turn 3, step 1.",
        "2025-11-25 server/tools",
    ]


def test_a_result_is_explained_with_its_request():
    request, answer = called().entries
    assert lines(explain(answer, request, NOW)) == [
        "tools/call result 1",
        "The response to #1, a call of get_weather on the server weather.",
        "It took 420 ms.",
        "It contains 1 content block.",
        "Part of turn 3, step 1.",
        "2026-07-28 server/tools",
    ]


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (
            {"content": [], "isError": True},
            "The tool failed (isError in its result). The model sees the error.",
        ),
        (
            {"resultType": "input_required", "inputRequests": {}},
            "The server requires more input. The call continues in a new request.",
        ),
    ],
    ids=["failed tool", "input required"],
)
def test_a_result_that_is_no_answer_yet_or_an_error_is_explained(result: object, sentence: str):
    request, answer = called(result).entries
    assert sentence in explain(answer, request, NOW).sentences


def test_an_error_is_explained_with_the_meaning_of_its_code():
    script = Script()
    answer = script.error(
        script.out("resources/read", {"uri": "file:///x"}), -32002, "Resource\x1b not found"
    )
    assert explain(answer, script.entries[0]).sentences[2:] == (
        "Code -32002: the resource was not found (up to 2025-11-25, 2026-07-28 uses -32602).",
        "Message: Resource␛ not found",
    )


def test_a_pending_request_is_explained():
    script = Script()
    script.out("tools/list", {"cursor": "2"})
    assert explain(script.entries[0]).sentences == (
        "The client lists the tools of server weather.",
        "It requests the next page.",
        "No response yet.",
    )
    cut = Entry(2, 0, 0, "weather", Direction.IN, Kind.NOT_JSON, outcome=Outcome.ERROR)
    assert explain(script.entries[0], cut).sentences[2].endswith(" by #2. It failed.")


def test_sender_and_receiver_follow_the_direction():
    script = Script()
    request = script.back({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}})
    assert explain(request).sentences[0] == "Server weather requests a reply from the model of the client."


def test_progress_logs_and_cancellations_are_explained_with_their_content():
    script = Script()
    known = script.out("tools/call", {"name": "x", "_meta": {"progressToken": 7}})
    progress = script.hear(
        "notifications/progress", {"progressToken": 7, "progress": 3, "total": 10, "message": "warming up"}
    )
    log = script.hear("notifications/message", {"level": "warning", "data": {"城": "满"}})
    cancel = script.tell("notifications/cancelled", {"requestId": known, "reason": "the person left"})
    request = script.entries[0]
    assert explain(progress, request).sentences == (
        "Server weather reports progress.",
        "3 of 10: warming up.",
        "It belongs to #1, tools/call 1.",
    )
    assert 'Level warning: {"城": "满"}' in explain(log).sentences
    assert "Reason: the person left" in explain(cancel, request).sentences


def test_a_handshake_and_a_discovery_are_explained_with_the_revisions():
    request, answer, _ = Script().legacy("2025-06-18").entries
    assert "It requests revision 2025-06-18." in explain(request, answer).sentences
    assert "The negotiated revision is 2025-06-18." in explain(answer, request).sentences
    request, answer = Script().modern().entries
    assert "The server supports 2026-07-28." in explain(answer, request, NOW).sentences
    for entry, pair in ((request, answer), (answer, request)):
        assert explain(entry, pair, "2025-11-25").section == "2026-07-28 server/discover"


def test_a_list_is_explained_with_its_length_and_whether_it_continues():
    script = Script()
    answer = script.result(
        script.out("tools/list"), {"tools": [ECHO, ECHO], "nextCursor": "x", "ttlMs": 60_000}
    )
    assert explain(answer, script.entries[0], NOW).sentences[2:] == (
        "It contains 2 tools. More pages follow.",
        "It may be cached for 1 m 00 s.",
    )


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("subscriptions/listen", "(not part of the negotiated revision 2025-11-25)"),
        ("acme/\x1bdo", "The client sends server weather acme/␛do, which is not an MCP method."),
    ],
)
def test_a_method_that_the_revision_does_not_have_is_explained(method: str, sentence: str):
    script = Script()
    script.out(method, {})
    assert sentence in explain(script.entries[0], None, "2025-11-25").sentences[0]


@pytest.mark.parametrize("method", ["roots/list", "sampling/createMessage", "notifications/message"])
def test_a_deprecated_message_says_so_in_a_word(method: str):
    script = Script().legacy()
    entry = script.back({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}})
    assert "Deprecated since 2026-07-28." in explain(entry).sentences
    assert not any("eprecated" in one for one in explain(script.entries[0]).sentences)


def test_a_call_by_hand_is_explained():
    script = Script()
    script.out("ping", cause=Cause(0, 0, "hand-1"))
    assert explain(script.entries[0]).sentences[-1] == "Sent by hand."


SIGN_IN = {"http": "POST", "url": "https://auth.example/token", "status": 401}


@each_case(
    ("word", "detail", "sentence"),
    [
        ("spawn", {"pid": 7, "argv": ["python", "x.py"]}, "Command: python x.py"),
        ("spawn", {"acts_as": "cursor"}, "mcptui introduces itself as cursor."),
        ("connect", {"acts_as": "cursor"}, "mcptui introduces itself as cursor."),
        ("exit", {"code": 0, "signal": None, "seconds": 1.5}, "It exited normally."),
        ("exit", {"code": 1, "pending": 2}, "2 pending requests will get no response."),
        ("exit", {"code": -9},
         "It was terminated by SIGKILL (killed, possibly because the system ran out of memory)."),
        ("exit", {"code": 127}, "The command was not found."),
        ("exit", {"code": 3, "seconds": 0.3}, "The process of server weather ended after 0.3 s."),
        ("exit", {"code": None, "signal": "SIGTERM"}, "It was terminated by SIGTERM (asked to terminate)."),
        ("gave up", {"id": 7, "why": "too late"},
         "mcptui stopped waiting for the response to request 7 of server weather: too late."),
        ("not recorded", {"why": "too many"},
         "This message was not recorded, because it may contain secrets of server weather: too many."),
        ("too large", {"bytes": 20 << 20, "limit": 16 << 20},
         "A line of 21 MB was skipped. mcptui reads lines of up to 17 MB."),
        ("dropped", {"entries": 1, "bytes": 40},
         "Missing: 1 entry of 40 B, dropped at the size limit or too fast to be stored."),
        ("log left out", {"bytes": 4_000},
         "4.0 kB of stderr output from server weather came too fast to be recorded."),
        ("http", {"exchange": 1, "status": 202},
         "Server weather responded without a body, HTTP 202: accepted, no content."),
        ("http", {"exchange": 1, "http": "GET"},
         "The client opened a message stream from server weather (HTTP GET)."),
        ("http", {"exchange": 1, "http": "DELETE"},
         "The client ended its session with server weather (HTTP DELETE)."),
        ("http", {"exchange": 1, "http": "POST"},
         "The client sent server weather an HTTP POST without a body."),
        ("http", {"status": 200, "sse": {"event": "", "id": "7"}},
         "Server weather sent an event without data, which keeps the stream open."),
        ("broken", {"exchange": 1, "why": "ReadError: reset"},
         "The connection to server weather was lost: ReadError: reset."),
        ("restarted", {}, "mcptui restarted server weather."),
        ("restarted", {"files": ["/srv/a.py"], "seconds": 2.498, "changed": ["tools"], "failed": 1},
         "mcptui restarted server weather in 2.5 s because a.py changed."),
        ("restarted", {"changed": ["tools", "prompts"]}, "Changed lists: tools, prompts."),
        ("restarted", {"failed": 1}, "1 unfinished request failed."),
        ("restart failed", {"why": "SyntaxError: invalid syntax", "at": "a.py:3"},
         "mcptui did not restart server weather: a.py:3: SyntaxError: invalid syntax."),
        ("restart failed", {"files": ["a.py", "b.py"], "why": "nothing listens on port 1"},
         "mcptui did not restart server weather because a.py, b.py changed: nothing listens on port 1."),
        ("server ended", {"failed": 2, "why": "The server exited with code 3."},
         "The server exited with code 3."),
        ("server ended", {"failed": 2}, "2 unfinished requests failed."),
        ("unreadable", {}, "This entry is lost: this part of the recording is damaged."),
        ("invented", {"why": "because"}, "why: because"),
        ("stream opened again", {},
         "mcptui reopened the stream of server weather. Messages sent meanwhile may be lost."),
        ("sign-in", SIGN_IN | {"sent": {"grant_type": "authorization_code"}},
         "mcptui requested tokens for server weather: POST https://auth.example/token."),
        ("sign-in", {"http": "POST", "url": "https://auth.example/reg", "sent": {"redirect_uris": ["x"]}},
         "mcptui registered itself (deprecated) for server weather: POST https://auth.example/reg."),
        ("endpoint", {}, "Server weather sent its message endpoint (HTTP+SSE, deprecated)."),
        ("sign-in", SIGN_IN, "mcptui asked to sign in to server weather: POST https://auth.example/token."),
        ("sign-in", SIGN_IN, "Response: HTTP 401: authorization is missing or expired."),
        ("sign-in", SIGN_IN, "Codes, tokens and secrets were redacted before recording."),
        ("sign-in", {"http": "GET", "url": "https://auth.example/.well-known/x"},
         "mcptui asked how to sign in to server weather: GET https://auth.example/.well-known/x."),
        ("sign-in", {"http": "GET", "url": "u", "failed": "no response within 30 s"},
         "The request failed: no response within 30 s."),
    ],
)  # fmt: skip
def test_events_are_explained(word: str, detail: dict[str, object], sentence: str):
    assert sentence in explain(Script().event(word, **detail)).sentences


@each_case(
    ("kind", "raw", "title", "sentence"),
    [
        (Kind.STDERR, b"oh", "line on stderr", "It starts with: oh"),
        (None, b"hello\x1b", "not JSON", "It starts with: hello␛"),
        (None, b'[{"jsonrpc":"2.0","method":"ping","id":1}]', "batch", "A batch of messages."),
        (None, b"7", "not JSON-RPC", "It starts with: 7"),
        (None, b'{"type":"hello","tools":[]}', "hello, line dialect",
         "A message of the non-standard \"hello\" dialect, which is not MCP."),
    ],
)  # fmt: skip
def test_output_other_than_messages_is_explained(kind: Kind | None, raw: bytes, title: str, sentence: str):
    entry = Script().raw(Direction.IN, raw, kind)
    explanation = explain(entry)
    assert (explanation.title, sentence in explanation.sentences) == (title, True)


def test_model_requests_and_replies_are_explained():
    script, told = Script("model:demo"), {"exchange": "1"}
    asked = script.raw(Direction.OUT, b'{"model": "demo"}', Kind.MODEL_REQUEST, told, Cause(2, 1))
    script.wait(1_990)
    said = script.raw(Direction.IN, b"{}", Kind.MODEL_REPLY, {**told, "status": 429}, Cause(2, 1))
    assert explain(asked, said).sentences == (
        "mcptui sent the conversation and the tools to the model demo: 17 B.",
        "The reply is #2. It took 2.0 s.",
        "Part of turn 2, step 1.",
    )
    assert "HTTP 429: too many requests." in explain(said, asked).sentences


def test_every_method_has_a_sentence_and_a_page_in_both_directions():
    for name, method in METHODS.items():
        for direction in (Direction.OUT, Direction.IN):
            entry = Entry(1, 0, 0, "s", direction, Kind.REQUEST, method=name, ident="1")
            explanation = explain(entry)
            assert explanation.sentences[0].endswith("."), name
            assert "{" not in explanation.sentences[0]
            assert explanation.section.endswith(method.section(max(method.out | method.back)))


def test_an_entry_with_a_truncated_body_is_explained_by_its_columns():
    entry = Entry(1, 0, 0, "s", Direction.IN, Kind.RESPONSE, "tools/call", ident="1", sha256="a", body=b'{"x')
    assert explain(entry).title == "tools/call result 1"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["progress", "total", "message", "level", "data", "reason", "arguments", "code",
                         "tools", "error", "result", "params", "supportedVersions", "ttlMs", "content"]),
        inner, max_size=5,
    ),
    max_leaves=15,
)  # fmt: skip


@given(st.sampled_from(sorted(METHODS)), st.sampled_from(list(Kind)), json_values, json_values)
def test_any_message_is_explained_without_an_exception(method: str, kind: Kind, part: object, detail: object):
    body = json.dumps({"params": part, "result": part, "error": part}).encode("utf-8", "surrogatepass")
    known = detail if isinstance(detail, dict) else {}
    entry = Entry(2, 5, 0, "s\x1b", Direction.IN, kind, method, "t\n", "1", body=body, detail=known)
    for revision in ("", NOW, "2025-11-25", "other"):
        for line in lines(explain(entry, Entry(1, 0, 0, "s", Direction.OUT, Kind.REQUEST), revision)):
            assert clean(line) == line
            assert "\n" not in line


@given(
    st.sampled_from(
        [
            "spawn",
            "exit",
            "too large",
            "dropped",
            "gave up",
            "signal",
            "http",
            "broken",
            "x",
            "restarted",
            "restart failed",
            "server ended",
        ]
    ),
    json_values,
    json_values,
)
def test_any_event_is_explained_without_an_exception(word: str, one: object, other: object):
    names = ("pid", "env", "code", "signal", "seconds", "bytes", "limit", "entries", "id", "why", "x\x1b",
             "status", "http")  # fmt: skip
    detail = dict(zip(names, [one, other] * 7, strict=False)) | {"argv": [one, other]}
    for line in lines(explain(Entry(1, 0, 0, "s", Direction.NONE, Kind.EVENT, word, detail=detail))):
        assert clean(line) == line
