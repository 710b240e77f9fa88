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


def _front_page(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        shutil.copy(Path(__file__).parent / "index.html", app.outdir)


def setup(app: Sphinx) -> None:
    """Connect what turns pages for GitHub into pages of the site."""
    from han_search import EnglishAndHan  # beside this file

    app.add_search_language(EnglishAndHan)
    app.connect("source-read", _read)
    app.connect("html-page-context", _language)
    app.connect("build-finished", _front_page)
