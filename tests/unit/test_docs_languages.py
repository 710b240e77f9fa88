"""Each page begins with what one can do in a minute, and pages in Chinese say what the English ones say."""

import os
import re
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.sources import ROOT

DOCS = ROOT / "docs"
CHINESE = sorted((DOCS / "zh-CN").glob("*.md"))
GALLERY = DOCS / "pictures.md"

_BLOCK = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"\s+#[^{].*$", re.MULTILINE)


def original_of(page: Path) -> Path:
    """Return the English page that a page in Chinese translates."""
    return ROOT / page.name if page.name == "README.md" else DOCS / page.name


def headings(text: str) -> list[int]:
    """Return the levels of the headings, in order."""
    return [len(level) for level in re.findall(r"^(#+) ", _BLOCK.sub("", text), re.MULTILINE)]


def blocks(text: str) -> list[str]:
    """Return the blocks of code, without comments, which are translated."""
    return [_COMMENT.sub("", block) for block in _BLOCK.findall(text)]


def codes(text: str) -> set[str]:
    """Return what is written between backquotes: commands, keys, names."""
    return set(re.findall(r"`([^`\n]+)`", _BLOCK.sub("", text)))


def links(page: Path) -> set[str]:
    """Return the targets of the links and pictures, those of translated pages by their English name."""
    found = re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", page.read_text(encoding="utf-8"))
    targets = set()
    for target in (first or second for first, second in found):
        path, _, anchor = target.partition("#")
        file = Path(os.path.normpath(page.parent / path))
        name = original_of(file) if file.parent == DOCS / "zh-CN" else file
        targets.add(f"{name.relative_to(ROOT).as_posix()}#{anchor}")
    return targets - {"README.md#"}


@each_case("page", sorted({*DOCS.glob("*.md")} - {GALLERY}))
def test_each_page_begins_with_what_one_can_do_in_a_minute(page: Path):
    begin, _, rest = page.read_text(encoding="utf-8").partition("\n## In a minute\n")
    assert rest, "no section “In a minute”"
    assert headings(begin) == [1]
    minute = rest.partition("\n## ")[0]
    assert re.findall(r"^(\d)\. ", minute, re.MULTILINE) == ["1", "2", "3"]


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.stem)
def test_a_page_in_chinese_has_the_headings_and_code_of_the_english_one(page: Path):
    translated, english = (one.read_text(encoding="utf-8") for one in (page, original_of(page)))
    assert headings(translated) == headings(english)
    assert blocks(translated) == blocks(english)


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.stem)
def test_a_page_in_chinese_has_the_commands_keys_and_links_of_the_english_one(page: Path):
    original = original_of(page)
    translated, english = (one.read_text(encoding="utf-8") for one in (page, original))
    assert codes(translated) == codes(english)
    assert links(page) == links(original)
