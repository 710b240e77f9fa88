"""Keys that the user entered for model profiles: in memory, in the keychain, or in private files."""

import sys
from pathlib import Path

import pytest

from tui.core.errors import ConfigError
from tui.model.endpoints.profile import ModelProfile
from tui.runtime.model_keys import ModelKeys
from tui.runtime.profiles import with_key

KEY = "sk-canary-1234567890"
PROFILE = ModelProfile("work", "https://api.example/v1", "m", api_key_env="WORK_KEY")


@pytest.fixture(autouse=True)
def no_keychain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def key_of(profile: ModelProfile | None) -> str:
    return profile.api_key.reveal() if profile is not None and profile.api_key else ""


async def test_without_a_keychain_a_key_is_in_a_private_file(tmp_path: Path) -> None:
    folder = tmp_path / "mcptui" / "keys"
    place = await ModelKeys(folder).store(PROFILE, KEY)
    (file,) = files_in(folder)
    assert file.stat().st_mode & 0o777 == 0o600 and KEY in file.read_text()
    assert str(file) in place and "mode 0600" in place and KEY not in place
    found = ModelKeys(folder).applied(PROFILE)
    assert key_of(found) == KEY and str(file) in found.key_place and KEY not in repr(found)


async def test_with_a_keychain_a_key_is_in_no_file(
    tmp_path: Path, keychain: dict[tuple[str, str], str]
) -> None:
    folder = tmp_path / "mcptui" / "keys"
    keys = ModelKeys(folder)
    assert await keys.future_place() == ("the system keychain", "")
    assert await keys.store(PROFILE, KEY) == "in the keychain"
    assert list(keychain.values()) == [KEY] and KEY not in files_in(folder)[0].read_text()
    assert key_of(await with_key(ModelKeys(folder).applied(PROFILE))) == KEY
    assert await keys.forget("work") == ["in the keychain"]
    assert not keychain and not files_in(folder)


async def test_a_key_lost_from_the_keychain_is_an_error_that_says_how_to_enter_it_again(
    tmp_path: Path, keychain: dict[tuple[str, str], str]
) -> None:
    keys = ModelKeys(tmp_path)
    await keys.store(PROFILE, KEY)
    keychain.clear()
    with pytest.raises(ConfigError, match="mcptui config key work"):
        await with_key(keys.applied(PROFILE))


async def test_why_there_is_no_keychain_is_known_before_a_key_is_stored(tmp_path: Path) -> None:
    place, why = await ModelKeys(tmp_path).future_place()
    assert place.startswith("a file that only you can read, in ") and "keyring is not installed" in why
    assert not files_in(tmp_path)


async def test_a_key_of_this_run_is_in_no_file_and_unknown_to_the_next_run(tmp_path: Path) -> None:
    keys = ModelKeys(tmp_path)
    keys.use(PROFILE, f"{KEY}\n")
    assert key_of(keys.applied(PROFILE)) == KEY
    assert ModelKeys(tmp_path).applied(PROFILE) is PROFILE and not files_in(tmp_path)


@pytest.fixture
async def stored(tmp_path: Path) -> ModelKeys:
    keys = ModelKeys(tmp_path)
    await keys.store(PROFILE, KEY)
    return keys


@pytest.mark.parametrize(
    ("other", "is_sent"),
    [
        ("https://api.example/v2/chat", True),
        ("https://api.example:443/v1", True),
        ("http://api.example/v1", False),
        ("https://api.example:8443/v1", False),
        ("https://api.example.evil/v1", False),
        ("https://api.example@evil/v1", False),
    ],
)
async def test_a_key_is_only_sent_to_the_origin_that_it_was_entered_for(
    stored: ModelKeys, other: str, is_sent: bool
) -> None:
    assert bool(key_of(stored.applied(ModelProfile("work", other, "m")))) is is_sent
    assert not key_of(stored.applied(ModelProfile("other", PROFILE.base_url, "m")))


async def test_a_profile_that_needs_consent_gets_no_key(stored: ModelKeys) -> None:
    assert not key_of(stored.applied(ModelProfile("work", PROFILE.base_url, "m", blocked="needs consent")))


async def test_a_file_that_others_can_read_or_that_is_damaged_holds_no_key(
    tmp_path: Path, stored: ModelKeys
) -> None:
    (file,) = files_in(tmp_path)
    file.chmod(0o644)
    assert not key_of(stored.applied(PROFILE))
    file.chmod(0o600)
    for text in (
        "",
        "[]",
        "{}",
        '{"place": "file", "profile": "work", "origin": "x", "reason": "", "key": 3}',
    ):
        file.write_text(text)
        assert not key_of(stored.applied(PROFILE))


async def test_a_stored_key_replaces_that_of_this_run_and_is_forgotten_with_it(tmp_path: Path) -> None:
    keys = ModelKeys(tmp_path)
    keys.use(PROFILE, "sk-first")
    await keys.store(PROFILE, KEY)
    assert key_of(keys.applied(PROFILE)) == KEY
    assert len(await keys.forget("work")) == 1 and await keys.forget("work") == []
    assert keys.applied(PROFILE) is PROFILE
