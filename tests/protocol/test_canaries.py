"""The search of the canary soak finds a secret in any encoding, and parts of one."""

import base64
import json
from urllib.parse import quote

import pytest

from tests.endpoint import chunk
from tests.soak.canaries import Needles, fresh_secrets, painted_texts, spelled_texts

SECRETS = fresh_secrets()


def escaped(secret: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in secret)


FORMS = {
    "plain": lambda secret: secret,
    "JSON": json.dumps,
    "JSON in JSON": lambda secret: json.dumps(json.dumps(secret)),
    "JSON codes": escaped,
    "URL": lambda secret: quote(secret, safe=""),
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 behind a name": lambda secret: base64.b64encode(f"ada:{secret}".encode()).decode(),
    "base64 for URLs": lambda secret: base64.urlsafe_b64encode(f"a:{secret}".encode()).decode(),
    "its end": lambda secret: secret[-8:],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SECRETS)
def test_the_search_finds_a_secret_in_every_encoding(form: str, name: str):
    found = Needles(SECRETS).found_in(b"it is " + FORMS[form](SECRETS[name]).encode() + b".")
    assert {one.partition(" ")[0] for one in found} == {name}


def test_the_search_finds_a_secret_painted_on_two_lines_copied_or_in_a_title():
    secret = SECRETS["env"]
    for painted in (
        f"\x1b[31m{secret[:9]}\x1b[2;1H{secret[9:]}",
        f"\x1b]0;{secret}\x07",
        f"\x1b]52;c;{base64.b64encode(secret.encode()).decode()}\x07",
    ):
        assert any(Needles(SECRETS).found_in(text) for text in painted_texts(painted.encode()))


@pytest.mark.parametrize("size", [5, 7])
def test_the_search_finds_a_secret_in_pieces(size: int):
    pieces = [SECRETS["env"][at : at + size] for at in range(0, len(SECRETS["env"]), size)]
    found = Needles(SECRETS).found_in(json.dumps([{"content": piece} for piece in pieces]).encode())
    assert list(found) == ["env in pieces"]


@pytest.mark.parametrize("size", [1, 3, 8])
def test_the_pieces_of_a_stream_are_joined_for_the_search(size: int):
    pieces = [SECRETS["env"][at : at + size] for at in range(0, len(SECRETS["env"]), size)]
    events = [chunk(content=piece, role="assistant") for piece in pieces]
    body = "\n\n".join(f"data: {json.dumps(event)}" for event in events).encode()
    assert SECRETS["env"].encode() in list(spelled_texts(body))


def test_the_search_finds_nothing_in_ordinary_text():
    assert Needles(SECRETS).found_in(b"[redacted:servers.canary.env.CANARY_TOKEN] and Bearer") == {}
