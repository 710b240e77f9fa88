"""Code is coloured by role, and only where that is safe and cheap."""

from tests.cases import each_case
from tests.programs import printed_by
from tui.ui.widgets.code import MAX_LINE, highlighted, language_of
from tui.ui.widgets.rows import text_of


def test_keywords_strings_and_comments_have_roles():
    (row,) = highlighted(["return 'x'  # why"], "python")
    roles = {text: style.split()[0] for text, style in row}

    assert roles["return"] == "accent"
    assert roles["# why"] == "dim"
    assert roles["'"] == "ok"


def test_an_unknown_language_is_plain():
    assert highlighted(["return"], "nonsense") == [(("return", "text on panel"),)]


def test_a_very_long_line_is_plain():
    assert len(highlighted(["return " * MAX_LINE], "python")[0]) == 1


@each_case("language", ["python", "json", "bash", "html", "diff", "nonsense", ""])
def test_every_line_stays_one_line(language: str):
    lines = ["", "  a = '''b", "c'''", "\tx", "", "<a>{", ""]

    assert [text_of(row) for row in highlighted(lines, language)] == [line.expandtabs(4) for line in lines]


def test_only_the_first_word_of_a_fence_is_its_language():
    assert language_of("python title=x") == "python"
    assert language_of("") == ""
    assert language_of("\x1b[31m") == "␛[31m"


def test_only_the_json_lexer_is_loaded_in_advance():
    lexers = "[name for name in ('python', 'data') if f'pygments.lexers.{name}' in sys.modules]"
    assert (
        printed_by(f"import sys\nfrom tui.ui.widgets import code\ncode.warm()\nprint({lexers})") == "['data']"
    )
