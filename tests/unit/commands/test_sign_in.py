"""The questions of `mcptui login`, and parsing a typed answer."""

from tui.commands.sign_in import answer_of, question_text
from tui.core.questions import Action, AddressQuestion, QuestionAnswer

QUESTION = AddressQuestion(
    "safe\x1b[31m", "https://github.com.evil.example/a?x=1", "Requested scopes: read", "sign in"
)


def test_the_question_names_the_host_shows_the_whole_address_and_flags_a_look_alike():
    text = question_text(QUESTION, can_open=True)
    assert "requires signing in at github.com.evil.example:" in text and "looks like github.com" in text
    assert "  https://github.com.evil.example/a?x=1\n" in text
    assert "Requested scopes: read" in text and "\x1b" not in text


def test_a_typed_line_is_yes_no_or_the_redirect_address():
    assert answer_of("y\n", can_open=True) == QuestionAnswer(Action.ACCEPT)
    assert answer_of("\n", can_open=True).action is Action.ACCEPT
    assert answer_of("no\n", can_open=True).action is Action.DECLINE
    assert answer_of("\n", can_open=False).action is Action.DECLINE
    pasted = "http://127.0.0.1:1/callback?code=c&state=s"
    assert answer_of(f" {pasted} \n", can_open=False) == QuestionAnswer(Action.ACCEPT, pasted=pasted)
