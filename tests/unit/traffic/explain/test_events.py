"""Sentences for events of a sign-in; those of other events are tested in `test_explain.py`."""

import pytest

from tui.traffic.explain.events import event_sentences


def said(**detail: object) -> str:
    return " ".join(event_sentences("sign-in", "server safe", detail))


SENT = {"grant_type": "authorization_code", "code": "[redacted:code]"}
TOKEN, METADATA = "https://auth.example/token", "https://auth.example/.well-known/oauth-authorization-server"


@pytest.mark.parametrize(
    ("detail", "sentences"),
    [
        (
            {"http": "POST", "url": TOKEN, "sent": SENT, "status": 401},
            [
                f"requested tokens for server safe: POST {TOKEN}.",
                "HTTP 401",
                "Codes, tokens and secrets were redacted before recording.",
            ],
        ),
        ({"http": "GET", "url": METADATA, "status": 200}, ["asked how to sign in to server safe"]),
        (
            {"http": "GET", "url": "u", "failed": "no response within 30 s"},
            ["The request failed: no response within 30 s."],
        ),
    ],
    ids=["token", "metadata", "no response"],
)
def test_a_request_of_a_sign_in_is_explained_with_its_purpose_and_its_answer(detail, sentences):
    assert all(sentence in said(**detail) for sentence in sentences)


def test_a_reopened_stream_says_that_messages_may_be_lost():
    said = event_sentences("stream opened again", "far", {})
    assert said == ["mcptui reopened the stream of far. Messages sent meanwhile may be lost."]
