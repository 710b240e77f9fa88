"""The system's keychain, with a fake of the package keyring."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tui.core.errors import ConfigError
from tui.core.secrets import keychain
from tui.core.secrets.keychain import IN_FILE, StoredSecrets, key_in_keychain, name_of, read, remove, store

Install = Callable[[Callable[[str, str], str | None]], None]


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Install:
    def install(read: Callable[[str, str], str | None]) -> None:
        module = ModuleType("keyring")
        module.get_password = read  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "keyring", module)

    return install


async def failure(place: str = "mcptui/work") -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        await key_in_keychain(place, where="work")
    assert caught.value.where == "work" and place in caught.value.message and caught.value.next_step
    return caught.value


async def test_a_key_is_read_by_service_and_name(keyring: Install) -> None:
    keyring(lambda service, name: {("team/mcptui", "work"): "sk-secret\n"}.get((service, name)))
    key = await key_in_keychain("team/mcptui/work")
    assert key.reveal() == "sk-secret" and "sk-secret" not in repr(key)


async def test_a_missing_key_is_an_error_that_says_how_to_store_it(keyring: Install) -> None:
    keyring(lambda service, name: None)
    assert "keyring set mcptui work" in (await failure()).next_step


async def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert "pip install keyring" in (await failure()).next_step


@pytest.mark.parametrize(
    ("kind", "what", "step"),
    [
        ("NoKeyringError", "no supported keychain found", "api_key_env"),
        ("KeyringLocked", "cannot use the keychain: it is locked", "Unlock it"),
        ("InitError", "cannot use the keychain: it cannot be opened", "api_key_env"),
        ("BackendFault", "cannot use the keychain: no", "api_key_env"),
    ],
)
async def test_a_keychain_that_cannot_be_read_is_an_error_with_the_reason(
    keyring: Install, kind: str, what: str, step: str
) -> None:
    def read(service: str, name: str) -> str:
        raise type(kind, (RuntimeError,), {})("no\x1b[31m")

    keyring(read)
    error = await failure()
    assert what in error.message and step in error.next_step and "\x1b" not in error.message


async def test_a_locked_keychain_times_out(keyring: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keychain, "SECONDS", 0.05)
    unlocked = threading.Event()
    keyring(lambda service, name: "late" if unlocked.wait(10) else None)
    error = await failure()
    unlocked.set()
    assert "no response from the keychain within 0.05 s" in error.message and "Unlock" in error.next_step
    for thread in threading.enumerate():
        if thread.name == "keychain":
            thread.join(5)


@pytest.mark.usefixtures("keychain")
async def test_a_stored_key_can_be_read_until_it_is_removed() -> None:
    await store("mcptui", "a", "value")
    assert await read("mcptui", "a") == "value"
    await remove("mcptui", "a")
    await remove("mcptui", "a")
    assert await read("mcptui", "a") is None


async def test_storing_without_a_keychain_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigError, match="the Python package keyring is not installed"):
        await store("mcptui", "a", "value")


async def test_a_backend_without_encryption_is_not_a_keychain(monkeypatch: pytest.MonkeyPatch) -> None:
    class PlaintextKeyring: ...

    module = ModuleType("keyring")
    module.get_keyring = PlaintextKeyring  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    with pytest.raises(ConfigError, match="PlaintextKeyring, which does not encrypt"):
        await store("mcptui", "a", "value")


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
