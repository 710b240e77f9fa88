"""Builds the site: `python docs/site [FOLDER]`. Any warning fails it, such as a link to a heading that is gone.

Needs the extra `docs`. The pages need no network and can be opened as files.
"""

import re
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).resolve().parent
_REMOTE = re.compile(
    r"""<(?:script|img|source|iframe)\b[^>]*\bsrc(?:set)?=["'](?:https?:)?//[^>]*>"""
    r"""|<link\b[^>]*\bhref=["'](?:https?:)?//[^>]*>"""
    r"""|@import\s+(?:url\()?["']?(?:https?:)?//[^;]*|url\(["']?(?:https?:)?//[^)]*\)"""
)


def remote_assets(text: str) -> list[str]:
    """Return the parts of a page or style sheet that a browser would load from another host."""
    return _REMOTE.findall(text)


def main(folder: Path) -> int:
    """Build the site in a folder and return the exit code."""
    options = ["-q", "-W", "--keep-going", "-j", "auto", "-c", str(HERE), "-d", str(folder / ".doctrees")]
    if failed := build_main([*options, str(HERE.parents[1]), str(folder)]):
        return failed
    found = [
        f"{file.relative_to(folder)}: {asset}"
        for file in sorted(folder.rglob("*"))
        if file.suffix in {".html", ".css", ".svg"}
        for asset in remote_assets(file.read_text(encoding="utf-8"))
    ]
    print("\n".join([*found, "Pages must not load anything from another host."] if found else [folder / "index.html"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir()) / "mcptui-site")))
