"""The order of precedence for choosing a model."""

import pytest

from tui.core.errors import UsageError
from tui.model.endpoints.profile import ModelProfile, choose


def profile(name: str) -> ModelProfile:
    return ModelProfile(name, f"http://{name}/v1", "m", api_key_env=f"{name.upper()}_API_KEY")


MINE, OTHER, OPENAI, OLLAMA = map(profile, ["mine", "other", "openai", "ollama"])


@pytest.mark.parametrize(
    ("wanted", "profiles", "expect"),
    [
        ("other", [MINE, OTHER, OPENAI], OTHER),
        (None, [MINE, OPENAI, OLLAMA], MINE),
        (None, [], None),
        ("demo", [MINE], None),
    ],
)
def test_the_wanted_model_is_chosen_else_the_first_else_the_demo(
    wanted: str | None, profiles: list[ModelProfile], expect: ModelProfile | None
) -> None:
    assert choose(wanted, profiles) is expect


def test_an_unknown_name_is_an_error_that_suggests_the_closest_one() -> None:
    with pytest.raises(UsageError, match="Did you mean “mine”"):
        choose("mien", [MINE])
