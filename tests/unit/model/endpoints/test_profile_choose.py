"""The order of precedence for choosing a model."""

from typing import Any

import pytest

from tui.core.errors import UsageError
from tui.model.endpoints.profile import ModelProfile, choose


def profile(name: str) -> ModelProfile:
    return ModelProfile(name, f"http://{name}/v1", "m", api_key_env=f"{name.upper()}_API_KEY")


MINE, OTHER, OPENAI, OLLAMA = map(profile, ["mine", "other", "openai", "ollama"])


@pytest.mark.parametrize(
    ("known", "profile", "why"),
    [
        (
            {"asked": "other", "configured": [MINE, OTHER], "default": "mine", "environment": [OPENAI]},
            OTHER,
            "command line",
        ),
        ({"configured": [MINE, OTHER], "default": "other"}, OTHER, "configuration"),
        ({"configured": [MINE], "environment": [OPENAI], "detected": [OLLAMA]}, MINE, "configuration"),
        ({"environment": [OPENAI], "detected": [OLLAMA]}, OPENAI, "OPENAI_API_KEY is set"),
        ({"detected": [OLLAMA]}, OLLAMA, "found on this machine"),
        ({"detected": []}, None, "no model configured, and none found on this machine"),
    ],
    ids=["command line", "default", "configuration", "environment", "this machine", "demo"],
)
def test_a_model_is_chosen_in_this_order(known: Any, profile: ModelProfile | None, why: str) -> None:
    chosen = choose(**known)
    assert (chosen.profile, chosen.why, chosen.needs_detection) == (profile, why, False)


@pytest.mark.parametrize("wish", [{"demo": True}, {"asked": "demo"}, {"default": "demo"}])
def test_the_demo_can_be_selected(wish: dict[str, object]) -> None:
    assert choose(configured=[MINE], environment=[OPENAI], **wish).profile is None  # type: ignore[arg-type]


def test_this_machine_is_searched_if_nothing_else_is_known_or_by_name() -> None:
    assert choose().needs_detection
    assert choose(asked="ollama").needs_detection
    assert choose(asked="ollama", detected=[OLLAMA]).profile is OLLAMA


def test_an_unknown_name_is_an_error_that_suggests_the_closest_one() -> None:
    with pytest.raises(UsageError, match="Did you mean “mine”"):
        choose(asked="mien", configured=[MINE], detected=[])
