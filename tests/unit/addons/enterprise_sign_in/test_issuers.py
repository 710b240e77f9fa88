"""What issuers say when they refuse."""

from typing import Any

import httpx2

from tests.cases import each_case
from tui.addons.enterprise_sign_in.issuers import Issuer

AT = Issuer("the issuer x", {}, None, {}, lambda text: text.replace("s3cret", "[redacted]"))  # type: ignore[arg-type]


def refused(body: Any, status: int = 400) -> str:
    reply = httpx2.Response(status, json=body)
    error = AT.refused("access", reply, "Ask.", "[table]")
    return f"{error.message} {error.next_step}"


@each_case(
    ("body", "said"),
    [
        ({"error": "invalid_target"}, "the issuer x refused access: invalid_target. Ask."),
        ({"error": "a", "error_description": "Not you."}, "the issuer x refused access: a: Not you. Ask."),
        ({"error": "a", "error_description": "s3cret"}, "the issuer x refused access: a: [redacted]. Ask."),
        ({"error": {"code": 1}}, "the issuer x refused access: HTTP 400. Ask."),
        (["x"], "the issuer x refused access: HTTP 400. Ask."),
    ],
)
def test_a_refusal_is_told_in_the_words_of_the_issuer(body: Any, said: str):
    assert refused(body) == said


def test_an_unknown_client_is_told_with_the_table_of_its_settings():
    assert refused({"error": "invalid_client"}, 401).endswith("Check client_id and client_secret in [table].")


def test_words_with_escape_sequences_are_cleaned():
    assert "\x1b" not in refused({"error": "a", "error_description": "\x1b[2Jx"})
