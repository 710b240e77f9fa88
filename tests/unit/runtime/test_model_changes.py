"""Model profiles added while mcptui runs."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Endpoint, refuses, says
from tests.unit.runtime.stage import active, configuration_of
from tui.core.errors import ConfigError, McptuiError, StorageError
from tui.core.secrets.redact import Redactor
from tui.model.endpoints.profile import ModelProfile
from tui.runtime.model_changes import ModelChanges, ModelValues
from tui.runtime.model_keys import ModelKeys
from tui.runtime.permission.consent import missing_consents

KEY = "sk-canary-1234567890"


class Stage:
    """A configuration file, and the changes to it."""

    def __init__(self, path: Path, **env: str) -> None:
        self.path = path
        path.write_text("# mine\n[limits]\nmax_steps = 3\n[servers.off]\ncommand = 'off'\ndisabled = true\n")
        self.done: list[str] = []
        self.redactor = Redactor()
        self.configuration = configuration_of(
            path, env=env, take_over=lambda loaded: self.done.append("apply")
        )
        active_model = active(env=env, redactor=self.redactor)
        self.keys = active_model.keys = ModelKeys(path.parent / "keys")
        self.changes = ModelChanges(self.configuration, env, active_model, self._switch)

    async def _switch(self, name: str, model: str = "") -> None:
        self.done.append(name)

    def models(self) -> Any:
        return tomllib.loads(self.path.read_text()).get("models")


def keys_in(folder: Path) -> list[bool]:
    return [KEY in one.read_text() for one in folder.rglob("*.json")]


async def test_a_model_is_listed_tested_saved_and_switched_to(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "c.toml", A_KEY=KEY)
    await stage.configuration.reload()
    stage.done.clear()
    async with Endpoint([says("OK")], models=["a", "b"]) as endpoint:
        values = ModelValues("mine", endpoint.base_url, "a", "environment", "A_KEY")
        assert await stage.changes.offered(values) == ["a", "b"]
        await stage.changes.try_out(values)
        await stage.changes.add(values)
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert stage.models() == {"mine": {"model": "a", "base_url": endpoint.base_url, "api_key_env": "A_KEY"}}
    assert stage.path.read_text().startswith("# mine\n[limits]\nmax_steps = 3\n")
    assert stage.done == ["apply", "mine"] and stage.redactor.redact(KEY) == "[redacted:A_KEY]"


async def test_a_rejected_model_is_reported_in_the_words_of_the_endpoint(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "c.toml")
    async with Endpoint([refuses(401, "bad key")]) as endpoint:
        with pytest.raises(McptuiError, match="bad key"):
            await stage.changes.try_out(ModelValues("mine", endpoint.base_url, "a"))
    assert stage.models() is None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (ModelValues("x", "http://h/v1", ""), "No model selected"),
        (ModelValues("x", "ftp://h", "m"), "base_url"),
        (ModelValues("x y\n", "http://h/v1", "m"), "x y"),
        (ModelValues("x", "http://h/v1", "m", "environment", "NOT A NAME"), "api_key_env"),
    ],
)
def test_an_unusable_profile_is_not_saved(tmp_path: Path, values: ModelValues, words: str) -> None:
    with pytest.raises(McptuiError, match=words):
        Stage(tmp_path / "c.toml").changes.table(values)


@pytest.mark.parametrize("place", ["store", "run"])
async def test_a_pasted_key_does_not_stay_if_the_profile_cannot_be_written(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(change: object) -> None:
        raise StorageError("no space left")

    stage = Stage(tmp_path / "c.toml")
    monkeypatch.setattr(stage.configuration.file, "change", full)
    with pytest.raises(StorageError, match="no space left"):
        await stage.changes.add(ModelValues("mine", "http://127.0.0.1:9/v1", "a", place, "", KEY))
    profile = ModelProfile("mine", "http://127.0.0.1:9/v1", "a")
    assert stage.keys.applied(profile) is profile and not keys_in(tmp_path)


@pytest.mark.parametrize("key", ["", " ", "two words", "kéy", "x" * 20_000])
def test_a_key_that_cannot_be_sent_is_refused_before_it_is_tried(tmp_path: Path, key: str) -> None:
    values = ModelValues("mine", "http://h/v1", "a", "store", "", key)
    with pytest.raises(ConfigError) as caught:
        Stage(tmp_path / "c.toml").changes.check(values)
    assert not key.strip() or key not in str(caught.value)


async def test_a_variable_that_is_not_set_is_an_error_before_anything_is_sent(tmp_path: Path) -> None:
    async with Endpoint([]) as endpoint:
        values = ModelValues("mine", endpoint.base_url, "a", "environment", "A_KEY")
        with pytest.raises(ConfigError, match=r"A_KEY is not set\. Choose “store” or “this run only”"):
            await Stage(tmp_path / "c.toml").changes.try_out(values)
    assert not endpoint.requests


def test_providers_with_a_key_come_first_and_suggested_names_are_unused(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "c.toml", GROQ_API_KEY=KEY)
    providers = stage.changes.providers()
    assert (providers[0].name, providers[-1].name) == ("groq", "")
    assert stage.changes.variable_of(providers[0]) == "GROQ_API_KEY"
    stage.path.write_text('[models.groq]\nmodel = "x"\n')
    assert [*map(stage.changes.free_name, ("groq", "m" * 39 + "-b"))] == ["groq-2", "m" * 39]


async def test_a_model_that_the_user_adds_to_another_file_needs_no_further_consent(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "c.toml", A_KEY=KEY)
    values = ModelValues("mine", "https://e.example/v1", "a", "environment", "A_KEY")
    await stage.configuration.reload()
    await stage.changes.add(values)
    env = {"A_KEY": KEY}
    assert missing_consents(stage.path, env) == []
    stage.path.write_text(stage.path.read_text().replace("e.example", "f.example"))
    assert missing_consents(stage.path, env) != []
