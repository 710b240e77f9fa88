"""Hatch's build hook: merges the `.po` files of each language into the `.mo` file that is loaded.

Runs for a wheel, an sdist and `pip install -e`. It is not part of the wheel.
"""

import os
from pathlib import Path
from typing import Any

import polib
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("tui", "locale")


class CatalogBuildHook(BuildHookInterface[Any]):
    """Builds the catalogs and adds them to the package, since they are ignored by git."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        made = build(Path(self.root) / FOLDER)
        build_data["artifacts"] += [f"/{path.relative_to(self.root).as_posix()}" for path in made]


def build(locale: Path) -> list[Path]:
    """Write the catalog of each language that has a newer `.po` file than that; return all catalogs."""
    made = []
    for folder in sorted({path.parent for path in locale.glob("*/*.po")}):
        sources = sorted(folder.glob("*.po"))
        path = folder / "LC_MESSAGES" / "mcptui.mo"
        newest = max(
            source.stat().st_mtime for source in (*sources, folder)
        )  # a folder is newer if one is gone
        if not path.exists() or path.stat().st_mtime < newest:
            _write(path, merged(sources))
        made.append(path)
    return made


def merged(sources: list[Path]) -> polib.POFile:
    """Return the entries of all files, and the header of the first."""
    whole, seen = polib.POFile(), set()
    for source in sources:
        part = polib.pofile(str(source), encoding="utf-8")
        whole.metadata = whole.metadata or part.metadata
        for entry in part.translated_entries():
            if (key := (entry.msgctxt, entry.msgid)) not in seen:
                seen.add(key)
                whole.append(entry)
    return whole


def _write(path: Path, catalog: polib.POFile) -> None:
    """Replace the file at once: another process may be reading it."""
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_bytes(catalog.to_binary())
    draft.replace(path)
