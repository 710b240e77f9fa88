"""Values that servers hand out are found in any number, and searching for them takes linear time."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worst_texts import cpu_seconds
from tui.core.secrets.known_values import HEAD, WINDOW, KnownValues

VALUE = "s%3Aq7-V_x2/Kp+9zTw4"
FEW, MANY = 1, 200
"""How many others are known: few words are searched for one by one, many together."""


def learned(*values: str, others: int = FEW) -> KnownValues:
    found = KnownValues()
    for number in range(others):
        found.learn("other", f"other-cookie-{number:05}")
    for value in values:
        found.learn("cookie", value)
    return found


def without(known: KnownValues, text: str) -> str:
    raw, parts, done = text.encode(), [], 0
    for start, end, name in sorted(known.spans_in(raw)):
        if start >= done:
            parts += [raw[done:start], f"[{name}]".encode()]
        done = max(done, end)
    return b"".join((*parts, raw[done:])).decode()


@pytest.mark.parametrize("others", [FEW, MANY])
@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        VALUE.replace("/", "\\/"),
        "".join(f"\\u{ord(char):04x}" for char in VALUE),
        quote(VALUE, safe=""),
        "".join(f"%{ord(char):02x}" for char in VALUE),
        json.dumps(VALUE.replace("/", "\\/"))[1:-1],
    ],
)
def test_a_value_is_found_in_every_encoding_of_json_and_urls(form: str, others: int):
    assert without(learned(VALUE, others=others), f'{{"said": "<{form}>"}}') == '{"said": "<[cookie]>"}'


@pytest.mark.parametrize("others", [FEW, MANY])
@pytest.mark.parametrize("before", ["", "u", "us", "usr"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_value_is_found_in_base64_of_a_longer_text(encode, before: str, others: int):
    found = without(learned(VALUE, others=others), f"Basic {encode((before + VALUE).encode()).decode()}.")
    assert found.endswith("[cookie].") and len(found) < len("Basic [cookie].") + 5


@pytest.mark.parametrize("others", [FEW, MANY])
def test_what_follows_the_head_of_a_long_value_is_replaced_up_to_the_end_of_the_word(others: int):
    value = "h" + "0123456789" * 500
    known = learned(value, others=others)
    assert without(known, f'["{value}", "kept"]') == '["[cookie]", "kept"]'
    assert without(known, f"sid={value[: HEAD + 50]}; kept") == "sid=[cookie]; kept"
    basic = base64.b64encode(f"user:{value}".encode()).decode()
    assert value[:6] not in without(known, f"{basic} kept") and len(without(known, basic)) < 20
    lines = json.dumps(base64.encodebytes(f"user:{value}".encode()).decode() + "kept: x")
    assert len(without(known, lines)) < 40 and json.loads(without(known, lines)).endswith("\nkept: x")


def test_a_value_across_the_end_of_a_window_is_found():
    known = learned(VALUE)
    for shift in (1, 8, len(VALUE) - 1):
        text = "x" * (WINDOW - shift - 1) + f" {VALUE} " + "x" * WINDOW
        assert VALUE not in without(known, text)


def test_only_the_value_is_replaced_among_escapes_and_text_that_shares_a_word_with_it():
    text = json.dumps({"said": f'quoted "{VALUE}"\n{VALUE}'})
    assert json.loads(without(learned(VALUE), text)) == {"said": 'quoted "[cookie]"\n[cookie]'}
    text = f'%41+b \\"<{VALUE}> %42'
    assert without(learned(VALUE), text) == text.replace(VALUE, "[cookie]")
    text = f"{VALUE[:-1]} {VALUE[1:]} {VALUE.upper()}"
    assert without(learned(VALUE, others=MANY), text) == text


PLAIN = st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="\\")


@given(st.lists(st.text(PLAIN, min_size=8, max_size=HEAD)))
def test_every_value_is_found_in_json(values: list[str]):
    known = learned(*values, others=0)
    for value in values:
        raw = json.dumps(["a", value, "b"]).encode()
        inner = json.dumps(value)[1:-1].encode()
        covered = bytearray(raw)
        for start, end, _ in known.spans_in(raw):
            covered[start:end] = b"\0" * (end - start)
        assert inner not in covered


def test_ten_thousand_values_with_the_same_beginning_and_end_are_found_each_in_microseconds():
    values = [f"canary-session-cookie-{number:05}-of-this-server" for number in range(10_000)]
    known, adding = KnownValues(), lambda: [known.learn("cookie", value) for value in values]
    assert cpu_seconds(adding) < 10
    text = " ".join(values)
    assert cpu_seconds(lambda: without(known, text)) < 10
    assert set(without(known, text).split()) == {"[cookie]"}
