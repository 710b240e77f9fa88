"""The cached list is used only as long as the files are the same."""

import json
from pathlib import Path

import pytest

from tests.unit.storage.session_samples import ANSWER, QUESTION, saved, say, store_in
from tui.storage.sessions import folder as session_folder
from tui.storage.sessions.folder import NAME, load_known


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """Make forty sessions."""
    session = await saved(store_in(tmp_path), QUESTION, ANSWER)
    folder = tmp_path / "sessions"
    data = (folder / f"{session}.mcpsession").read_bytes()
    for number in range(39):
        (folder / f"copy-{number}.mcpsession").write_bytes(data)
    return folder


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    real = session_folder.read_info
    monkeypatch.setattr(session_folder, "read_info", lambda path: found.append(path.stem) or real(path))
    return found


async def test_another_process_reads_only_sessions_that_changed(
    tmp_path: Path, folder: Path, reads: list[str]
):
    first = await store_in(tmp_path).list()
    assert len(reads) == 40
    reads.clear()
    assert await store_in(tmp_path).list() == first and reads == []
    store = store_in(tmp_path)
    _, journal = await store.reopen("copy-3")
    await say(journal, QUESTION, start=2)
    await store.rename("copy-3", "Another")
    assert (await store_in(tmp_path).list())[0].title == "Another"
    assert reads == ["copy-3"]
    await journal.close()


async def test_a_deleted_session_is_removed_from_the_list(tmp_path: Path, folder: Path):
    await store_in(tmp_path).list()
    store = store_in(tmp_path)
    await store.delete("copy-1")
    assert len(await store.list()) == len(await store_in(tmp_path).list()) == 39


async def test_the_cached_list_is_private(tmp_path: Path, folder: Path):
    await store_in(tmp_path).list()
    assert (folder / NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "[" * 5000,
        '{"form": 2, "sessions": {}}',
        '{"form": 1, "sessions": []}',
        '{"form": 1, "sessions": {"copy-1": []}}',
        '{"form": 1, "sessions": {"copy-1": [[1, 2, 3, "x"], []]}}',
        '{"form": 1, "sessions": {"copy-1": [[1, 2, 3, 4], ["copy-1", 5]]}}',
        "\ud800",
    ],
)
async def test_an_invalid_cached_list_is_ignored(tmp_path: Path, folder: Path, text: str):
    (folder / NAME).write_text(text, errors="surrogatepass")
    assert load_known(folder) == {}
    assert len(await store_in(tmp_path).list()) == 40


async def test_a_cached_list_with_wrong_types_is_ignored(tmp_path: Path, folder: Path):
    await store_in(tmp_path).list()
    found = json.loads((folder / NAME).read_text())
    found["sessions"]["copy-1"][1][1] = 7
    (folder / NAME).write_text(json.dumps(found))
    assert load_known(folder) == {}


async def test_a_list_cached_by_another_process_is_used_without_reading_the_sessions(
    tmp_path: Path, folder: Path, reads: list[str]
):
    await store_in(tmp_path).list()
    reads.clear()
    assert len(await store_in(tmp_path).list()) == 40
    assert reads == []
