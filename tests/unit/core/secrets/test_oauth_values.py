"""Which OAuth values may be recorded."""

import json
from base64 import b64encode

import pytest

from tests.cases import each_case
from tui.core.errors import ServerError
from tui.core.secrets.oauth_values import (
    Callback,
    claims_of,
    fields_of,
    is_shown,
    masked_address,
    masked_fields,
    read_callback,
    secrets_of,
    secrets_of_header,
    unsupported,
)

FORM = "application/x-www-form-urlencoded"


def test_a_token_request_is_shown_without_its_values():
    body = b"grant_type=authorization_code&code=canary&code_verifier=canary&client_id=me&x_custom=canary"
    fields = fields_of(body, FORM)
    shown = masked_fields(fields, len(body))
    assert shown["grant_type"] == "authorization_code" and shown["client_id"] == "me"
    assert "canary" not in json.dumps(shown) and shown["code"] == "[redacted:code]"
    assert secrets_of(fields) == {"code": "canary", "code_verifier": "canary"}


def test_a_token_reply_is_shown_without_its_tokens():
    reply = {"access_token": "canary", "refresh_token": "canary", "expires_in": 60, "vendor": "canary"}
    shown = masked_fields(fields_of(json.dumps(reply).encode(), "application/json"), 1)
    assert shown["expires_in"] == 60 and "canary" not in json.dumps(shown)


def test_metadata_is_shown_unchanged_unless_it_is_large():
    metadata = {"issuer": "https://auth.example", "scopes_supported": ["read"]}
    assert masked_fields(metadata, 1) == metadata
    assert "omitted" in masked_fields({"scopes_supported": ["x" * 100_000]}, 1)


@pytest.mark.parametrize(
    "body", [b"<html>canary</html>", b'["canary"]', b'{"access_token": "canary', b"\xff"]
)
def test_of_a_body_that_is_not_an_object_only_the_size_is_shown(body):
    shown = masked_fields(fields_of(body, "text/html"), len(body))
    assert "canary" not in shown and str(len(body)) in shown


def test_a_url_keeps_its_path_and_the_names_of_its_query():
    shown = masked_address("https://user:canary@auth.example/token?code=canary&scope=read#canary")
    assert shown == "https://auth.example/token?code=[redacted:code]&scope=read"

    assert not is_shown("registration_client_uri") and is_shown("redirect_uris")


def test_a_basic_header_contains_the_credentials_and_the_client_secret():
    credentials = b64encode(b"me:can%2Fary").decode()
    found = {"authorization": credentials, "client_secret": "can/ary"}
    assert secrets_of_header(f"Basic {credentials}") == found
    assert secrets_of_header("Bearer abc") == {"authorization": "abc"} and secrets_of_header("") == {}


def test_a_pasted_url_is_read_whole_or_from_its_query() -> None:
    for text in ("http://127.0.0.1:9/callback?code=c&state=s", "  ?code=c&state=s\n", "code=c&state=s"):
        assert read_callback(text) == Callback("s", "c")


@pytest.mark.parametrize("text", ["", "abc", "https://auth.example/login", "http://h/callback?code=c"])
def test_a_pasted_text_that_is_not_a_callback_says_what_to_paste(text: str) -> None:
    with pytest.raises(ServerError, match="Paste the complete URL, with code= and state="):
        read_callback(text)


def test_the_code_is_not_in_the_repr() -> None:
    assert "hidden" not in repr(Callback("hidden-state", "hidden-code"))


@each_case("token", ["", "a", "a.b", "a.!.c", "a.b.c.d", "a.W10.c", "a.bm8.c", "é.é.é"])
def test_what_is_no_jwt_has_no_claims(token: str):
    assert claims_of(token) == {}


_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@each_case(
    ("metadata", "named"),
    [
        ({}, ""),
        ({"dpop_signing_alg_values_supported": []}, ""),
        ({"dpop_signing_alg_values_supported": ["ES256"]}, "DPoP"),
        ({"dpop_bound_access_tokens_required": True}, "DPoP"),
        ({"grant_types_supported": ["authorization_code", _BEARER]}, ""),
        ({"grant_types_supported": [_BEARER]}, "workload identity"),
        (
            {
                "grant_types_supported": [_BEARER],
                "authorization_grant_profiles_supported": ["urn:ietf:params:oauth:grant-profile:id-jag"],
            },
            "",
        ),
        (
            {"grant_types_supported": [_BEARER], "dpop_bound_access_tokens": True},
            "DPoP and workload identity",
        ),
    ],
)
def test_what_metadata_name_and_is_not_supported_is_said(metadata: dict[str, object], named: str):
    assert unsupported(metadata) == (f"Its metadata name {named}, not supported yet." if named else "")
