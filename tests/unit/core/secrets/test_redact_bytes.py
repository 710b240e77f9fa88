"""No configured or recognizable secret gets into a recording; every other byte does."""

import base64
import json
import os
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.secrets.redact import Redactor

VALUE = 'p4ss"w/rd+42 é\\x\n'
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nq+/8=\n-----END RSA PRIVATE KEY-----"

SHAPES = [
    "sk-proj-abcdefghijklmnop1234",
    "ghp_" + "a1" * 18,
    "github_pat_11ABCDEFG0" + "x" * 30,
    "glpat-" + "a1" * 10,
    "xoxb-1234567890-abcdef",
    "AIza" + "a" * 35,
    "AKIAABCDEFGHIJKLMNOP",
    "ASIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    PEM,
]

values = st.text(min_size=8, max_size=40)
plain_bytes = st.binary(max_size=200)


def forms(value: str) -> list[str]:
    """Return the encodings of a value on the wire."""
    once = json.dumps(value)[1:-1]
    octets = value.encode()
    units = value.encode("utf-16-be")
    return [
        value,
        once,
        json.dumps(once)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        once.replace("/", "\\/"),
        "".join(f"\\u{units[at]:02X}{units[at + 1]:02x}" for at in range(0, len(units), 2)),
        quote(value, safe=""),
        quote(value),
        quote_plus(value),
        base64.b64encode(octets).decode(),
        base64.urlsafe_b64encode(octets).decode(),
        json.dumps(base64.b64encode(octets).decode()).replace("/", "\\/"),
    ]


def restored(raw: bytes, redacted: bytes, redactions) -> bool:
    """Return whether `redacted` without its placeholders matches `raw` in order, from start to end."""
    outside, done = [], 0
    for part in redactions:
        outside.append(redacted[done : part.start])
        done = part.end
    outside.append(redacted[done:])
    if not raw.startswith(outside[0]) or not raw.endswith(outside[-1]):
        return False
    place = 0
    for piece in outside:
        place = raw.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return True


@each_case("form", forms(VALUE))
def test_a_configured_value_is_replaced_in_every_encoding_and_its_span_is_exact(form: str):
    raw = b'{"a":"' + form.encode() + b'"}'
    redacted, (span,) = Redactor({"DB_PASSWORD": VALUE}).redact_bytes(raw)
    assert redacted[span.start : span.end] == b"[redacted:DB_PASSWORD]" and span.name == "DB_PASSWORD"
    assert redacted.startswith(b'{"a":"') and redacted.endswith(b'"}') and restored(raw, redacted, (span,))


