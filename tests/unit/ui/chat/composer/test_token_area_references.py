"""Names and tokens of references."""

from tui.ui.chat.composer.token_area import Pastes, Reference


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
    assert pastes.unfolded(text) == "much[@a.txt]"
