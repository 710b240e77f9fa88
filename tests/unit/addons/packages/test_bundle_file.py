"""Bundles as files: what is unpacked, and every kind of zip that must not be."""

import hashlib
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bundles import bundle, entry
from tui.addons.packages import bundle as bundle_module
from tui.addons.packages.bundle import open_bundle
from tui.core.errors import UsageError


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_files_are_unpacked_as_private_and_programs_as_executable(tmp_path: Path):
    run = (entry("bin/run", stat.S_IFREG | 0o755), b"#!")
    path = bundle(tmp_path / "a.mcpb", None, {"server/main.py": b"x", "bin/own": b"y"}, run)
    with open_bundle(path) as file:
        assert (len(file.names), file.digest) == (4, hashlib.sha256(path.read_bytes()).hexdigest())
        file.unpack(tmp_path / "out" / "a", "bin/own")
    folder = tmp_path / "out" / "a"
    assert everything_in(folder).keys() == {"manifest.json", "server/main.py", "bin/run", "bin/own"}
    modes = {
        name: stat.S_IMODE((folder / name).stat().st_mode)
        for name in ("bin/run", "bin/own", "server/main.py")
    }
    assert modes == {"bin/run": 0o700, "bin/own": 0o700, "server/main.py": 0o600}
    assert [one.name for one in folder.parent.iterdir()] == ["a"]


def test_an_older_folder_is_replaced_as_a_whole(tmp_path: Path):
    old = tmp_path / "out"
    old.mkdir()
    (old / "left").write_text("x")
    with open_bundle(bundle(tmp_path / "a.mcpb")) as file:
        file.unpack(old)
    assert everything_in(old).keys() == {"manifest.json", "server/main.py"}


