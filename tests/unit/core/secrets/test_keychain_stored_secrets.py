"""Entries of secrets: in private files, or with their secrets in the keychain."""

import sys
from pathlib import Path

import pytest

from tui.core.secrets.keychain import IN_FILE, StoredSecrets, name_of


@pytest.fixture(autouse=True)
def no_keychain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


def test_the_name_of_an_entry_depends_on_all_that_it_belongs_to() -> None:
    assert name_of("a", "bc") != name_of("ab", "c") and name_of("a", "b") == name_of("a", "b")


async def test_without_a_keychain_the_caller_writes_the_secrets_to_the_file(tmp_path: Path) -> None:
    stored = StoredSecrets(tmp_path / "mcptui" / "keys", "key")
    place, reason = await stored.into_keychain("n", "secret")
    assert place == IN_FILE and reason == await stored.why_in_file()
    await stored.write("n", {"secret": "s"})
    assert stored.path("n").stat().st_mode & 0o777 == 0o600
    assert stored.read("n", dict) == {"secret": "s"} and list(stored.all(dict)) == [{"secret": "s"}]
    assert "mode 0600" in stored.shown_place("n", place, reason)
    await stored.remove("n", place=place)
    assert stored.read("n", dict) is None


async def test_a_link_in_place_of_an_entry_is_not_read(tmp_path: Path) -> None:
    stored = StoredSecrets(tmp_path, "key")
    await stored.write("n", {"secret": "s"})
    stored.path("m").symlink_to(stored.path("n"))
    assert stored.read("m", dict) is None


async def test_a_backend_that_keeps_nothing_is_not_a_keychain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Null:
        def get_password(self, service: str, name: str) -> None:
            return None

        def set_password(self, service: str, name: str, value: str) -> None:
            return None

    monkeypatch.setitem(sys.modules, "keyring", Null())
    assert await StoredSecrets(tmp_path, "key").into_keychain("n", "s") == (
        IN_FILE,
        "the keychain did not keep the value",
    )
