"""Builds the pages that GitHub shows as a site: README.md as its front page, docs/ below it.

`python docs/site` runs it. The groups of the sidebar are the rows of the last table of README.md, so a page
that is not linked there fails the build.
"""

import re
import shutil
import sys
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

project = "mcptui"
html_title = "mcptui"
language = "en"
root_doc = "README"
extensions = ["myst_parser"]
include_patterns = ["README.md", "CHANGELOG.md", "docs/*.md", "docs/zh-CN/*.md"]
exclude_patterns = [
    ".*",
    "tui",
    "tests",
    "themes",
    "sample_config",
    "build",
    "dist",
    "docs/pictures",
    "docs/site",
]

# The anchors that GitHub gives to headings. A link without a target is a warning, and a warning an error.
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
suppress_warnings = ["misc.highlighting_failure"]  # examples shorten JSON and Python with an ellipsis

html_theme = "furo"
html_search_language = "en-han"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
# An excerpt is fetched, which a browser refuses to a page of file://.
html_show_search_summary = False

_FONTS = "ui-sans-serif, system-ui, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif"
html_theme_options = {
    "light_css_variables": {"font-stack": _FONTS},
    "dark_css_variables": {"font-stack": _FONTS},
}


def _sidebar(readme: str) -> str:
    """Return a hidden table of contents for each row of the table of pages in README.md."""
    _, _, table = readme.rpartition("\n|---|")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[1:] if line.startswith("|")]
    lists = []
    for caption, links in rows:
        pages = [
            f"{title} <{target.removesuffix('.md')}>"
            for title, target in re.findall(r"\[([^\]]+)\]\(([^)#:]+\.md)\)", links)
        ]
        lists.append("\n".join(("```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```")))
    return "\n\n" + "\n\n".join(lists) + "\n"


def _two_pictures(found: re.Match[str]) -> str:
    """Turn a `<picture>`, which follows the system, into two images that follow the switch of the theme."""
    alt = escape(found["alt"])
    each = (f'<img class="only-{mode}" alt="{alt}" src="{found[mode]}">' for mode in ("light", "dark"))
    return "\n\n".join(each)


_PICTURE = re.compile(
    r'<picture>\s*<source [^>]*srcset="(?P<light>[^"]+)">\s*'
    r'<img alt="(?P<alt>[^"]*)" src="(?P<dark>[^"]+)">\s*</picture>'
)


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = _PICTURE.sub(_two_pictures, source[0])
    if page == root_doc:
        source[0] += _sidebar(source[0])


def _language(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    if page.startswith("docs/zh-CN/"):
        context["language"] = "zh-CN"


_IN_CHINESE = {
    "Auto light/dark, in dark mode": "跟随系统，深色",
    "Auto light/dark, in light mode": "跟随系统，浅色",
    "Back to top": "回到顶部",
    "Contents": "目录",
    "Dark mode": "深色",
    "Expand": "展开",
    "Index": "索引",
    "Light mode": "浅色",
    "Link to this heading": "链接到此标题",
    "Made with": "构建工具：",
    "Menu": "菜单",
    "Next": "下一页",
    "On this page": "本页内容",
    "Previous": "上一页",
    "Search": "搜索",
    "Skip to content": "跳到正文",
    "Toggle Light / Dark / Auto color theme": "切换浅色、深色或跟随系统",
    "Toggle site navigation sidebar": "显示或隐藏站点导航",
    "Toggle table of contents sidebar": "显示或隐藏目录",
}
"""The words of the theme around a page. It has no translations, and a site has one language."""

_WORDS = re.compile(rf"""([>"]\s*)({"|".join(map(re.escape, _IN_CHINESE))})(?=\s*[<"])""")


def _finish(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    shutil.copy(Path(__file__).parent / "index.html", app.outdir)
    for page in Path(app.outdir, "docs", "zh-CN").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(_WORDS.sub(lambda found: found[1] + _IN_CHINESE[found[2]], text), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect what turns pages for GitHub into pages of the site."""
    from han_search import EnglishAndHan  # beside this file

    app.add_search_language(EnglishAndHan)
    app.connect("source-read", _read)
    app.connect("html-page-context", _language)
    app.connect("build-finished", _finish)
