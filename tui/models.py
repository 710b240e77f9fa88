"""From settings and environment to the model that is asked: the composition of the model room."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tui.core.choices import ModelChoice
from tui.core.errors import ConfigError
from tui.core.ports import ChatModel, Clock
from tui.core.redact import Secret
from tui.core.traffic import TrafficSink
from tui.model.choose import DEMO, Selection, choose
from tui.model.profile import ModelProfile
from tui.model.providers import from_environment, provider_of
from tui.options import Options

if TYPE_CHECKING:
    from tui.settings.load import Loaded
    from tui.settings.schema import ModelSettings


def profile_of(name: str, settings: "ModelSettings", env: Mapping[str, str]) -> ModelProfile:
    """Return the profile of `[models.NAME]`.

    Its key is what it says itself, else what the variable it names holds, else what the variable of the
    provider that its address belongs to holds. A provider's key never goes to another host.
    """
    variable = settings.api_key_env or ""
    key = settings.api_key or env.get(variable, "")
    provider = provider_of(settings.base_url)
    if not key and not variable and provider is not None:
        variable = next((name for name in provider.keys if env.get(name)), provider.keys[0])
        key = env.get(variable, "")
    return ModelProfile(
        name=name,
        base_url=settings.base_url,
        model=settings.model,
        api_key=Secret(key) if key else None,
        api_key_env=variable,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        tool_protocol=settings.tool_protocol,
        headers=dict(settings.headers),
        context_window=settings.context_window,
        first_token_seconds=settings.first_token_seconds,
        between_chunks_seconds=settings.between_chunks_seconds,
    )


async def choose_model(options: Options, loaded: "Loaded", env: Mapping[str, str]) -> Selection:
    """Return the model to ask; look for one on this machine only if nothing else was named.

    Raises:
        UsageError: the command line or `default_model` names a profile that does not exist.
        ConfigError: models are configured, and none of them can be used; or nobody can tell, because
            the file cannot be read.
    """
    settings = loaded.settings
    if not (loaded.readable or options.demo or options.model):
        raise ConfigError(
            "no model is chosen while the configuration cannot be read",
            next_step="`mcptui --demo` uses the demo model meanwhile.",
        )
    if loaded.raw.get("models") and not settings.models and not (options.demo or options.model):
        raise ConfigError(
            "none of the configured models can be used",
            where="[models]",
            next_step="`mcptui config check` says why; `mcptui --demo` uses the demo model meanwhile.",
        )
    configured = [profile_of(name, model, env) for name, model in settings.models.items()]
    environment = from_environment(env)

    def chosen(detected: list[ModelProfile] | None) -> Selection:
        return choose(
            asked=options.model,
            demo=options.demo,
            configured=configured,
            default=settings.default_model,
            environment=environment,
            detected=detected,
        )

    selection = chosen(None)
    if selection.needs_detection:
        from tui.model.detect import candidates, detect

        selection = chosen(await detect(candidates(env)))
    return selection


def make_model(profile: ModelProfile | None, clock: Clock, sink: TrafficSink) -> ChatModel:
    """Return the model of a profile (None: the demo), ready to be asked; nothing is imported or opened yet.

    `sink` is told of what travels to and from its endpoint.

    Raises:
        ConfigError: the profile's address, key or protocol cannot be used.
    """
    if profile is None:
        from tui.model.demo import DemoModel

        return DemoModel()
    from tui.model.dialects import wrap
    from tui.model.openai_chat import OpenAIChat
    from tui.model.retry import Retrying

    return wrap(Retrying(OpenAIChat(profile, sink), clock), profile.tool_protocol, where=profile.name)


async def profiles(loaded: "Loaded", env: Mapping[str, str]) -> list[ModelProfile]:
    """Return every profile that can be asked: configured, of the environment, found on this machine."""
    from tui.model.detect import candidates, detect

    configured = [profile_of(name, model, env) for name, model in loaded.settings.models.items()]
    found = [*configured, *from_environment(env), *await detect(candidates(env))]
    return list({profile.name: profile for profile in reversed(found)}.values())[::-1]


async def choices(loaded: "Loaded", env: Mapping[str, str]) -> list[ModelChoice]:
    """Return what a person can choose from; the demo is the last."""
    found = [
        ModelChoice(one.name, one.model, one.base_url, one.source, one.context_window)
        for one in await profiles(loaded, env)
    ]
    return [*found, ModelChoice(DEMO, DEMO, "offline", "built in")]


async def profile_named(name: str, loaded: "Loaded", env: Mapping[str, str]) -> ModelProfile | None:
    """Return the profile of a name; None is the demo.

    Raises:
        UsageError: there is none of that name.
    """
    return choose(asked=name, configured=await profiles(loaded, env), detected=[]).profile


async def offered(name: str, loaded: "Loaded", env: Mapping[str, str]) -> Sequence[str]:
    """Return the ids of the models that the endpoint of a profile offers."""
    profile = await profile_named(name, loaded, env)
    return (profile.model,) if profile is not None else (DEMO,)


async def window_of(profile: ModelProfile) -> int | None:
    """Return how many tokens fit into a request to this model, or None if nobody says."""
    return profile.context_window
