"""The questions of `mcptui login`, and parsing a typed answer."""

from tui.commands.sign_in import answer_of, question_text
from tui.core.questions import Action, AddressQuestion, QuestionAnswer

QUESTION = AddressQuestion(
    "safe\x1b[31m", "https://auth.example/authorize?x=1", "Requested scopes: read", "sign in"
)


def test_the_question_names_the_host_and_shows_the_whole_address():
    text = question_text(QUESTION, can_open=True)
    assert "requires signing in at auth.example:" in text and "  https://auth.example/authorize?x=1\n" in text
    assert "Requested scopes: read" in text and "\x1b" not in text


def test_a_look_alike_address_is_flagged():
    odd = AddressQuestion("safe", "https://github.com.evil.example/a", "", "sign in")
    assert "looks like github.com" in question_text(odd, can_open=True)


def test_a_typed_line_is_yes_no_or_the_redirect_address():
    assert answer_of("y\n", can_open=True) == QuestionAnswer(Action.ACCEPT)
    assert answer_of("\n", can_open=True).action is Action.ACCEPT
    assert answer_of("no\n", can_open=True).action is Action.DECLINE
    assert answer_of("\n", can_open=False).action is Action.DECLINE
    pasted = "http://127.0.0.1:1/callback?code=c&state=s"
    assert answer_of(f" {pasted} \n", can_open=False) == QuestionAnswer(Action.ACCEPT, pasted=pasted)
