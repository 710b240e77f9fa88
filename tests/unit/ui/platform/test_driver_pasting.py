"""Pastes are returned whole, wherever the terminal's output is split."""

from hypothesis import given
from hypothesis import strategies as st

from tui.ui.platform.driver import BEGIN, END, PasteGate


def read(*chunks: str) -> list[tuple[bool, str]]:
    """Return keys and pastes, neighbouring keys joined."""
    gate, parts = PasteGate(), []
    for chunk in chunks:
        for is_paste, text in gate.feed(chunk):
            if parts and not is_paste and not parts[-1][0]:
                text = parts.pop()[1] + text
            parts.append((is_paste, text))
    return parts


def test_a_paste_is_returned_whole_and_the_keys_around_it_are_still_keys():
    assert read(f"ab{BEGIN}x\ry{END}c") == [(False, "ab"), (True, "x\ry"), (False, "c")]


def test_escape_characters_in_a_paste_are_part_of_its_text():
    text = "second \x1b[31mred\x1b[0m line\rthird\x1b"
    assert read(BEGIN + text + END) == [(True, text)]


def test_a_paste_can_arrive_in_any_chunks():
    stream = f"k{BEGIN}\x1b[20{END}l"
    for cut in range(len(stream)):
        parts = [part for part in read(stream[:cut], stream[cut:]) if part != (False, BEGIN[1:] + END)]
        told = "".join(
            text.replace(BEGIN + END, "").strip("\x1b") for is_paste, text in parts if not is_paste
        )
        assert [text for is_paste, text in parts if is_paste] == ["\x1b[20"], cut
        assert told in ("kl", "k[200~\x1b[201~l"), cut


def test_the_escape_key_is_not_delayed():
    assert read("\x1b") == [(False, "\x1b")]


def test_a_paste_without_an_end_sequence_is_returned_on_timeout():
    gate = PasteGate()
    assert list(gate.feed(f"{BEGIN}half \x1b[2")) == []
    assert gate.give_up() == "half \x1b[2"
    assert list(gate.feed("k")) == [(False, "k")]


@given(st.lists(st.text(st.sampled_from("ab\r\x1b[~02")), max_size=20))
def test_no_input_outside_of_pastes_is_lost(chunks):
    gate = PasteGate()
    out = "".join(text for chunk in chunks for is_paste, text in gate.feed(chunk) if not is_paste)
    whole = "".join(chunks)
    if BEGIN not in whole:
        assert whole.startswith(out) and whole[len(out) :] == gate._held
