"""`--without` and `--redact` of an export, and the list of what was written."""

from argparse import Namespace

import pytest

from tui.commands.share import choice_of, say_review
from tui.core.errors import UsageError
from tui.storage.exports.contents import Choice
from tui.storage.exports.document import Heading, Portion


def args(without: str | None = None, *, redact: bool = False) -> Namespace:
    return Namespace(without=without, redact=redact)


def test_a_format_that_is_no_document_leaves_nothing_out():
    with pytest.raises(UsageError, match="--without requires Markdown or HTML"):
        choice_of(args("notes"), is_document=False)


def test_a_part_that_does_not_exist_is_an_error():
    with pytest.raises(UsageError, match="--without: no part is named headers"):
        choice_of(args("headers"), is_document=True)


def test_only_a_document_is_reviewed(capsys: pytest.CaptureFixture[str]):
    choice = choice_of(args(redact=True), is_document=False)
    say_review(choice)
    assert choice == Choice(shapes=True) and capsys.readouterr().err == ""


def test_what_was_written_and_left_out_is_told_by_part(capsys: pytest.CaptureFixture[str]):
    choice = choice_of(args("system,notes"), is_document=True)
    assert choice.review is not None and choice.without == {Portion.SYSTEM, Portion.NOTES}
    choice.review.see(Heading("You", turn=1))
    say_review(choice)
    assert capsys.readouterr().err == "  conversation 1 message\n  without notes, system\n"