@pytest.mark.parametrize("before", [b"", b"u", b"us", b"user:"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\\n", b"\\\\r\\\\n", b"\\u000A"])
def test_a_value_within_a_longer_base64_text_is_found_at_every_alignment(before: bytes, end: bytes):
    value = "hunter2-hunter2"
    raw = base64.b64encode(b"x" * 30 + before + value.encode() + b"!")
    raw = raw[:52] + end + raw[52:]
    redacted, spans = Redactor({"K": value}).redact_bytes(b"Basic " + raw)
    assert len(spans) == 1 and redacted.startswith(b"Basic ") and len(redacted) < len(raw) + 8


@given(value=values, before=plain_bytes, after=plain_bytes, form=st.integers(0, 11))
@settings(max_examples=40, deadline=None)
def test_no_encoding_of_a_secret_survives_and_all_other_bytes_are_unchanged(
    value: str, before: bytes, after: bytes, form: int
):
    text = forms(value)[form].encode()
    raw = before + text + after
    redacted, spans = Redactor({"K": value}).redact_bytes(raw)
    assert spans and text not in redacted
    assert restored(raw, redacted, spans)


@given(raw=plain_bytes)
@settings(deadline=None)
def test_bytes_without_secrets_are_unchanged(raw: bytes):
    assert Redactor({"K": "not-in-there-at-all"}).redact_bytes(raw) == (raw, ())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("around", [b"%s", b'{"t":"%s"}', b'{"t":"a\\n%s\\nb"}', b"key=%s&x=1"])
def test_well_known_shapes_are_found_anywhere(shape: str, around: bytes):
    inside = json.dumps(shape)[1:-1] if b'"' in around else shape
    raw = around % inside.encode()
    redacted, spans = Redactor().redact_bytes(raw)
    assert len(spans) == 1 and inside.encode() not in redacted and restored(raw, redacted, spans)
    if b'"' in around:
        json.loads(redacted)


@pytest.mark.parametrize("scheme", [b"Bearer ", b"bearer ", b"Bearer%20"])
def test_a_bearer_token_is_replaced_and_its_scheme_is_kept(scheme: bytes):
    redacted, spans = Redactor().redact_bytes(b'"Authorization":"' + scheme + b'abcdefghijk12345"')
    assert redacted == b'"Authorization":"' + scheme + b'[redacted:bearer]"' and spans[0].name == "bearer"


def test_an_aws_secret_is_recognized_by_the_preceding_name():
    secret = b"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    for before in (b'"SecretAccessKey":"', b"aws_secret_access_key = ", b"AWS_SECRET_ACCESS_KEY="):
        assert secret not in Redactor().redact_bytes(before + secret)[0]


def test_ordinary_words_that_resemble_a_shape_are_kept():
    for text in (b"the task-force asked", b"a desk-organiser-for-everybody", b"high_scores"):
        assert Redactor().redact_bytes(text) == (text, ())


@pytest.mark.parametrize(
    ("name", "raw", "redacted"),
    [
        (
            "K",
            b'{"k":"-----BEGIN PRIVATE KEY-----\\nMIIE","rest":"stays"}',
            b'{"k":"[redacted:pem]","rest":"stays"}',
        ),
        ('a "b"\n', b'{"x":"longsecret"}', b'{"x":"[redacted:secret]"}'),
        ("K", b"\xff\xfe\x00longsecret\x80\x00", b"\xff\xfe\x00[redacted:K]\x80\x00"),
    ],
)
def test_what_is_around_a_secret_stays_valid_and_unchanged(name: str, raw: bytes, redacted: bytes):
    assert Redactor({name: "longsecret"}).redact_bytes(raw)[0] == redacted


def test_overlapping_matches_become_one_placeholder_of_the_configured_and_the_longest_value():
    raw = b"Authorization: Bearer my-configured-token-and-more"
    redacted, spans = Redactor({"TOKEN": "my-configured-token"}).redact_bytes(raw)
    assert redacted == b"Authorization: Bearer [redacted:TOKEN]" and len(spans) == 1
    redactor = Redactor()
    for value in ("secret-value-long", "secret-value"):
        redactor.add({value[-4:]: value})
    assert redactor.redact_bytes(b"secret-value-long")[0] == b"[redacted:long]"


def test_a_value_at_a_window_edge_of_a_large_body_is_found_once():
    secret = "edge-of-window-secret"
    redactor = Redactor({"K": secret})
    for place in range(16 * 1024 - 30, 16 * 1024 + 5, 5):
        raw = b"." * place + secret.encode() + b"." * 40_000
        redacted, spans = redactor.redact_bytes(raw)
        assert [(span.start, span.end) for span in spans] == [(place, place + len(b"[redacted:K]"))]
        assert len(redacted) == len(raw) - len(secret) + len(b"[redacted:K]")


OF_THE_SYSTEM = os.fsdecode(b"pa\xffss-w\xc3\xb6rd")
"""A value of the environment that is not UTF-8, as Python gives it."""


@each_case(
    "form",
    [
        b"pa\xffss-w\xc3\xb6rd",
        json.dumps(OF_THE_SYSTEM).encode(),
        json.dumps(OF_THE_SYSTEM, ensure_ascii=False).encode("utf-8", "backslashreplace"),
        b"pa%FFss-w%c3%b6rd",
        base64.b64encode(b"pa\xffss-w\xc3\xb6rd"),
        base64.b64encode(b"user:pa\xffss-w\xc3\xb6rd"),
    ],
)
def test_a_value_that_is_not_utf_8_is_found_too(form: bytes):
    clean, marks = Redactor({"TOKEN": OF_THE_SYSTEM}).redact_bytes(b"<" + form + b">")
    assert b"[redacted:TOKEN]" in clean and len(marks) == 1
    assert b"ss-w" not in clean and form not in clean
