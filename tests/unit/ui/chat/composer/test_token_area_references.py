"""What a reference is called."""

from tui.ui.chat.composer.token_area import Pastes, Reference


def test_a_name_can_stand_in_a_token_whatever_the_file_is_called():
    reference = Reference.to_file("a]\n[b\x1b.txt")
    assert reference.path == "a]\n[b\x1b.txt" and not set("[]\n\x1b") & set(reference.name)


def test_a_token_stands_for_what_is_attached_and_reads_as_its_name():
    pastes = Pastes()
    one, two = Reference.to_file("a.txt"), Reference.to_resource("weather", "x://r")
    text = f"see {pastes.refer(one)} and {pastes.refer(two)} and {pastes.refer(one)}"
    assert pastes.references(text) == (one, two)
    assert pastes.expand(text) == "see @a.txt and @weather:x://r and @a.txt"


def test_two_of_one_name_have_two_tokens():
    pastes = Pastes()
    one, two = Reference.to_file("a(.txt"), Reference.to_file("a[.txt")
    assert pastes.refer(one) != pastes.refer(two)


def test_tokens_of_an_earlier_run_are_found_again_by_their_names():
    pastes = Pastes()
    pastes.recognise(["[@notes.md]", "[@weather:weather://stations]", "[pasted 5 kB, 3 lines]", "no token"])
    assert pastes.references("[@notes.md] [@weather:weather://stations] [@other] [pasted 5 kB, 3 lines]") == (
        Reference.to_file("notes.md"),
        Reference.to_resource("weather", "weather://stations"),
    )


def test_text_of_a_server_has_neither_tokens_nor_commands():
    pastes = Pastes()
    text = f"/system {pastes.refer(Reference.to_file('.env'))} {pastes.keep('much')} [@any] [x](y)"
    plain = pastes.plain(text)
    assert plain == " /system [ @.env] [ pasted 4 B, 1 line] [ @any] [x](y)"
    assert pastes.references(plain) == () and pastes.expand(plain) == plain


def test_only_pastes_are_unfolded():
    pastes = Pastes()
    text = pastes.keep("much") + pastes.refer(Reference.to_file("a.txt"))
    assert pastes.unfolded(text) == "much[@a.txt]"
