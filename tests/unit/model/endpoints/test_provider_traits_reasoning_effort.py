"""Reasoning effort in the field that each provider takes."""

from typing import Any

import pytest

from tui.core.ports import EFFORTS
from tui.model.endpoints.provider_traits import EffortField, effort_fields, nearest, traits_of


@pytest.mark.parametrize(
    ("base_url", "model", "effort", "fields"),
    [
        ("https://api.openai.com/v1", "gpt-5.1", "high", {"reasoning_effort": "high"}),
        ("http://127.0.0.1:11434/v1", "gpt-oss", "low", {"reasoning_effort": "low"}),
        ("https://api.groq.com/openai/v1", "openai/gpt-oss-120b", "low", {"reasoning_effort": "low"}),
        ("https://generativelanguage.googleapis.com", "gemini-3", "none", {"reasoning_effort": "none"}),
        ("https://openrouter.ai/api/v1", "anthropic/claude", "high", {"reasoning": {"effort": "high"}}),
        (
            "https://api.anthropic.com/v1",
            "claude-sonnet-4-5",
            "low",
            {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        ),
        ("https://api.anthropic.com/v1", "claude", "none", {"thinking": {"type": "disabled"}}),
        (
            "https://api.deepseek.com/v1",
            "deepseek-v4",
            "medium",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
        ),
        ("https://api.deepseek.com/v1", "deepseek-v4", "none", {"thinking": {"type": "disabled"}}),
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
