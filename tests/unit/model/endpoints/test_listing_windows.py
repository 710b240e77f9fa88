"""The context window, as different servers report it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.cases import each_case
from tests.endpoint import Answer, Endpoint
from tui.model.endpoints.listing import Ability, ability_of, known_window
from tui.model.endpoints.profile import ModelProfile

CHAT = ["completion", "tools", "vision"]


async def ability(pages: dict[str, Any], name: str = "test", **profile: Any) -> Ability:
    answers = {path: body if isinstance(body, Answer) else Answer(body=body) for path, body in pages.items()}
    async with Endpoint(pages=answers, models=["m"]) as endpoint:
        return await ability_of(replace(ModelProfile(name, endpoint.base_url, "m"), **profile))


SHOWN = {"model_info": {"qwen3.context_length": 40_960}, "capabilities": CHAT}


@pytest.mark.parametrize(
    ("pages", "expect"),
    [
        ({"/api/show": SHOWN}, Ability(4_096, True, True)),
        (
            {"/api/show": SHOWN | {"parameters": "stop x\nnum_ctx      16384\n"}},
            Ability(16_384, True, True),
        ),
        (
            {"/api/show": SHOWN, "/api/ps": {"models": [{"name": "m", "context_length": 32_768}]}},
            Ability(32_768, True, True),
        ),
        (
            {"/api/show": {"model_info": {"x.context_length": 2_048}, "capabilities": ["completion"]}},
            Ability(2_048, False, False),
        ),
        (
            {"/api/show": SHOWN, "/api/ps": {"models": [{"name": "m:latest", "context_length": 8_192}]}},
            Ability(8_192, True, True),
        ),
        (
            {"/api/show": SHOWN, "/api/ps": {"models": [{"name": "other", "context_length": 8_192}]}},
            Ability(4_096, True, True, unloaded=True),
        ),
        ({"/api/show": []}, Ability(4_096)),
        ({}, Ability()),
    ],
)
async def test_ollama_reports_the_configured_window_rather_than_the_maximum(
    pages: dict[str, Any], expect: Ability
) -> None:
    assert await ability(pages, "ollama") == expect


async def test_lm_studio_reports_the_window_of_the_loaded_model() -> None:
    entry = {
        "key": "qwen",
        "max_context_length": 40_960,
        "loaded_instances": [{"id": "m", "config": {"context_length": 8_192}}],
        "capabilities": {"vision": False, "trained_for_tool_use": True},
    }
    found = await ability({"/api/v1/models": {"models": [{"key": "other"}, entry]}}, "lmstudio")
    assert found == Ability(8_192, True, False)


async def test_an_older_lm_studio_is_queried_through_its_older_api() -> None:
    entry = {"id": "m", "type": "vlm", "max_context_length": 40_960, "loaded_context_length": 4_096}
    found = await ability({"/api/v0/models": {"data": [entry]}}, "lmstudio")
    assert found == Ability(4_096, None, True)


async def test_llama_cpp_reports_the_window_it_was_started_with() -> None:
    props = {
        "default_generation_settings": {"n_ctx": 16_384},
        "modalities": {"vision": True, "audio": False},
        "chat_template_caps": {"supports_tools": False},
    }
    found = await ability({"/props": props}, "llamacpp")
    assert found == Ability(16_384, False, True)


async def test_llama_cpp_is_recognized_by_its_name() -> None:
    models = {"data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}]}
    found = await ability({"/v1/models": models, "/props": {"default_generation_settings": {"n_ctx": 512}}})
    assert found.window == 512


async def test_vllm_reports_the_window_in_its_list_of_models() -> None:
    models = {"data": [{"id": "m", "max_model_len": 32_768, "owned_by": "vllm"}]}
    assert await ability({"/v1/models": models}) == Ability(32_768)


async def test_without_a_report_the_window_is_unknown() -> None:
    assert await ability({}) == Ability()


@each_case(
    ("model", "window"),
    [
        ("openai/gpt-5.1", 400_000),
        ("gpt-4.1-mini", 1_047_576),
        ("o4-mini", 200_000),
        ("claude-sonnet-4-5", 200_000),
        ("models/gemini-3-pro", 1_048_576),
        ("deepseek-chat", 131_072),
        ("my-own", None),
    ],
)
def test_windows_of_well_known_models_are_known(model: str, window: int | None) -> None:
    assert known_window(ModelProfile("t", "https://h.example/v1", model)) == window


async def test_an_unreachable_provider_has_the_known_window_of_its_model() -> None:
    found = await ability_of(ModelProfile("t", "https://unreachable.invalid/v1", "gpt-5.1"))
    assert found == Ability(400_000)


async def test_a_provider_that_never_reports_windows_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(profile: ModelProfile) -> None:
        raise AssertionError("it was asked")

    monkeypatch.setattr("tui.model.endpoints.listing.inquiry", fail)
    found = await ability_of(ModelProfile("t", "https://api.deepseek.com/v1", "deepseek-chat"))
    assert found == Ability(131_072)
