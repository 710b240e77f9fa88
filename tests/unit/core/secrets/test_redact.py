"""No known or recognizable secret passes redaction."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.cases import each_case
from tui.core.secrets.redact import PieceRedactor, Redactor, Secret


def test_a_short_value_is_not_redacted_because_it_would_match_ordinary_text():
    assert Redactor({"PIN": "on"}).redact("turn it on") == "turn it on"


def test_the_repr_of_a_secret_does_not_reveal_it():
    secret = Secret("abcdefgh")
    assert "abcdefgh" not in f"{secret} {secret!r}" and secret.reveal() == "abcdefgh"


@pytest.mark.parametrize(("name", "other"), [("A", "B"), ("api_key", "api_key")])
def test_adding_values_keeps_the_earlier_ones_even_under_the_same_name(name: str, other: str):
    redactor = Redactor({name: "first-value"})
    redactor.add({other: "second-value"})
    assert redactor.redact("first-value second-value") == f"[redacted:{name}] [redacted:{other}]"


def test_white_space_around_a_configured_value_is_ignored():
    assert Redactor({"KEY": "from-a-file-1\n"}).redact("from-a-file-1.") == "[redacted:KEY]."


def test_lone_surrogates_around_a_secret_are_kept():
    assert Redactor({"KEY": "configured-value"}).redact("\ud83d configured-value") == "\ud83d [redacted:KEY]"


KEY = "lm-4kq9ZtYw7Hs2Vb8XrMd3Jp6c"


@each_case(
    "quote",
    [
        KEY[:12],
        KEY[:20],
        KEY[-12:],
        KEY[3:],
        f"{KEY[:4]}***{KEY[-4:]}",
        f"{KEY[:3]}{'*' * 20}{KEY[-4:]}",
        f"{KEY[:8]}...",
        f"...{KEY[-8:]}",
        f"{KEY[:6]}…{KEY[-4:]}",
        f"{KEY[:6]}••••",
        f"{KEY[:5]}XXXXXXXX{KEY[-3:]}",
    ],
)
def test_a_truncated_or_masked_quotation_of_a_key_is_replaced_completely(quote: str):
    assert Redactor(keys={"KEY": KEY}).redact(f"key {quote} is invalid") == "key [redacted:KEY] is invalid"


@each_case(
    "text", ["wait ... what", "****", f"ends in {KEY[-4:]}", f"begins with {KEY[:3]}", "xxxx lm-4 xxxx"]
)
def test_text_that_shares_a_few_characters_with_a_key_is_kept(text: str):
    assert Redactor(keys={"KEY": KEY}).redact(text) == text


def test_parts_of_values_that_are_not_keys_and_look_alikes_are_kept():
    seen = "see https://example.com"
    assert Redactor({"URL": "https://example.com/app"}).redact(seen) == seen
    redactor = Redactor(keys={"KEY": KEY})
    text = f"sk-abcdefghijklmnop1234 {KEY[:20]}"
    assert redactor.redact_spoken(f"{text} {KEY}") == f"{text} [redacted:KEY]"


@each_case(
    ("text", "length"),
    [("abc", 0), (f"key: {KEY[:1]}", 1), (KEY[:-1], len(KEY) - 1), (KEY, 0), (f"{KEY[:5]} ", 0), ("", 0)],
)
def test_the_length_of_a_partial_value_at_the_end_of_a_text_is_measured(text: str, length: int):
    assert Redactor(keys={"KEY": KEY}).begun_at_end(text) == length


def test_a_partial_value_that_overlaps_a_complete_one_is_measured_from_the_start_of_that_one():
    redactor = Redactor({"A": "first/value=Q", "B": "Question-99"})
    assert redactor.begun_at_end("said first/value=Q") == len("first/value=Q")
    assert redactor.begun_at_end("said first/value=Q.") == 0


@pytest.mark.parametrize("value", ["pa\udcffssword", "pa\ud800ssword"])
def test_a_value_that_is_not_utf_8_can_be_configured(value: str):
    redactor = Redactor({"TOKEN": value})
    assert redactor.redact(f"<{value}>") == "<[redacted:TOKEN]>"
    assert redactor.redact_bytes(json.dumps(value).encode())[0] == b'"[redacted:TOKEN]"'


@pytest.mark.parametrize(
    "prefix", ["sk-proj-", "sk-ant-api03-", "sk-or-v1-", "gsk_", "AIzaSy", "github_pat_"]
)
@pytest.mark.parametrize("mask", ["...", "xxxxxxxx", "****", "…"])
def test_a_mask_after_a_public_prefix_is_a_placeholder(prefix: str, mask: str):
    redactor = Redactor(keys={"KEY": f"{prefix}Zk3JQ9vT1wYb7LmN4xRcP2s"})
    for shown in (f"{prefix}{mask}", f"{prefix[:-1]}{mask}", prefix):
        assert redactor.redact_spoken(f"KEY={shown}", quotes=True) == f"KEY={shown}"
    for shown in (f"{prefix}Zk3{mask}", f"{prefix}{mask}cP2s"):
        assert redactor.redact_spoken(shown, quotes=True) == "[redacted:KEY]"


def test_only_complete_keys_are_removed_from_conversation_text():
    redactor = Redactor(keys={"KEY": KEY})
    text = f"sk-abcdefghijklmnop1234 {KEY[:20]} {KEY[:6]}***{KEY[-4:]}"
    assert redactor.redact_spoken(f"{text} {KEY}") == f"{text} [redacted:KEY]"
    assert redactor.redact_spoken("sk-abcdefghijklmnop1234", shapes=True) == "[redacted:key]"
    assert redactor.redact_spoken("sk-proj-xxxxxxxxxxxx", shapes=True) == "sk-proj-xxxxxxxxxxxx"


def test_a_key_that_is_an_ordinary_word_is_kept_in_conversation_text():
    redactor = Redactor({"PASSWORD": "hunter2-hunter2", "A": "lm-studio"}, {"KEY": "lm-studio"})
    assert redactor.redact_spoken("lm-studio hunter2-hunter2") == "lm-studio [redacted:PASSWORD]"
    assert redactor.redact("lm-studio") != "lm-studio"
    assert redactor.begun_at_end("lm-stud") == 0


def test_a_partial_value_at_the_end_of_a_truncated_text_is_removed():
    redactor = Redactor({"K": "configured-value"})
    assert redactor.redact_cut("it is configu…") == "it is …"
    assert redactor.redact_cut('it said "it is configu…". Press r.') == 'it said "it is …". Press r.'
    assert redactor.redact_cut("it is configu") == "it is …"
    assert redactor.redact_cut("it is configured-value…") == "it is [redacted:K]…"
    assert redactor.redact_cut("it is a con…") == "it is a con…"


def test_only_truncated_lines_and_the_last_line_may_end_in_a_partial_value():
    redactor = Redactor({"K": "configured-value"})
    lines = ["it is configu", "long configu…", "configured-value", "it is configu"]
    assert redactor.redact_lines(lines) == ["it is configu", "long …", "[redacted:K]", "it is …"]
    assert redactor.redact_lines([]) == []
    assert redactor.begun_at_end("it is Y29uZmln") == len("Y29uZmln")


PRIVATE_KEY = """-----BEGIN PRIVATE KEY-----
MIIBVwIBADANBgkqhkiG9w0BAQEFAASC
abcdefghijkl
-----END PRIVATE KEY-----
"""


@pytest.mark.parametrize(
    "value", [PRIVATE_KEY, PRIVATE_KEY.replace("\n", "\r\n"), PRIVATE_KEY.replace("\n", "\\n")]
)
def test_each_line_of_a_private_key_is_a_secret(value: str):
    redactor = Redactor({"K": value})
    for line in PRIVATE_KEY.splitlines()[1:3]:
        for found in (redactor.redact(line), redactor.redact_spoken(f"it is {line}")):
            assert line not in found and "[redacted:K]" in found
    assert redactor.redact_cut("it is MIIBVwIB…") == "it is …"
    assert redactor.redact_spoken("-----END PRIVATE KEY-----") == "-----END PRIVATE KEY-----"
    assert redactor.redact(f"<{PRIVATE_KEY.strip()}>").count("[redacted:") == 1


def test_in_other_multi_line_values_only_parts_that_look_generated_are_secret():
    value = '{\n  "type": "service_account",\n  "id": "5f0c9a3e1b7d4c55",\n  "mode": "production"\n}'
    redactor = Redactor({"K": value})
    assert redactor.redact(value) == "[redacted:K]"
    text = '"type": "service_account", "mode": "production"'
    assert redactor.redact(text) == text
    assert redactor.redact('"id": "5f0c9a3e1b7d4c55"') == '"[redacted:K]"'


SHORT, LONG = "sk-live-Zk38Qm1xVt", "sk-live-Zk38Qm1xVt-firstkey11"


@pytest.mark.parametrize("outer", [LONG, f"first-{SHORT}-last", f"words-{SHORT}"])
@pytest.mark.parametrize("as_key", [True, False])
def test_a_value_that_contains_another_is_replaced_completely(outer: str, as_key: bool):
    redactor = Redactor({"A": SHORT} if as_key else {"A": SHORT, "B": outer}, {"B": outer} if as_key else {})
    for found in (redactor.redact(outer), redactor.redact_spoken(outer)):
        assert found == "[redacted:B]"
    assert redactor.redact_bytes(outer.encode(), spoken=True)[0] == b"[redacted:B]"


def test_at_the_end_the_longest_value_or_part_of_one_is_replaced():
    redactor = Redactor({"SHORT": "swordfish-s", "LONG": "swordfish-swordfish-9"})
    assert redactor.redact_cut("it says swordfish-s") == "it says [redacted:SHORT]"
    redactor = Redactor({"A": SHORT, "B": LONG})
    assert redactor.redact_cut(f"it is {LONG[:-3]}…") == "it is …"
    assert redactor.redact_cut(f"it is {LONG[:-3]}") == "it is …"


def test_in_conversation_text_a_key_is_replaced_unless_it_is_a_word_or_placeholder():
    for key in (LONG, "sk-envkeycanary-1234567890", "83746501928374650192", "hunter2-hunter2x"):
        assert Redactor(keys={"KEY": key}).redact_spoken(f"it is {key}") == "it is [redacted:KEY]"
    for key in ("lm-studio", "not-needed", "sk-no-key-required", "0000000000000000"):
        assert Redactor(keys={"KEY": key}).redact_spoken(f"~/{key}/models") == f"~/{key}/models"


def test_of_many_values_of_sign_ins_the_first_are_added_and_the_rest_learned():
    redactor = Redactor()
    values = {f"access_token.{number}": f"canary-{number:04}" for number in range(500)}
    redactor.add_some("oauth", values)
    redactor.add_some("oauth", {"access_token": "long-" + "x" * 5000})
    assert "canary" not in redactor.redact(" ".join(values.values()))
    assert redactor.redact(f'"long-{"x" * 5000}"') == '"[redacted:access_token]"'
    assert redactor.redact_texts(["it is cana", "ry-0000"]) == ["it is [redacted]", ""]  # split


def test_a_server_may_not_hand_out_more_values_than_are_remembered(monkeypatch):
    monkeypatch.setattr("tui.core.secrets.redact.MAX_LEARNED", 2)
    redactor = Redactor({"KEY": "configured-value"})
    values = ("canary-1", "canary-2", "canary-1", "short", "configured-value", "canary-3")
    told = [redactor.learn("far", "cookie", value) for value in values]
    assert told == [*[True] * 5, False] and redactor.learn("near", "cookie", "canary-3")


def test_a_word_that_becomes_the_key_of_an_endpoint_stays_in_conversations():
    redactor = Redactor({"MY_KEY": "lm-studio", "OTHER": "other-value-1"})
    assert redactor.redact_spoken("lm-studio") == "[redacted:MY_KEY]"
    redactor.add({}, {"MY_KEY": "lm-studio"})
    assert redactor.redact_spoken("lm-studio other-value-1") == "lm-studio [redacted:OTHER]"


SECRET = "configured-value-1234567890"
REDACTOR = Redactor({"K": SECRET})


@dataclass(frozen=True)
class Piece:
    step: str
    text: str


def taken(*pieces: str) -> Iterator[str]:
    redactor = PieceRedactor[Piece](REDACTOR, str)
    for piece in pieces:
        step, _, text = piece.partition(":")
        yield from (f"{one.step}:{one.text}" for one in redactor.take(Piece(step, text)))
    yield from (f"{one.step}:{one.text}" for one in redactor.rest())


def test_a_secret_split_across_two_kinds_of_text_is_redacted_and_other_text_emitted_in_order():
    split = taken(f"r:a {SECRET[:4]}", f"t:{SECRET[4:6]}", f"t:{SECRET[6:]} b")
    assert list(split) == ["r:a ", "r:[redacted]", "t: b"]
    assert list(taken("r:a con", "t:fi", "r:rm")) == ["r:a ", "r:con", "t:fi", "r:rm"]
