"""The catalogs that hatch builds."""

import os
from pathlib import Path

import polib

from tui.locale.build_hook import build


def _write(path: Path, **texts: str) -> None:
    file = polib.POFile()
    file.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    file += [polib.POEntry(msgid=text, msgstr=said) for text, said in texts.items()]
    path.parent.mkdir(exist_ok=True)
    file.save(str(path))


def test_the_files_of_a_language_are_merged_without_what_is_not_translated(tmp_path):
    _write(tmp_path / "xx" / "a.po", Stop="Halt", Quit="")
    _write(tmp_path / "xx" / "b.po", Quit="Fort", Stop="Halt")
    (made,) = build(tmp_path)
    assert {entry.msgid: entry.msgstr for entry in polib.mofile(str(made))} == {
        "Stop": "Halt",
        "Quit": "Fort",
    }


def test_a_catalog_is_built_again_only_if_a_file_is_newer(tmp_path):
    _write(tmp_path / "xx" / "a.po", Stop="Halt")
    (made,) = build(tmp_path)
    os.utime(made, (made.stat().st_mtime + 60,) * 2)
    before = made.stat()
    build(tmp_path)
    assert made.stat().st_ino == before.st_ino
    os.utime(tmp_path / "xx" / "a.po", (before.st_mtime + 60,) * 2)
    build(tmp_path)
    assert made.stat().st_ino != before.st_ino
    assert [path.name for path in made.parent.iterdir()] == ["mcptui.mo"]
