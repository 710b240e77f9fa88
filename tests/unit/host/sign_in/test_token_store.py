"""Stored tokens: real files, and a fake of the package keyring."""

import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.foreign import NUMBERS, OTHERS
from tui.core.errors import StorageError
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.host.sign_in.authorization_server import MAX_REPLY
from tui.host.sign_in.sign_ins import state_of
from tui.host.sign_in.token_store import TokenStore

URL = "https://mcp.example/mcp"
SIGNED_IN = StoredSignIn(
    "work",
    URL,
    "https://auth.example",
    client={"client_id": "me", "client_secret": "canary-client"},
    tokens={"access_token": "canary-access", "refresh_token": "canary-refresh", "scope": "read"},
    expires_at=2_000_000_000.0,
    metadata={"issuer": "https://auth.example"},
)


@pytest.fixture
def no_keychain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def written(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


async def test_tokens_are_stored_in_the_keychain_and_in_no_file(
    tmp_path: Path, keychain: dict[tuple[str, str], str]
) -> None:
    store = TokenStore(tmp_path / "sign-in")
    saved = await store.save(SIGNED_IN)
    assert store.shown_place(saved) == "in the keychain"
    assert "canary" not in written(tmp_path) and "canary-refresh" in "".join(keychain.values())
    found = await store.find("work", URL)
    assert found is not None and found.tokens == SIGNED_IN.tokens and found.client == SIGNED_IN.client


@pytest.mark.usefixtures("no_keychain")
async def test_without_a_keychain_tokens_are_in_a_file_readable_only_by_the_owner(tmp_path: Path) -> None:
    store = TokenStore(tmp_path / "sign-in")
    saved = await store.save(SIGNED_IN)
    path = only_file(tmp_path / "sign-in")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    place = store.shown_place(saved)
    assert str(path) in place and "the Python package keyring is not installed" in place
    assert await store.find("work", URL) == saved


@pytest.mark.usefixtures("no_keychain")
async def test_tokens_are_not_used_for_another_url_or_server(tmp_path: Path) -> None:
    store = TokenStore(tmp_path)
    await store.save(SIGNED_IN)
    assert await store.find("work", "https://other.example/mcp") is None
    assert await store.find("other", URL) is None


@pytest.mark.usefixtures("no_keychain")
async def test_a_file_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    store = TokenStore(tmp_path)
    await store.save(SIGNED_IN)
    path = only_file(tmp_path)
    os.chmod(path, 0o644)
    assert await store.find("work", URL) is None


@pytest.mark.usefixtures("no_keychain")
@pytest.mark.parametrize(
    "text", ["", "[]", '{"server": 1}', '{"server": "work", "url": 7}', "\0", "{", "[" * 100_000]
)
async def test_a_damaged_file_does_not_count_as_a_sign_in(tmp_path: Path, text: str) -> None:
    store = TokenStore(tmp_path)
    await store.save(SIGNED_IN)
    path = only_file(tmp_path)
    path.write_text(text)
    assert await store.find("work", URL) is None and await store.listed() == []


@pytest.mark.parametrize("where", ["expires_at", "saved_at", "expires_in"])
async def test_any_number_in_a_file_can_be_shown(tmp_path: Path, where: str) -> None:
    store = TokenStore(tmp_path, use_keychain=False)
    await store.save(SIGNED_IN)
    path = only_file(tmp_path)
    found = json.loads(path.read_text())
    for number in NUMBERS + OTHERS:
        (found["tokens"] if where == "expires_in" else found)[where] = number
        path.write_text(json.dumps(found))
        signed_in = await store.find("work", URL)
        assert signed_in is not None and signed_in.tokens["access_token"] == "canary-access", number
        assert state_of(signed_in).startswith("sign"), number


async def test_a_token_whose_stored_lifetime_says_nothing_has_not_expired(tmp_path: Path) -> None:
    store = TokenStore(tmp_path, use_keychain=False)
    tokens = {"access_token": "canary-access", "expires_in": -5}
    await store.save(replace(SIGNED_IN, tokens=tokens, expires_at=1.0))
    found = await store.find("work", URL)
    assert found is not None and found.expires_at is None and "expires_in" not in found.tokens


@pytest.mark.parametrize("value", [5, ["a"], {"a": "b"}, "two\r\nlines", "t\u00f6ken", True])
async def test_a_token_that_cannot_be_sent_does_not_count(
    tmp_path: Path, keychain: dict[tuple[str, str], str], value: Any
) -> None:
    store = TokenStore(tmp_path)
    await store.save(SIGNED_IN)
    for place in keychain:
        keychain[place] = json.dumps({"access_token": value, "refresh_token": "canary-refresh"})
    found = await store.find("work", URL)
    assert found is not None and set(found.tokens) == {"scope", "refresh_token"}


@pytest.mark.usefixtures("no_keychain")
async def test_a_sign_in_with_the_largest_token_and_metadata_is_read_again(tmp_path: Path) -> None:
    store = TokenStore(tmp_path)
    token = "x" * (MAX_REPLY - 100)
    metadata = {"scopes_supported": ["\u00e9" * 10] * (MAX_REPLY // 24)}
    await store.save(replace(SIGNED_IN, tokens={"access_token": token}, metadata=metadata))
    found = await store.find("work", URL)
    assert found is not None and found.tokens["access_token"] == token and found.metadata == metadata


async def test_forgetting_a_sign_in_deletes_files_and_entries_for_every_issuer(
    tmp_path: Path, keychain: dict[tuple[str, str], str]
) -> None:
    store = TokenStore(tmp_path)
    await store.save(SIGNED_IN)
    await store.save(replace(SIGNED_IN, issuer="https://other.example"))
    await store.save(replace(SIGNED_IN, server="home"))
    assert await store.forget("work") == 2
    assert [found.server for found in await store.listed()] == ["home"] and len(keychain) == 1
    assert await store.forget("work") == 0


async def test_the_newest_issuer_is_used_and_older_ones_can_be_dropped(
    tmp_path: Path, keychain: dict[tuple[str, str], str]
) -> None:
    store = TokenStore(tmp_path)
    await store.save(SIGNED_IN)
    newer = await store.save(replace(SIGNED_IN, issuer="https://new.example"))
    found = await store.find("work", URL)
    assert found is not None and found.issuer == "https://new.example"
    await store.forget_other_issuers(newer)
    assert len(await store.listed()) == 1 and len(keychain) == 1


async def test_a_listing_contains_no_secrets(tmp_path: Path, keychain: dict[tuple[str, str], str]) -> None:
    store = TokenStore(tmp_path)
    await store.save(SIGNED_IN)
    (found,) = await store.listed()
    assert found.tokens == {"scope": "read"} and "canary" not in repr(found)


async def test_a_missing_keychain_entry_does_not_count_as_a_sign_in(
    tmp_path: Path, keychain: dict[tuple[str, str], str]
) -> None:
    store = TokenStore(tmp_path)
    await store.save(SIGNED_IN)
    keychain.clear()
    assert await store.find("work", URL) is None


@pytest.mark.usefixtures("no_keychain")
async def test_a_folder_that_is_not_writable_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot store the sign-in"):
        await TokenStore(tmp_path / "file" / "sign-in").save(SIGNED_IN)


def test_secrets_are_not_in_the_repr() -> None:
    assert "canary" not in repr(SIGNED_IN)
