"""Sentences for events of a sign-in; those of other events are tested in `test_explain.py`."""

from tui.traffic.explain.events import event_sentences


def said(**detail: object) -> str:
    return " ".join(event_sentences("sign-in", "server safe", detail))


def test_a_token_request_is_explained_with_its_purpose_and_its_answer():
    sent = {"grant_type": "authorization_code", "code": "[redacted:code]"}
    text = said(http="POST", url="https://auth.example/token", sent=sent, status=401)
    assert "requested tokens for server safe: POST https://auth.example/token." in text
    assert "HTTP 401" in text and "Codes, tokens and secrets were redacted before recording." in text


def test_a_metadata_request_is_explained_as_asking_how_to_sign_in():
    url = "https://auth.example/.well-known/oauth-authorization-server"
    assert "asked how to sign in to server safe" in said(http="GET", url=url, status=200)


def test_an_unanswered_request_is_explained_with_the_reason():
    assert "The request failed: no response within 30 s." in said(
        http="GET", url="u", failed="no response within 30 s"
    )


def test_a_reopened_stream_says_that_messages_may_be_lost():
    said = event_sentences("stream opened again", "far", {})
    assert said == ["mcptui reopened the stream of far. Messages sent meanwhile may be lost."]
