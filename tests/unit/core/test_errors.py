"""An error reads as a sentence: where, what, and the next step."""

from tui.core.errors import ModelError, as_sentences


def test_an_error_names_where_what_and_the_next_step():
    error = ModelError("connection refused", where="ollama", next_step="Start it with `ollama serve`.")
    assert str(error) == "ollama: connection refused. Start it with `ollama serve`."


def test_an_error_without_place_and_next_step_is_only_its_message():
    assert str(ModelError("nothing came")) == "nothing came"


def test_a_place_that_the_message_begins_with_is_not_repeated():
    assert str(ModelError("nasty exited with code 1.", where="nasty")) == "nasty exited with code 1."
    assert str(ModelError("nastyness", where="nasty")) == "nasty: nastyness"


def test_each_of_several_problems_becomes_a_sentence():
    assert as_sentences(["`a` is missing.", "`b`: not a color"]) == "`a` is missing. `b`: not a color"


def test_a_problem_that_ends_with_a_question_mark_gets_no_full_stop():
    assert as_sentences(["comand: unknown key, did you mean “command”?", "no url"]).endswith(
        "“command”? no url"
    )
