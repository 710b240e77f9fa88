"""The documentation as a site: it builds, and works offline, from files."""

import importlib.util
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.real.chromium import NEEDS_CHROMIUM, Tab, browser
from tests.sources import ROOT

HAS_SPHINX = all(map(importlib.util.find_spec, ("sphinx", "myst_parser", "furo")))

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not HAS_SPHINX, reason="the site needs: pip install -e '.[docs]'"),
]

REMOTE = re.compile(
    r"""<(?:script|img|source|iframe)\b[^>]*\bsrc(?:set)?=["'](?:https?:)?//[^>]*>"""
    r"""|<link\b[^>]*\bhref=["'](?:https?:)?//[^>]*>"""
    r"""|@import\s+(?:url\()?["']?(?:https?:)?//[^;]*|url\(["']?(?:https?:)?//[^)]*\)"""
)
"""What a browser would load from another host."""

SMALL = "include_patterns=README.md,docs/breakpoints.md,docs/zh-CN/first-steps.md"


def test_the_site_builds_without_a_warning_and_loads_nothing_from_another_host(tmp_path: Path):
    command = [sys.executable, str(ROOT / "docs" / "site"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    files = [file for file in tmp_path.rglob("*") if file.suffix in {".html", ".css"}]
    assert len(files) > 40
    found = {file.name: REMOTE.findall(file.read_text(encoding="utf-8")) for file in files}
    assert {name: assets for name, assets in found.items() if assets} == {}


@NEEDS_CHROMIUM
def test_the_search_of_the_site_finds_english_and_chinese_from_files(tmp_path: Path):
    site = ROOT / "docs" / "site"
    command = [sys.executable, "-m", "sphinx", "-Q", "-c", str(site), "-D", SMALL, str(ROOT), str(tmp_path)]
    assert subprocess.run(command, check=False).returncode == 0
    with browser() as chromium:
        for words, page in (("held messages", "Breakpoints"), ("启动服务器", "入门")):
            with closing(Tab(chromium)) as tab:
                tab.open(tmp_path / "search.html", f"?q={words}")
                tab.until("document.querySelector('#search-results li') !== null")
                assert page in tab.value("document.querySelector('#search-results').innerText")
                assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
                assert tab.problems == []
