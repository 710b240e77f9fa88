"""Which model is asked: command line, configuration, environment, this machine, demo. Pure.

The demo is chosen only where nothing else was named or found. A model that was named and does not work
is an error on the screen, never a quiet change to the demo.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from tui.core.errors import UsageError
from tui.model.endpoints.profile import ModelProfile

DEMO = "demo"
"""The name by which the demo can be asked for."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The model to ask.

    Attributes:
        profile: what to ask, or None for the demo.
        why: who decided, in words ("configuration", "OPENAI_API_KEY is set", "found on this machine").
        needs_detection: nothing was named; look on this machine, and choose again with what is found.
    """

    profile: ModelProfile | None
    why: str
    needs_detection: bool = False


def choose(
    *,
    asked: str | None = None,
    demo: bool = False,
    configured: Sequence[ModelProfile] = (),
    default: str | None = None,
    environment: Sequence[ModelProfile] = (),
    detected: Sequence[ModelProfile] | None = None,
) -> Selection:
    """Return the model to ask.

    Args:
        asked: the name given on the command line.
        demo: the demo was asked for.
        configured: profiles of the configuration, in its order.
        default: the configuration's `default_model`.
        environment: profiles that the environment gives.
        detected: what was found on this machine; None if nobody has looked yet.

    Raises:
        UsageError: a name was given that no profile has.
    """
    if demo or asked == DEMO:
        return Selection(None, "asked for")
    everything = [*configured, *environment, *(detected or ())]
    if asked is None and default == DEMO:
        return Selection(None, "configuration")
    if (wanted := asked or default) is not None:
        found = _named(wanted, everything)
        if found is None and detected is None:
            return Selection(None, "not found yet", needs_detection=True)
        return Selection(found or _unknown(wanted, everything), "command line" if asked else "configuration")
    if configured:
        return Selection(configured[0], "configuration")
    if environment:
        return Selection(environment[0], f"{environment[0].api_key_env} is set")
    if detected is None:
        return Selection(None, "nothing is configured", needs_detection=True)
    if detected:
        return Selection(detected[0], "found on this machine")
    return Selection(None, "no model is configured, and none runs on this machine")


def _named(name: str, profiles: Sequence[ModelProfile]) -> ModelProfile | None:
    return next((profile for profile in profiles if profile.name == name), None)


def _unknown(name: str, profiles: Sequence[ModelProfile]) -> ModelProfile:
    """Say that no profile has this name.

    Raises:
        UsageError: always.
    """
    names = [*(profile.name for profile in profiles), DEMO]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(names)}."
    raise UsageError(f"no model profile is named {name[:64]!r}", where="model", next_step=hint)
