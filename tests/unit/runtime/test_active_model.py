"""The active model, and what is learned about it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import until
from tests.endpoint import Answer, Endpoint, says
from tests.streams import output_of_model
from tests.unit.runtime.permission.test_consent import Log, Person
from tests.unit.runtime.stage import active
from tui.core.conversation.conversation import Attachment, SessionMeta, UserMessage
from tui.core.errors import ConfigError
from tui.core.ports import ModelRequest, ToolSpec, Usage
from tui.core.questions import Action
from tui.runtime.active_model import ActiveModel
from tui.runtime.permission.consent import RunConsent
from tui.settings.load import load_text


class Ollama(dict[str, Answer]):
    """The pages of an Ollama server that loads the model on request."""

    def __init__(self, endpoint: Endpoint, context: int = 32_768) -> None:
        super().__init__({"/api/show": Answer(body={"model_info": {"qwen3.context_length": 40_960}})})
        self._endpoint = endpoint
        self._loaded = [{"name": "m", "context_length": context}]

    def get(self, path: str, default: Answer | None = None) -> Answer | None:
        told = [json.loads(one.body) for one in self._endpoint.others if one.path == "/api/generate"]
        if path == "/api/generate":
            return Answer(body={"done": True, "done_reason": "load"})
        if path == "/api/ps":
            return Answer(body={"models": self._loaded if {"model": "m", "stream": False} in told else []})
        return super().get(path, default)


async def begun(endpoint: Endpoint, more: str = "") -> ActiveModel:
    asked = active()
    text = f'[models.ollama]\nmodel = "m"\nbase_url = "{endpoint.base_url}"\n{more}'
    await asked.begin(load_text(text, Path("config.toml"), {}))
    return asked


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({}, ["ollama has no key: the environment variable K is not set. Paste the key with /key, set the "
            "variable and restart, or switch to another model."]),
        ({"K": "secret"}, []),
    ],
)  # fmt: skip
async def test_a_missing_key_is_reported_only_for_the_profile_in_use(env: dict[str, str], said: list[str]):
    asked = active(env=env)
    text = (
        'default_model = "ollama"\n'
        '[models.ollama]\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "K"\n'
        '[models.other]\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "OTHER"\n'
    )
    await asked.begin(load_text(text, Path("config.toml"), env))
    assert asked.problems == said
    await asked.close()


async def test_an_unloaded_model_is_loaded_first_to_learn_its_context_window() -> None:
    async with Endpoint() as endpoint:
        endpoint.pages = Ollama(endpoint)
        asked = await begun(endpoint)
        await until(lambda: asked.to_load == "m")
        assert asked.context_meter.window == 4_096
        await asked.load()
        assert (asked.context_meter.window, asked.to_load) == (32_768, "")
        before = len(endpoint.others)
        asked.answered(asked.model)
        await asked.close()
    assert len(endpoint.others) == before


async def test_a_model_that_fails_to_load_is_not_loaded_again_at_each_question() -> None:
    pages = {"/api/show": Answer(body={}), "/api/ps": Answer(body={"models": []})}
    async with Endpoint(pages=pages) as endpoint:
        asked = await begun(endpoint)
        await until(lambda: asked.to_load == "m")
        await asked.load()
        assert (asked.context_meter.window, asked.to_load) == (4_096, "")
        await asked.close()


async def test_with_a_configured_context_window_no_model_is_loaded() -> None:
    async with Endpoint() as endpoint:
        endpoint.pages = Ollama(endpoint)
        asked = await begun(endpoint, "context_window = 5000")
        await asked.close()
    assert (asked.context_meter.window, asked.to_load, endpoint.others) == (5_000, "", [])


async def test_the_context_window_is_queried_again_once_the_first_question_loaded_the_model() -> None:
    pages = {
        "/api/show": Answer(body={"model_info": {"qwen3.context_length": 40_960}}),
        "/api/ps": Answer(body={"models": []}),
    }
    async with Endpoint([says("Hi")], pages=pages) as endpoint:
        asked = await begun(endpoint)
        await until(lambda: asked.context_meter.window == 4_096)
        endpoint.pages["/api/ps"] = Answer(body={"models": [{"name": "m", "context_length": 32_768}]})
        await output_of_model(asked.model.stream(ModelRequest("", [UserMessage("hi")])))
        asked.answered(asked.model)
        await until(lambda: asked.context_meter.window == 32_768)
        before = len(endpoint.others)
        asked.answered(asked.model)
        await asked.close()
    assert len(endpoint.others) == before


async def test_prices_and_window_of_a_profile_do_not_apply_to_other_models() -> None:
    async with Endpoint() as endpoint:
        asked = await begun(
            endpoint, "context_window = 5000\nprice_in = 3.0\nprice_cached = 0.3\nprice_out = 15.0"
        )
        assert asked.profile.cost_of(Usage(1_000_000, 0)) == 3.0
        await asked.switch("ollama", "other")
        assert asked.profile.cost_of(Usage(1_000_000, 0)) is None
        assert asked.profile is not None and asked.profile.price_cached is None
        assert asked.context_meter.window is None
        await asked.switch("ollama", "m")
        assert asked.profile.cost_of(Usage(1_000_000, 0)) == 3.0
        assert asked.context_meter.window == 5_000
        await asked.close()


async def test_capabilities_that_an_endpoint_denies_are_not_tried() -> None:
    shown = {"model_info": {}, "capabilities": ["completion"], "parameters": "num_ctx 8192"}
    picture = Attachment("image", "image/png", "p.png", 5, "aGVsbG8=")
    async with Endpoint([says("Hi")], pages={"/api/show": Answer(body=shown)}) as endpoint:
        asked = await begun(endpoint)
        await until(lambda: asked.context_meter.window == 8_192)
        request = ModelRequest("", [UserMessage("hi", (picture,))], [ToolSpec("now", "", {})])
        await output_of_model(asked.model.stream(request))
        await asked.close()
    (sent,) = endpoint.requests
    assert "tools" not in sent.json and "image_url" not in json.dumps(sent.json)


TWO = """
[models.one]
model = "a"
base_url = "http://127.0.0.1:9/v1"
context_window = 5000
[models.two]
model = "b"
base_url = "http://127.0.0.1:9/v1"
context_window = 5000
"""
GONE = "x (gone) was used last in this conversation and is not available. Continuing with a."


@pytest.mark.parametrize(
    ("named", "profile", "model", "told", "label"),
    [
        (None, "two", "b", "Continuing with b, the model last used in this conversation.", "b"),
        (None, "two", "c", "Continuing with c, the model last used in this conversation.", "c"),
        (None, "one", "a", "", "a"),
        (None, "", "", "", "a"),
        (None, "gone", "x", GONE, "a"),
        ("one", "two", "b", "", "a"),
    ],
)
async def test_a_conversation_continues_with_the_model_last_used_in_it(
    named: str | None, profile: str, model: str, told: str, label: str
) -> None:
    asked = active(model=named)
    await asked.begin(load_text(TWO, Path("config.toml"), {}))
    about = SessionMeta(profile=profile, model=model)
    assert (await asked.continue_with(about), asked.label) == (told, label)
    await asked.close()


async def test_an_imported_conversation_does_not_choose_the_model() -> None:
    asked = active()
    await asked.begin(load_text(TWO, Path("config.toml"), {}))
    told = await asked.continue_with(SessionMeta(model="b", imported=True))
    assert told == ("This conversation was imported, so its model b was not selected. Continuing with a.")
    assert asked.label == "a"
    await asked.continue_with(
        SessionMeta(profile="two", model="b", imported=True)
    )  # the user selected it later
    assert asked.label == "b"
    await asked.close()


PAIR = """
[models.a]
model = "one"
base_url = "http://127.0.0.1:9/v1"
context_window = 9000
[models.b]
model = "two"
base_url = "http://127.0.0.1:9/v1"
context_window = 9000
"""


@pytest.mark.parametrize(
    ("change", "label"),
    [
        (("price_in", "price_in"), "one"),
        (('model = "one"', 'model = "three"'), "three"),
        (("[models.a]", 'default_model = "b"\n[models.a]'), "two"),
        (("[models.a]", "[models.c]"), "one"),
    ],
    ids=["nothing", "its profile", "the default", "its name"],
)
async def test_a_reloaded_configuration_replaces_a_changed_model(change: tuple[str, str], label: str) -> None:
    asked = active()
    await asked.begin(load_text(PAIR, Path("c"), {}))
    revision = asked.revision
    await asked.reload(load_text(PAIR.replace(*change), Path("c"), {}))
    assert asked.label == label
    assert (asked.revision == revision) == (change[0] == change[1])
    await asked.close()


async def test_selecting_a_refused_model_asks_for_consent_again(tmp_path: Path) -> None:
    async with Endpoint([], models=["m"]) as endpoint:
        text = f'[models.x]\nmodel = "m"\nbase_url = "{endpoint.base_url}"\napi_key_env = "KEY"\n'
        env = {"KEY": "sk-canary-5512abc"}
        loaded = replace(load_text(text, tmp_path / "c.toml", env), source="the file /tmp/c.toml")
        person = Person(Action.DECLINE, Action.DECLINE, Action.ACCEPT)
        consent = RunConsent(person, Log())
        asked = active(consent, env)
        await asked.begin(loaded)
        told: list[str] = []
        assert asked.needs_consent
        await asked.ask_for_consent(told.extend)
        assert len(told) == 1 and "needs your consent" in told[0]
        assert asked.profile is None and endpoint.connections == 0
        with pytest.raises(ConfigError, match="needs your consent"):
            await asked.switch("x")
        assert endpoint.connections == 0
        await asked.switch("x")
        assert asked.profile is not None and asked.profile.name == "x" and len(person.asked) == 3
        await asked.close()


@pytest.mark.parametrize("name", ["demo", "ollama"])
async def test_an_unknown_model_of_the_demo_is_refused_and_the_current_one_kept(name: str) -> None:
    async with Endpoint() as endpoint:
        asked = await begun(endpoint)
        await asked.switch(name)
        label = asked.label
        with pytest.raises(ConfigError, match="“nosuch” is neither a profile nor a model of this endpoint"):
            await asked.switch("demo", "nosuch")
        assert asked.label == label
        await asked.close()
