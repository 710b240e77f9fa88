"""Texts in the user's language: whole sentences, with places for values."""

import gettext
from collections.abc import Iterator
from typing import ClassVar

import pytest

from tui.core.errors import McptuiError, as_sentences
from tui.core.language import translate
from tui.core.language.translate import _, c_, localized, message, n_, n_message, sentences
from tui.core.secrets.redact import Redactor
from tui.core.text import capitalized, clean_line


class Reversed(gettext.NullTranslations):
    """Knows some texts, and the one form that Chinese has."""

    KNOWN: ClassVar = {
        "{shown} of {all} shown": "{all} 中的 {shown}",
        "{n} tool": "{n} 个工具",
        "stopped": "已停止",
        "cannot read it": "无法读取",
        "Try again.": "请重试。",
        "{where}: {text}": "{where}：{text}",
        "{text}. {next_step}": "{text}。{next_step}",
        "after {time} by {who}": "由 {who} 在 {time} 后",
    }

    def gettext(self, text: str) -> str:
        return self.KNOWN.get(text, text)

    def ngettext(self, one: str, many: str, n: int) -> str:
        return self.KNOWN.get(one, one if n == 1 else many)

    def pgettext(self, context: str, text: str) -> str:
        return f"{context}:{text}"


@pytest.fixture
def chinese() -> Iterator[None]:
    translate.use(Reversed())
    yield
    translate.use(None)


def test_english_needs_no_catalog() -> None:
    assert _("{shown} of {all} shown", shown=3, all=12) == "3 of 12 shown"
    assert [n_("{n} tool", "{n} tools", n) for n in (0, 1, 2)] == ["0 tools", "1 tool", "2 tools"]


@pytest.mark.usefixtures("chinese")
def test_a_translation_puts_values_in_its_own_order() -> None:
    assert _("{shown} of {all} shown", shown=3, all=12) == "12 中的 3"
    assert n_("{n} tool", "{n} tools", 2) == "2 个工具"
    assert c_("server", "open") == "server:open"


@pytest.mark.usefixtures("chinese")
def test_values_are_never_places() -> None:
    assert _("{shown} of {all} shown", shown="{all}", all="{x!r}") == "{x!r} 中的 {all}"
    assert _("a {brace}") == "a {brace}"


@pytest.mark.usefixtures("chinese")
def test_a_message_is_english_where_it_is_text_and_translated_where_a_screen_shows_it() -> None:
    error = McptuiError(message("{shown} of {all} shown", shown=n_message("{n} tool", "{n} tools", 2), all=3))

    assert str(error) == "2 tools of 3 shown"
    assert localized(error) == "3 中的 2 个工具"
    assert localized(n_message("{n} tool", "{n} tools", 1)) == "1 个工具"
    assert localized("as it is") == "as it is"


@pytest.mark.usefixtures("chinese")
def test_an_error_is_translated_with_its_place_and_its_next_step() -> None:
    error = McptuiError(message("cannot read it"), where="a.toml", next_step=message("Try again."))

    assert str(error) == "a.toml: cannot read it. Try again."
    assert localized(error) == localized(str(error)) == "a.toml：无法读取。请重试。"


@pytest.mark.usefixtures("chinese")
def test_a_message_stays_one_when_it_is_cleaned_redacted_or_put_together() -> None:
    text = message("Try again.")

    assert localized(clean_line(text, 5)) == "请重试。"
    assert localized(clean_line(text, 3)) == "请重…"
    assert localized(Redactor().redact(text)) == "请重试。"
    assert localized(capitalized(message("cannot read it"))) == "无法读取"
    assert localized(sentences(text, "", text)) == "请重试。请重试。"
    assert (as_sentences([text, text]), localized(as_sentences([text, text]))) == (
        "Try again. Try again",
        "请重试。请重试",
    )


@pytest.mark.usefixtures("chinese")
def test_an_error_in_a_text_is_translated_without_being_kept() -> None:
    text = message("{where}: {text}", where="x", text=ValueError(message("cannot read it")))

    assert localized(text) == "x：无法读取"


@pytest.mark.usefixtures("chinese")
def test_chinese_values_have_no_space_beside_chinese() -> None:
    assert _("after {time} by {who}", time="2 秒", who="天气") == "由天气在 2 秒后"
    assert localized(message("after {time} by {who}", time="2 ms", who="x")) == "由 x 在 2 ms 后"