HOSTILE = {
    "a parent folder": (entry("../evil"), "points outside its folder"),
    "a parent folder within": (entry("a/../../evil"), "points outside its folder"),
    "a dot": (entry("./evil"), "points outside its folder"),
    "an empty part": (entry("a//evil"), "points outside its folder"),
    "an absolute path": (entry("/tmp/evil"), "is an absolute path"),
    "a drive": (entry("C:/evil"), "is an absolute path"),
    "a backslash": (entry("..\\evil"), "backslash"),
    "an escape sequence": (entry("a\x1b[2J"), "control character"),
    "a link": (entry("link", stat.S_IFLNK | 0o777), "is a link"),
    "a device": (entry("null", stat.S_IFCHR | 0o666), "is not a file"),
    "a pipe": (entry("pipe", stat.S_IFIFO | 0o666), "is not a file"),
    "a long name": (entry("a" * 300), "too long"),
    "a deep path": (entry("a/" * 600 + "b"), "too long"),
    "the manifest again": (entry("MANIFEST.json"), "would overwrite each other"),
    "a file in a file": (entry("manifest.json/x"), "would overwrite each other"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_entry_makes_the_bundle_unusable(tmp_path: Path, kind: str):
    info, said = HOSTILE[kind]
    path = bundle(tmp_path / "a.mcpb", None, {"good": b"x"}, (info, b"../../etc/passwd"))
    before = set(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match=said) as caught, open_bundle(path):
        pass
    assert str(path) in str(caught.value) and "\x1b" not in str(caught.value)
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("names", [("a.py", "A.PY"), ("a/x", "A/y"), ("a", "a/b"), ("\u00e9", "e\u0301")])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_collide_on_some_file_systems_are_refused(tmp_path: Path, names: tuple[str, str]):
    path = bundle(tmp_path / "a.mcpb", None, dict.fromkeys(names, b"x"))
    with pytest.raises(UsageError, match="would overwrite each other"), open_bundle(path):
        pass


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused(tmp_path: Path):
    path = bundle(tmp_path / "a.mcpb", None, {"a": b"x"}, (entry("a"), b"y"))
    with pytest.raises(UsageError, match="would overwrite each other"), open_bundle(path):
        pass


def test_an_unusual_compression_and_an_encrypted_entry_are_refused(tmp_path: Path):
    path = tmp_path / "a.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as target:
        target.writestr("manifest.json", "{}")
    with pytest.raises(UsageError, match="uses an unsupported compression"), open_bundle(path):
        pass
    raw = bytearray(bundle(path, b"{}").read_bytes())
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(UsageError, match="encrypted"), open_bundle(path):
        pass


def test_too_many_files_and_too_many_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = bundle(tmp_path / "a.mcpb", None, {f"f{number}": b"x" * 100 for number in range(20)})
    for name, value, said in (
        ("MAX_ENTRIES", 20, "more than 20 files"),
        ("MAX_UNPACKED", 1000, "unpacks to more than"),
        ("MAX_FILE", 100, "larger than 100 B"),
        ("MAX_MANIFEST", 10, "manifest.json is larger"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(bundle_module, name, value)
            with pytest.raises(UsageError, match=said), open_bundle(path):
                pass


def larger_than_declared(path: Path) -> None:
    raw = bytearray(bundle(path, None, {"bomb": b"\0" * 500_000}).read_bytes())
    at = raw.rindex(b"PK\x01\x02")
    raw[at + 24 : at + 28] = (10).to_bytes(4, "little")
    path.write_bytes(raw)


def damaged(path: Path) -> None:
    raw = bytearray(bundle(path, None, {"x": os.urandom(5000)}).read_bytes())
    raw[3000] ^= 0xFF
    path.write_bytes(raw)


@pytest.mark.parametrize("make", [larger_than_declared, damaged])
def test_an_entry_that_cannot_be_unpacked_leaves_nothing_behind(tmp_path: Path, make: Callable[[Path], None]):
    make(tmp_path / "a.mcpb")
    with open_bundle(tmp_path / "a.mcpb") as file, pytest.raises(UsageError, match="cannot unpack it"):
        file.unpack(tmp_path / "out" / "a")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path):
    path = bundle(tmp_path / "a.mcpb", None, {"x": b"y" * 100})
    with open_bundle(path) as file:
        with path.open("ab") as other:
            other.write(b"more")
        with pytest.raises(UsageError, match="it changed while it was read"):
            file.unpack(tmp_path / "out" / "a")


def test_a_bundle_must_match_the_expected_sha_256(tmp_path: Path):
    path = bundle(tmp_path / "a.mcpb")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with open_bundle(path, f"SHA256:{digest}".lower()), open_bundle(path, digest.upper()):
        pass
    with pytest.raises(UsageError, match="not the expected one"), open_bundle(path, "0" * 64):
        pass


@pytest.mark.parametrize("data", [b"", b"PK" + b"\0" * 50, b"not a zip at all"])
def test_a_file_that_is_not_a_zip_is_rejected(tmp_path: Path, data: bytes):
    (tmp_path / "a.mcpb").write_bytes(data)
    with pytest.raises(UsageError, match="not a valid zip file"), open_bundle(tmp_path / "a.mcpb"):
        pass


def test_a_missing_file_a_folder_and_a_pipe_are_refused_at_once(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.mcpb")
    (tmp_path / "folder.mcpb").mkdir()
    for name, said in (("no", "No such file"), ("folder", "Is a directory"), ("pipe", "not a file")):
        path = tmp_path / f"{name}.mcpb"
        with pytest.raises(UsageError, match=said), open_bundle(path):
            pass


@pytest.mark.parametrize("text", [b"{", b"[" * 100_000])
def test_a_manifest_that_cannot_be_read_is_refused(tmp_path: Path, text: bytes):
    with pytest.raises(UsageError, match="is not JSON"), open_bundle(bundle(tmp_path / "a.mcpb", text)):
        pass


@given(st.data())
def test_a_damaged_bundle_raises_only_a_usage_error_and_writes_nothing_outside(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    folder = tmp_path_factory.mktemp("damaged")
    path = bundle(folder / "a.mcpb", None, {"server/main.py": b"x" * 300})
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    try:
        with open_bundle(path) as file:
            file.unpack(folder / "out" / "a")
    except UsageError as error:
        assert str(error)
    assert {one.name for one in folder.iterdir()} <= {"a.mcpb", "out"}
