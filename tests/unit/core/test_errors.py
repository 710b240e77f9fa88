"""An error reads as a sentence: where, what, what next."""

from tui.core.errors import ModelError, as_sentences


def test_an_error_says_where_what_and_what_next():
    error = ModelError("connection refused", where="ollama", next_step="Start it with `ollama serve`.")
    assert str(error) == "ollama: connection refused. Start it with `ollama serve`."


def test_an_error_without_place_and_step_is_just_its_message():
    assert str(ModelError("nothing came")) == "nothing came"


def test_a_place_that_the_message_begins_with_is_not_said_twice():
    assert str(ModelError("nasty exited with code 1.", where="nasty")) == "nasty exited with code 1."
    assert str(ModelError("nastyness", where="nasty")) == "nasty: nastyness"


def test_several_problems_are_a_sentence_each():
    assert as_sentences(["`a` is missing.", "`b`: not a color"]) == "`a` is missing. `b`: not a color"


def test_a_question_among_several_problems_has_no_full_stop():
    assert as_sentences(["comand: unknown key, did you mean `command`?", "no url"]).endswith(
        "`command`? no url"
    )
