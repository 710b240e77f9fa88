"""Texts in the user's language: whole sentences, with places for values."""

import gettext
from collections.abc import Iterator
from typing import ClassVar

import pytest

from tui.core.errors import McptuiError
from tui.core.language import translate
from tui.core.language.translate import _, c_, localized, message, n_, n_message


class Reversed(gettext.NullTranslations):
    """Knows some texts, and the one form that Chinese has."""

    KNOWN: ClassVar = {
        "{shown} of {all} shown": "{all} 中的 {shown}",
        "{n} tool": "{n} 个工具",
        "stopped": "已停止",
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
