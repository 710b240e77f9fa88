"""The search of the canary soak: a secret that is there in any form is found, also a piece of one."""

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
def test_a_secret_is_found_in_every_form(form: str, name: str):
    found = Needles(SECRETS).found_in(b"it is " + FORMS[form](SECRETS[name]).encode() + b".")
    assert {one.partition(" ")[0] for one in found} == {name}


def test_what_is_painted_over_several_lines_copied_or_in_a_title_is_found():
    secret = SECRETS["env"]
    for painted in (
        f"\x1b[31m{secret[:9]}\x1b[2;1H{secret[9:]}",
        f"\x1b]0;{secret}\x07",
        f"\x1b]52;c;{base64.b64encode(secret.encode()).decode()}\x07",
    ):
        assert any(Needles(SECRETS).found_in(text) for text in painted_texts(painted.encode()))


@pytest.mark.parametrize("size", [5, 7])
def test_a_secret_in_pieces_is_found(size: int):
    pieces = [SECRETS["env"][at : at + size] for at in range(0, len(SECRETS["env"]), size)]
    found = Needles(SECRETS).found_in(json.dumps([{"content": piece} for piece in pieces]).encode())
    assert list(found) == ["env in pieces"]


@pytest.mark.parametrize("size", [1, 3, 8])
def test_what_a_stream_spells_is_joined(size: int):
    pieces = [SECRETS["env"][at : at + size] for at in range(0, len(SECRETS["env"]), size)]
    events = [chunk(content=piece, role="assistant") for piece in pieces]
    body = "\n\n".join(f"data: {json.dumps(event)}" for event in events).encode()
    assert SECRETS["env"].encode() in list(spelled_texts(body))


def test_ordinary_text_has_none():
    assert Needles(SECRETS).found_in(b"[redacted:servers.canary.env.CANARY_TOKEN] and Bearer") == {}
