"""What is known about providers before the first request."""

import pytest

from tui.core.schemas.schema_forms import SchemaForm
from tui.model.endpoints.provider_traits import TABLE, CallIds, Echo, Row, Traits, traits_of

ELSEWHERE = "https://openrouter.ai/api/v1"


def test_an_unknown_model_gets_a_plain_request() -> None:
    assert traits_of("http://localhost:8000/v1", "my-own") == Traits()


@pytest.mark.parametrize(
    ("url", "model", "expect"),
    [
        (ELSEWHERE, "moonshotai/kimi-k2", {"schema": SchemaForm.KIMI, "reasoning": Echo.ALWAYS}),
        (ELSEWHERE, "moonshotai/Kimi-K2.5", {"schema": SchemaForm.KIMI, "reasoning": Echo.FILLED}),
        (ELSEWHERE, "kimi-k2-250905", {"reasoning": Echo.ALWAYS}),
        ("https://api.kimi.com/coding/v1", "k2p5", {"schema": SchemaForm.KIMI, "reasoning": Echo.FILLED}),
        ("https://api.moonshot.cn/v1", "whatever", {"schema": SchemaForm.KIMI}),
        (ELSEWHERE, "google/gemini-3-flash", {"schema": SchemaForm.GEMINI, "images": True}),
        (ELSEWHERE, "anthropic/claude-sonnet-4.5", {"plain_keys": True, "images": True}),
        (ELSEWHERE, "mistralai/mistral-large", {"call_ids": CallIds.NINE, "refuses": frozenset()}),
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


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.host or row.model)
def test_each_row_has_a_condition_and_valid_traits(row: Row) -> None:
    assert row.host or row.model
    assert row.traits and set(row.traits) <= set(Traits.__dataclass_fields__)
