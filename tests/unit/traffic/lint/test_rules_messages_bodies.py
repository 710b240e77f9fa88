"""Findings on the text of a line, before it is parsed as a message."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.traffic.traffic_script import Script
from tui.core.text import clean
from tui.core.traffic import Direction, Entry, Kind, Redaction, Severity
from tui.traffic.lint.lint import Linter
from tui.traffic.lint.rules_messages import quote


def found_in(raw: bytes, **detail: object) -> list[tuple[str, Severity]]:
    script = Script()
    script.raw(Direction.IN, raw, detail=detail)
    return [(finding.code, finding.severity) for finding in script.findings()]


def codes_of(raw: bytes, **detail: object) -> list[str]:
    return [code for code, _ in found_in(raw, **detail)]


NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%s}}'


def test_a_valid_message_has_no_findings():
    assert found_in(NOTE % b'"all is well"') == []


@each_case(
    ("raw", "code"),
    [
        (b"Server running on stdio", "stray-output"),
        (b"", "stray-output"),
        (b"Content-Length: 120", "stray-output"),
        (b'\x1b[32minfo {"jsonrpc": "2.0", "id": 1, "result": {}}', "stray-output"),
        ((NOTE % b"1") + b" and more", "stray-output"),
        ((NOTE % b"1") + (NOTE % b"2"), "stray-output"),
        (b'{"jsonrpc": "2.0", "id": 1, "resu', "not-json"),
        (b"{'jsonrpc': '2.0'}", "not-json"),
        (NOTE % b"NaN", "not-json"),
        (b"{", "embedded-newline"),
        (b'  "id": 7,', "embedded-newline"),
        (b"  }", "embedded-newline"),
        (NOTE % b'"\xff\xfe"', "invalid-utf8"),
        (NOTE % rb'"\ud83d alone"', "lone-surrogate"),
        (NOTE % rb'"\udc00"', "lone-surrogate"),
        (NOTE % b'{"a":1,"a":2}', "duplicate-key"),
        (NOTE % b'{"":1,"":2}', "duplicate-key"),
        (NOTE % (b"[" * 300 + b"]" * 300), "too-deep"),
        (b"\xef\xbb\xbf" + NOTE % b"1", "byte-order-mark"),
        (NOTE % b"1" + b"\r", "line-ending"),
    ],
)
def test_each_flaw_in_a_message_has_a_code(raw: bytes, code: str):
    assert codes_of(raw) == [code]


@pytest.mark.parametrize(
    "data", [rb'"\ud83d\ude00"', rb'"\\ud83d"', '"\u2713 caf\u00e9"'.encode(), b'{"a":{"a":1}}']
)
def test_text_that_only_looks_flawed_is_not_reported(data: bytes):
    assert codes_of(NOTE % data) == []


def test_a_line_truncated_by_the_end_of_the_stream_is_reported_as_incomplete():
    assert codes_of(b'{"jsonrpc": "2.0", "id": 1, "resu', newline=False) == ["incomplete"]


def test_noise_on_stdout_is_less_severe_than_a_broken_message():
    assert found_in(b"hello") == [("stray-output", Severity.WARNING)]
    assert found_in(b'{"jsonrpc": ') == [("not-json", Severity.ERROR)]


def test_an_http_body_can_have_many_lines_or_be_empty():
    printed = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}, indent=1)
    assert codes_of(printed.encode(), status=200) == []
    assert codes_of(b"", status=202) == []
    assert codes_of(b"<html>not found</html>", status=404) == []
    assert codes_of(b"<html>hello</html>", status=200) == ["not-json"]


def test_authorization_over_http_is_not_reported():
    assert codes_of(b'{"access_token": "x", "token_type": "bearer"}', status=200) == []
    assert codes_of(b'{"error": "invalid_grant"}', status=400) == []
    script = Script()
    script.raw(Direction.OUT, b"grant_type=refresh_token", detail={"url": "http://localhost/token"})
    assert script.codes() == []


@pytest.mark.parametrize(("size", "code"), [(500_000, "not-whole"), (20 << 20, "oversize")])
def test_a_truncated_body_is_reported_as_not_whole_or_too_large_but_not_as_broken(size: int, code: str):
    entry = Entry(1, 0, 0, "s", Direction.IN, Kind.RESPONSE, ident="1", size=size, sha256="ab", body=b'{"re')
    assert [finding.code for finding in Linter().feed(entry)] == [code]


def test_a_redaction_mark_does_not_make_a_line_invalid():
    body = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":[redacted:KEY]}}'
    entry = Entry(
        1, 0, 0, "s", Direction.IN, Kind.NOT_JSON, size=99, body=body, redactions=(Redaction(70, 84, "KEY"),)
    )
    assert Linter().feed(entry) == []


def test_quotes_from_a_server_are_cleaned_and_short():
    assert quote(b"\x1b[2Jhi") == '"\u241b[2Jhi"'
    assert quote('say "hi"') == "'say \"hi\"'"
    assert len(quote("x" * 10_000)) < 80


@given(st.binary(max_size=400))
def test_any_bytes_are_linted_without_an_exception(raw: bytes):
    script = Script()
    script.raw(Direction.IN, raw)
    for finding in script.findings():
        assert finding.code
        assert len(finding.sentence) <= 320
        assert clean(finding.sentence) == finding.sentence


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "tools", "name", "_meta"]),
        inner, max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip


@given(st.lists(json_values, max_size=6), st.sampled_from([Direction.IN, Direction.OUT]))
def test_any_json_is_linted_without_an_exception(values: list[object], direction: Direction):
    script = Script()
    for value in values:
        script.raw(direction, json.dumps(value).encode("utf-8", "surrogatepass"))
    assert all(clean(finding.sentence) == finding.sentence for finding in script.findings())
