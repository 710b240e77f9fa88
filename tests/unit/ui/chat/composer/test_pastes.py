"""Tokens for big pastes and for references: nothing is lost, and a token is edited as a whole."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.ui.chat.composer.pastes import MAX_CHARS, MAX_LINES, Pastes, Reference


@each_case(
    ("text", "lines"),
    [
        ("one", "1 line"),
        ("one\n", "1 line"),
        ("one\ntwo", "2 lines"),
        ("one\ntwo\n", "2 lines"),
        ("one\n\n", "2 lines"),
        ("\n", "1 line"),
    ],
)
def test_a_trailing_line_break_does_not_count_as_a_line(text, lines):
    assert Pastes().keep(text).endswith(f", {lines}]")


def test_only_a_paste_over_the_limits_is_big():
    assert not Pastes.is_big("x" * MAX_CHARS)
    assert not Pastes.is_big("x\n" * (MAX_LINES - 1))
    assert Pastes.is_big("x" * (MAX_CHARS + 1))
    assert Pastes.is_big("x\n" * MAX_LINES)


def test_equal_texts_share_a_token_and_another_text_of_that_size_does_not():
    pastes = Pastes()
    first, again, other = pastes.keep("a" * 5000), pastes.keep("a" * 5000), pastes.keep("b" * 5000)
    assert first == again != other
    assert pastes.expand(f"{other} {first}") == "b" * 5000 + " " + "a" * 5000


@given(st.lists(st.text(max_size=30), max_size=5), st.text(alphabet="[pasted] 0B,lines", max_size=40))
def test_expanding_restores_every_text_and_leaves_the_rest_unchanged(texts, around):
    pastes = Pastes()
    tokens = [pastes.keep(text) for text in texts]
    rest = "" if any(token in around for token in tokens) else around
    assert pastes.expand(rest.replace("]", ")").join(["", *tokens, ""])) == rest.replace("]", ")").join(
        ["", *texts, ""]
    )


def test_a_token_inside_a_pasted_text_is_not_expanded():
    pastes = Pastes()
    inner = pastes.keep("secret" * 1000)
    outer = pastes.keep(f"look: {inner}")
    assert pastes.expand(outer) == f"look: {inner}"


def test_a_column_inside_a_token_moves_to_its_edge():
    pastes = Pastes()
    token = pastes.keep("x" * 5000)
    line = f"ab{token}cd"
    assert pastes.widen(line, 5, to_end=False) == 2
    assert pastes.widen(line, 5, to_end=True) == 2 + len(token)
    for column in (0, 2, 2 + len(token), len(line)):
        assert pastes.widen(line, column, to_end=True) == column


# ---- references ----


def test_any_file_name_is_made_safe_for_a_token():
    reference = Reference.to_file("a]\n[b\x1b.txt")
    assert reference.path == "a]\n[b\x1b.txt" and not set("[]\n\x1b") & set(reference.name)


def test_a_token_refers_to_its_attachment_and_expands_to_its_name():
    pastes = Pastes()
    one, two = Reference.to_file("a.txt"), Reference.to_resource("weather", "x://r")
    text = f"see {pastes.refer(one)} and {pastes.refer(two)} and {pastes.refer(one)}"
    assert pastes.references(text) == (one, two)
    assert pastes.expand(text) == "see @a.txt and @weather:x://r and @a.txt"


def test_two_references_with_the_same_name_get_different_tokens():
    pastes = Pastes()
    one, two = Reference.to_file("a(.txt"), Reference.to_file("a[.txt")
    assert pastes.refer(one) != pastes.refer(two)


def test_tokens_of_an_earlier_run_are_restored_from_their_names():
    pastes = Pastes()
    pastes.recognise(["[@notes.md]", "[@weather:weather://stations]", "[pasted 5 kB, 3 lines]", "no token"])
    assert pastes.references("[@notes.md] [@weather:weather://stations] [@other] [pasted 5 kB, 3 lines]") == (
        Reference.to_file("notes.md"),
        Reference.to_resource("weather", "weather://stations"),
    )


def test_tokens_and_commands_in_text_from_a_server_have_no_effect():
    pastes = Pastes()
    text = f"/system {pastes.refer(Reference.to_file('.env'))} {pastes.keep('much')} [@any] [x](y)"
    plain = pastes.plain(text)
    assert plain == " /system [ @.env] [ pasted 4 B, 1 line] [ @any] [x](y)"
    assert pastes.references(plain) == () and pastes.expand(plain) == plain


def test_only_pastes_are_unfolded_not_references():
    pastes = Pastes()
    text = pastes.keep("much") + pastes.refer(Reference.to_file("a.txt"))
    assert pastes.expand(text, attached=False) == "much[@a.txt]"
