"""Choosing a language and loading its texts."""

from collections.abc import Iterator

import pytest

from tests.unit.catalogue import LOCALE
from tui.core.language import translate
from tui.core.language.translate import _
from tui.locale import catalogs
from tui.locale.build_hook import build
from tui.locale.catalogs import known_language, language_of, use_language


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    translate.use(None)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("zh_CN", "zh_CN"),
        ("zh-cn", "zh_CN"),
        ("zh", "zh_CN"),
        ("zh_CN.UTF-8", "zh_CN"),
        ("zh_SG.UTF-8@pinyin", "zh_CN"),
        ("en", "en"),
        ("en_GB.UTF-8", "en"),
        ("C.UTF-8", "en"),
        ("zh_TW", ""),
        ("auto", ""),
        ("../../etc", ""),
    ],
)
def test_a_language_is_known_by_the_names_of_locales(name, language):
    assert known_language(name) == language


def test_the_configured_language_comes_before_that_of_the_environment():
    assert language_of("en", {"LANG": "zh_CN.UTF-8"}) == "en"


@pytest.mark.parametrize(
    ("env", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh_CN"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "fr:zh_CN"}, "zh_CN"),
        ({"LANG": "C", "LANGUAGE": "zh_CN"}, "en"),
        ({}, "en"),
    ],
)
def test_the_first_variable_of_the_locale_decides(env, language):
    assert language_of("auto", env) == language


def test_texts_that_were_built_are_used():
    build(LOCALE)
    assert use_language("zh_CN") == ""
    assert _("Quit") == "退出"
    texts = translate.texts_of_catalog()
    assert texts is not None and {"Quit", "{n} of {all}"} <= {*texts()}


def test_english_stays_if_the_texts_were_not_built(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogs, "__file__", str(tmp_path / "catalogs.py"))
    assert use_language("zh_CN").startswith("cannot load the texts in zh_CN, so they are in English: ")
    assert _("Quit") == "Quit"


def test_english_stays_if_the_texts_are_damaged(tmp_path, monkeypatch):
    build(LOCALE)
    folder = tmp_path / "zh_CN" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    whole = (LOCALE / "zh_CN" / "LC_MESSAGES" / "mcptui.mo").read_bytes()
    (folder / "mcptui.mo").write_bytes(whole[:1000])
    monkeypatch.setattr(catalogs, "__file__", str(tmp_path / "catalogs.py"))
    assert use_language("zh_CN").endswith("Reinstall mcptui.")
    assert _("Quit") == "Quit"
