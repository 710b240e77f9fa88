"""Builds the site: `python docs/site [FOLDER]`. A warning fails it, such as one of a link to no heading.

Needs the extra `docs`. The pages need no network and can be opened as files.
"""

import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).resolve().parent


def main(folder: Path) -> int:
    """Build the site in a folder and return the exit code."""
    options = ["-q", "-W", "--keep-going", "-c", str(HERE), "-d", str(folder / ".doctrees")]
    if failed := build_main([*options, str(HERE.parents[1]), str(folder)]):
        return failed
    print(folder / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.gettempdir()) / "mcptui-site"))
