"""What is known about providers before the first request."""

from typing import Any

import pytest

from tests.cases import each_case
from tui.core.ports import EFFORTS
from tui.core.schemas.schema_forms import SchemaForm
from tui.model.endpoints.provider_traits import (
    TABLE,
    CallIds,
    Echo,
    EffortField,
    Traits,
    effort_fields,
    nearest,
    traits_of,
)

ELSEWHERE = "https://openrouter.ai/api/v1"


def test_an_unknown_model_gets_a_plain_request() -> None:
    assert traits_of("http://localhost:8000/v1", "my-own") == Traits()


@each_case(
    ("url", "model", "expect"),
    [
        (ELSEWHERE, "moonshotai/kimi-k2", {"schema": SchemaForm.KIMI, "reasoning": Echo.ALWAYS}),
        (ELSEWHERE, "moonshotai/Kimi-K2.5", {"schema": SchemaForm.KIMI, "reasoning": Echo.FILLED}),
        ("https://api.kimi.com/coding/v1", "k2p5", {"schema": SchemaForm.KIMI, "reasoning": Echo.FILLED}),
        ("https://api.moonshot.cn/v1", "whatever", {"schema": SchemaForm.KIMI}),
        (ELSEWHERE, "google/gemini-3-flash", {"schema": SchemaForm.GEMINI, "images": True}),
        (ELSEWHERE, "anthropic/claude-sonnet-4.5", {"plain_keys": True, "images": True}),
        (
            "https://api.mistral.ai/v1",
            "labs-x",
            {"call_ids": CallIds.NINE, "user_after_tool": False, "refuses": frozenset({"stream_options"})},
        ),
        ("https://api.deepseek.com/v1", "deepseek-chat", {"reasoning": Echo.TURN, "images": False}),
        ("https://api.deepseek.com/v1", "deepseek-v4-flash", {"reasoning": Echo.FILLED}),
        ("https://api.groq.com/openai/v1", "moonshotai/kimi-k2", {"reasoning": Echo.NEVER}),
        ("https://api.openai.com/v1", "o4-mini", {"max_tokens_name": "max_completion_tokens"}),
        (ELSEWHERE, "openai/o3", {"refuses": frozenset({"stop"}), "max_tokens_name": "max_tokens"}),
        ("http://localhost:11434/v1", "gpt-oss:20b", {"images": False, "refuses": frozenset()}),
    ],
)
def test_a_known_model_gets_the_request_that_it_requires(
    url: str, model: str, expect: dict[str, object]
) -> None:
    found = traits_of(url, model)
    assert {name: getattr(found, name) for name in expect} == expect


def test_a_host_that_only_looks_like_a_provider_is_not_one() -> None:
    assert traits_of("https://mistral.ai.evil.example/v1", "m") == Traits()


@each_case("row", TABLE)
def test_each_row_has_a_condition_and_valid_traits(row: tuple[tuple[str, ...], str, dict[str, Any]]) -> None:
    hosts, model, traits = row
    assert hosts or model
    assert traits and set(traits) <= set(Traits.__dataclass_fields__)


@each_case(
    ("base_url", "model", "effort", "fields"),
    [
        ("https://api.openai.com/v1", "gpt-5.1", "high", {"reasoning_effort": "high"}),
        ("http://127.0.0.1:11434/v1", "gpt-oss", "low", {"reasoning_effort": "low"}),
        ("https://generativelanguage.googleapis.com", "gemini-3", "none", {"reasoning_effort": "none"}),
        ("https://openrouter.ai/api/v1", "anthropic/claude", "high", {"reasoning": {"effort": "high"}}),
        (
            "https://api.anthropic.com/v1",
            "claude-sonnet-4-5",
            "low",
            {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        ),
        (
            "https://api.deepseek.com/v1",
            "deepseek-v4",
            "medium",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
        ),
        ("https://api.z.ai/api/paas/v4", "glm-5", "high", {"thinking": {"type": "enabled"}}),
        ("https://api.moonshot.ai/v1", "kimi-k2.6", "none", {"thinking": {"type": "disabled"}}),
        ("https://api.moonshot.ai/v1", "kimi-k3", "xhigh", {"reasoning_effort": "high"}),
        (
            "https://dashscope.aliyuncs.com/compatible-mode/v1",
            "qwen3-max",
            "medium",
            {"enable_thinking": True, "thinking_budget": 8192},
        ),
        ("https://dashscope.aliyuncs.com/v1", "qwen-plus", "none", {"enable_thinking": False}),
    ],
)
def test_reasoning_effort_is_sent_in_the_field_of_each_provider(
    base_url: str, model: str, effort: str, fields: dict[str, Any]
) -> None:
    traits = traits_of(base_url, model)
    assert effort_fields(effort, traits.effort, taken=traits.efforts) == fields


@pytest.mark.parametrize("field", EffortField)
@pytest.mark.parametrize("effort", EFFORTS)
def test_every_level_can_be_sent_to_every_provider(effort: str, field: EffortField) -> None:
    assert effort_fields(effort, field)


def test_a_thinking_budget_is_lower_than_the_maximum_reply() -> None:
    sent = effort_fields("max", EffortField.BUDGET, max_tokens=8_000)
    assert sent["thinking"]["budget_tokens"] == 4_000
    assert effort_fields("max", EffortField.BUDGET, max_tokens=1_500) == {}


def test_an_unsupported_level_becomes_the_nearest_supported_one() -> None:
    assert nearest("minimal", ("low", "medium", "high")) == "low"
    assert nearest("max", ("low", "high")) == "high"
    assert nearest("medium", ("medium", "high")) == "medium"
    assert nearest("high", ()) == "high"
