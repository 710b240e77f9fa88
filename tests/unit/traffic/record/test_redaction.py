"""Redaction of entries before they are stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.traffic.tapped import seen
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Kind
from tui.model.tap import WITHHELD
from tui.traffic.record.redaction import keep, keep_all, scrub


def kept_detail(detail: dict[str, object]) -> object:
    return scrub(detail, Redactor().redact_bytes)


def test_headers_with_credentials_and_secrets_in_urls_are_not_kept():
    detail = {
        "url": "https://ada:hunter2@h/mcp?token=hunter2&page=2",
        "headers": [["Mcp-Session-Id", "s1"], ["Location", "/in?session_id=s1"], ["Accept", "text/plain"]],
        "response_headers": {"X-Auth-Token": "s1", "Mcp-Protocol-Version": "2025-06-18"},
    }
    assert kept_detail(detail) == {
        "url": "https://ada:[redacted:password]@h/mcp?token=[redacted:token]&page=2",
        "headers": [
            ["Mcp-Session-Id", "[redacted:mcp-session-id]"],
            ["Location", "/in?session_id=[redacted:session_id]"],
            ["Accept", "text/plain"],
        ],
        "response_headers": {"X-Auth-Token": "[redacted:x-auth-token]", "Mcp-Protocol-Version": "2025-06-18"},
    }


def test_redacting_a_detail_twice_changes_nothing():
    once = kept_detail({"url": "https://a:b@h/?key=x1", "headers": {"cookie": "a"}})
    assert kept_detail(dict(once)) == once  # type: ignore[call-overload]


SECRET, KEY = "a-configured-secret-value", "sk-proj-Ab3dEf6hIj9kLm2n"
PIECES = [
    *(b"x", b"xxxx", b"***", b"\n", b"\\", b"%2d", b'"', b"A" * 300, b"B" * 4000),
    *(b"AKIA", b"Bearer ", b"ghp_" + b"a1B2" * 9, SECRET[6:].encode(), KEY[-14:].encode()),
    *(text[:cut].encode() for text in (SECRET, KEY) for cut in (6, 14, None)),
]
lines = st.lists(st.sampled_from(PIECES), max_size=6).map(b"".join)


@given(st.lists(lines, max_size=30), st.sampled_from([0, 200]))
def test_redacting_bodies_together_equals_redacting_each_alone(raws: list[bytes], cap: int):
    redact = Redactor({"TOKEN": SECRET}, {"KEY": KEY}).redact_bytes
    group = [seen(raw) for raw in raws]
    assert list(keep_all(group, redact, cap)) == [keep(one, redact, cap) for one in group]


@given(st.lists(st.tuples(lines, st.booleans()), max_size=30), st.sampled_from([0, 200]))
def test_redacting_truncated_bodies_together_equals_redacting_each_alone(
    raws: list[tuple[bytes, bool]], cap: int
):
    redact = Redactor({"TOKEN": SECRET}, {"KEY": KEY}).redact_bytes
    group = [seen(raw)._replace(size=len(raw) + torn) for raw, torn in raws]
    assert list(keep_all(group, redact, cap)) == [keep(one, redact, cap) for one in group]


@pytest.mark.parametrize("others", [0, 1])
def test_the_placeholder_of_a_withheld_reply_is_not_truncated(others: int):
    note = seen(WITHHELD)._replace(size=10_000, detail={"withheld": True}, kind=Kind.MODEL_REPLY)
    kept = next(iter(keep_all([note, *[seen(b"{}")] * others], Redactor().redact_bytes, 0)))
    assert kept.body == WITHHELD


@pytest.mark.parametrize("between", ["", " "])
@pytest.mark.parametrize("name", ["K", "a.name.of.more.letters.than.all.of.it"])
@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("cap", [0, 100_000, 1_000_000])
def test_truncating_a_long_body_leaves_no_part_of_a_secret(between: str, name: str, torn: bool, cap: int):
    raw = between.join([SECRET] * 20_000).encode()
    body = seen(raw[:-7])._replace(size=len(raw)) if torn else seen(raw)
    kept = keep(body, Redactor({name: SECRET}).redact_bytes, cap)
    parts = {SECRET[at : at + 6].encode() for at in range(len(SECRET) - 5)}
    assert [part for part in parts if part in kept.body] == []
    assert len(kept.body) >= (min(cap, 300_000) or 300_000) // 3
    assert all(kept.body[span.start : span.end].startswith(b"[redacted") for span in kept.redactions)
