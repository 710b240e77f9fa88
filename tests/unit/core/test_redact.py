"""No secret that mcptui knows, or that looks like one, passes the gate."""

import json
from urllib.parse import quote

import pytest

from tui.core.redact import Redactor, Secret

VALUE = 'p4ss"w/rd+42'


@pytest.mark.parametrize("form", [VALUE, json.dumps(VALUE)[1:-1], quote(VALUE, safe="")])
def test_a_configured_value_is_replaced_by_its_name_in_every_form_it_travels_in(form: str):
    assert Redactor({"DB_PASSWORD": VALUE}).redact(f"<{form}>") == "<[redacted:DB_PASSWORD]>"


def test_a_short_value_is_left_because_it_would_match_ordinary_text():
    assert Redactor({"PIN": "on"}).redact("turn it on") == "turn it on"


def test_the_longest_of_overlapping_values_wins():
    redactor = Redactor({"A": "secret-value", "B": "secret-value-long"})
    assert redactor.redact("secret-value-long") == "[redacted:B]"


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdefghijklmnop1234",
        "ghp_" + "a1" * 18,
        "xoxb-1234567890-abcdef",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        "Authorization: Bearer abcdefghijklmnop",
    ],
)
def test_known_shapes_of_secrets_are_found_without_being_configured(text: str):
    redacted = Redactor().redact(text)
    assert "[redacted:" in redacted and text.split()[-1][-8:] not in redacted


def test_text_without_secrets_is_unchanged():
    assert Redactor({"KEY": "abcdefgh"}).redact("the task-force asked") == "the task-force asked"


def test_a_secret_does_not_show_itself():
    secret = Secret("abcdefgh")
    assert "abcdefgh" not in f"{secret} {secret!r}" and secret.reveal() == "abcdefgh"
