"""Credentials seen in traffic are redacted from then on."""

import pytest

from tests.worst_texts import cpu_seconds
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction
from tui.host.passthrough.learned_secrets import MAX_AT_ONCE, LearnedSecrets


def captured(raw=b"", **detail):
    return Captured("far", Direction.IN, 0, 0, raw, detail=detail)


def test_session_ids_and_tokens_of_headers_and_urls_are_learned():
    redactor, seen = Redactor(), []
    sink = LearnedSecrets(seen.append, redactor)
    sink(captured(headers=[["Mcp-Session-Id", "5e55-10n-1d-42"], ["Authorization", "Bearer b34r3r-t0k3n"]]))
    sink(captured(url="https://h.example/mcp?api_key=k3y-in-query"))
    sink(captured(b"/messages?session_id=4b5c6d7e8f", sse={"event": "endpoint"}))
    text = "5e55-10n-1d-42 b34r3r-t0k3n k3y-in-query 4b5c6d7e8f"
    hidden = redactor.redact(text)
    assert not any(secret in hidden for secret in text.split())
    assert len(seen) == 3


def test_a_crowded_sink_is_reported_to_the_reader():
    class Crowded(list):
        def __call__(self, item):
            self.append(item)

        def crowded(self):
            return True

    assert LearnedSecrets(Crowded(), Redactor()).crowded()
    assert not LearnedSecrets([].append, Redactor()).crowded()


def test_the_value_of_a_cookie_is_learned_without_its_name():
    redactor = Redactor()
    sink = LearnedSecrets([].append, redactor)
    sink(
        captured(
            headers=[["Set-Cookie", "sid=c00kie-0ne; Path=/"], ["Cookie", "a=c00kie-tw0; b=c00kie-thr33"]]
        )
    )
    text = "c00kie-0ne c00kie-tw0 c00kie-thr33"
    assert not any(secret in redactor.redact(text) for secret in text.split())


def test_the_credentials_of_a_passing_sign_in_are_learned():
    redactor, seen = Redactor(), []
    sink = LearnedSecrets(seen.append, redactor)
    form = [["Content-Type", kind] for kind in ("application/x-www-form-urlencoded", "text/plain")]
    sink(
        captured(
            b"grant_type=authorization_code&code=c0de-0f-a-sign-in&code_verifier=v3rifi3r-1", headers=form
        )
    )
    sink(captured(b'{"access_token": "acc3ss-t0ken-1", "refresh_token": "r3fresh-t0ken"}', status=200))
    sink(captured(headers=[["Location", "http://127.0.0.1:9/callback?code=c0de-number-2&state=st4te-of-it"]]))
    text = "c0de-0f-a-sign-in v3rifi3r-1 acc3ss-t0ken-1 r3fresh-t0ken c0de-number-2 st4te-of-it"
    hidden = redactor.redact(text)
    assert not any(secret in hidden for secret in text.split())


def test_values_are_not_learned_from_a_body_that_is_not_an_oauth_response():
    redactor = Redactor()
    LearnedSecrets([].append, redactor)(captured(b'["access_token", "not-a-secret-here"]', status=200))
    assert redactor.redact("not-a-secret-here") == "not-a-secret-here"


def test_a_body_is_searched_although_its_headers_are_known():
    redactor = Redactor()
    sink = LearnedSecrets([].append, redactor)
    for token in ("acc3ss-0ne", "acc3ss-tw0"):
        sink(captured(f'{{"access_token": "{token}"}}'.encode(), headers=[["Content-Type", "a/json"]]))
    sink(captured(b"/messages?session_id=4b5c6d7e8f", sse={"event": "endpoint"}))
    sink(captured(b"/messages?session_id=5c6d7e8f9a", sse={"event": "endpoint"}))
    text = "acc3ss-0ne acc3ss-tw0 4b5c6d7e8f 5c6d7e8f9a"
    assert not any(secret in redactor.redact(text) for secret in text.split())


def cookies(*values: str, server: str = "far") -> Captured:
    headers = [["Set-Cookie", f"c{at}={value}; Path=/"] for at, value in enumerate(values)]
    return captured(b'{"result": {}}', exchange=1, status=200, headers=headers)._replace(source=server)


def test_the_cookies_of_a_thousand_responses_are_all_redacted():
    redactor = Redactor()
    sink = LearnedSecrets([].append, redactor)
    values = [f"canary-{number:05}" for number in range(3000)]
    for start in range(0, 3000, 3):
        sink(cookies(*values[start : start + 3]))
    assert "canary" not in redactor.redact(" ".join(values))


def test_cookies_of_four_kilobytes_are_redacted_as_a_whole():
    redactor = Redactor()
    value = "canary-" + "v" * 4000
    LearnedSecrets([].append, redactor)(cookies(value))
    assert redactor.redact(f'{{"seen": "{value}"}}') == '{"seen": "[redacted:set-cookie]"}'


def test_fifty_large_cookies_of_each_response_are_learned_in_milliseconds():
    redactor = Redactor({"KEY": "configured-value"})
    sink = LearnedSecrets([].append, redactor)
    responses = [cookies(*(f"canary-{turn}-{at}-{'v' * 1500}" for at in range(50))) for turn in range(20)]
    assert cpu_seconds(lambda: [sink(one) for one in responses]) < 1  # 1,000 of them; it took a minute


@pytest.mark.parametrize(
    "responses",
    [[[f"canary-{number}" for number in range(MAX_AT_ONCE + 1)]], [["canary-1"], ["canary-2"], ["canary-3"]]],
    ids=["in one response", "in total"],
)
def test_of_a_server_that_sends_more_credentials_than_are_remembered_only_sizes_are_recorded(
    monkeypatch, responses
):
    monkeypatch.setattr("tui.core.secrets.redact.MAX_LEARNED", 2 if len(responses) > 1 else 20_000)
    redactor, seen, cut_off = Redactor(), [], []
    sink = LearnedSecrets(seen.append, redactor)
    sink.on_full = cut_off.append
    for values in responses:
        sink(cookies(*values))
    sink(captured(b"canary-1 canary-3", status=200))
    assert [len(one.raw) for one in seen] == [*(14 for _ in responses[:-1]), 0, 0]
    assert seen[-1].size == 17 and "canary" not in repr(seen[-2:])
    assert len(cut_off) == 2 and cut_off[0].startswith("it sent more than 20,000 different cookies")


def test_a_server_that_sends_too_many_credentials_leaves_room_for_those_of_others(monkeypatch):
    monkeypatch.setattr("tui.core.secrets.redact.MAX_LEARNED", 2)
    redactor, seen = Redactor(), []
    LearnedSecrets(seen.append, redactor)(cookies("canary-1", "canary-2", "canary-3"))
    LearnedSecrets(seen.append, redactor)(cookies("sound-cookie", server="near"))
    assert "sound-cookie" not in redactor.redact("sound-cookie") and seen[-1].raw
