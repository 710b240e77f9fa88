"""Sentences that were stored in English are shown in the user's language."""

from collections.abc import Iterator
from gettext import NullTranslations

import pytest

from tui.core.language import translate
from tui.core.language.restored import restored, stored

TEXTS = {
    "The tool {name} has no description.": "工具 {name} 没有描述。",
    "{count} more tools have the same finding.": "另有 {count} 个工具。",
    "{name} must not be sent by {way}.": "{name} 不得由{way}发送。",
    "the client": "客户端",
    "It must start with {.": "必须以 { 开头。",
    "The {key} of {name} {problem}.": "{name} 的 {key} {problem}。",
    "has no type at its root": "的根没有类型",
    "It exited after {time}.": "它在 {time} 后退出。",
    "{n} s": "{n} 秒",
    "The result of {method}: {problem}.": "{method} 的结果：{problem}。",
    "must be a string": "必须是字符串",
    "{value} is not of type {type}": "{value} 的类型不是 {type}",
    "{place} {problem}": "{place} {problem}",
    "did not respond within {seconds:g} s": "在 {seconds:g} 秒内没有响应",
    "The value has {count:,} characters.": "值有 {count:,} 个字符。",
}


class Catalog(NullTranslations):
    def gettext(self, message: str) -> str:
        return TEXTS.get(message, message)


@pytest.fixture(autouse=True)
def chinese() -> Iterator[None]:
    translate.use(Catalog(), lambda: TEXTS)
    yield
    translate.use(None)


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ('The tool "a" has no description.', '工具 "a" 没有描述。'),
        ("It must start with {.", "必须以 { 开头。"),
        ('The inputSchema of "a b" has no type at its root.', '"a b" 的 inputSchema 的根没有类型。'),
        ("did not respond within 0.5 s", "在 0.5 秒内没有响应"),
        ("did not respond within a while s", "did not respond within a while s"),
        ("The value has 1,200 characters.", "值有 1,200 个字符。"),
        ("It exited after 2.4 s.", "它在 2.4 秒后退出。"),
        ("The result of x: content.0 must be a string.", "x 的结果：content.0 必须是字符串。"),
        ("The result of x: v: 'a' is not of type 'b'.", "x 的结果：v: 'a' 的类型不是 'b'。"),
        ("Something else.", "Something else."),
        ("", ""),
    ],
)
def test_a_stored_sentence_is_recognized_by_its_text(stored, shown):
    assert restored(stored) == shown


def test_a_value_that_is_a_text_is_translated():
    assert restored('"ping" must not be sent by the client.') == '"ping" 不得由客户端发送。'


def test_two_sentences_are_recognized_one_by_one():
    stored = 'The tool "a" has no description. 17 more tools have the same finding.'
    assert restored(stored) == '工具 "a" 没有描述。另有 17 个工具。'


def test_in_english_a_sentence_is_unchanged():
    translate.use(None)
    assert restored('The tool "a" has no description.') == 'The tool "a" has no description.'


def test_a_clause_that_ends_a_sentence_is_recognized():
    assert restored("did not respond within 3 s.") == "在 3 秒内没有响应."


def test_a_stored_sentence_stays_english_as_text_and_is_restored_when_shown():
    told = translate.message("Failed: {why}", why=stored("did not respond within 3 s"))
    assert told == "Failed: did not respond within 3 s"
    assert translate.localized(told) == "Failed: 在 3 秒内没有响应"
