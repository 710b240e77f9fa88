"""The order of precedence for choosing a model."""

import pytest

from tui.core.errors import UsageError
from tui.model.endpoints.profile import ModelProfile, choose


def profile(name: str) -> ModelProfile:
    return ModelProfile(name, f"http://{name}/v1", "m", api_key_env=f"{name.upper()}_API_KEY")


MINE, OTHER, OPENAI, OLLAMA = map(profile, ["mine", "other", "openai", "ollama"])


def test_the_command_line_takes_precedence() -> None:
    chosen = choose(asked="other", configured=[MINE, OTHER], default="mine", environment=[OPENAI])
    assert (chosen.profile, chosen.why) == (OTHER, "command line")


def test_a_default_takes_precedence_over_the_order_in_the_file() -> None:
    assert choose(configured=[MINE, OTHER], default="other").profile is OTHER


def test_the_configuration_takes_precedence_over_the_environment() -> None:
    assert choose(configured=[MINE], environment=[OPENAI], detected=[OLLAMA]).profile is MINE


def test_the_environment_takes_precedence_over_models_on_this_machine() -> None:
    chosen = choose(environment=[OPENAI], detected=[OLLAMA])
    assert (chosen.profile, chosen.why) == (OPENAI, "OPENAI_API_KEY is set")


def test_models_on_this_machine_take_precedence_over_the_demo() -> None:
    assert choose(detected=[OLLAMA]).profile is OLLAMA


def test_this_machine_is_searched_only_if_nothing_was_named() -> None:
    assert choose().needs_detection
    assert not choose(configured=[MINE]).needs_detection


def test_the_demo_is_the_last_choice() -> None:
    chosen = choose(detected=[])
    assert chosen.profile is None and not chosen.needs_detection


@pytest.mark.parametrize("wish", [{"demo": True}, {"asked": "demo"}, {"default": "demo"}])
def test_the_demo_can_be_selected(wish: dict[str, object]) -> None:
    assert choose(configured=[MINE], environment=[OPENAI], **wish).profile is None  # type: ignore[arg-type]


def test_a_local_provider_requested_by_name_needs_detection() -> None:
    assert choose(asked="ollama").needs_detection
    assert choose(asked="ollama", detected=[OLLAMA]).profile is OLLAMA


def test_an_unknown_name_is_an_error_that_suggests_the_closest_one() -> None:
    with pytest.raises(UsageError, match="Did you mean “mine”"):
        choose(asked="mien", configured=[MINE], detected=[])
