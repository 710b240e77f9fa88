"""Creates models from settings and environment: the available profiles, and the model of a profile."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from tui.core import units
from tui.core.addons import brought
from tui.core.errors import ConfigError
from tui.core.language.translate import message
from tui.core.library_imports import importing
from tui.core.ports import ChatModel, Clock, ModelChoice
from tui.core.secrets.keychain import key_in_keychain
from tui.core.secrets.redact import Secret
from tui.core.text import quoted_name
from tui.core.traffic import TrafficSink
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.listing import candidates, detect, known_window, offered_by
from tui.model.endpoints.profile import DEMO, ModelProfile, choose
from tui.model.endpoints.providers import (
    bare_url,
    endpoint_key,
    enter_key,
    from_environment,
    provider_of,
    usable_key,
)
from tui.runtime.model_keys import ModelKeys
from tui.runtime.permission.consent import blocked
from tui.settings.learned_file import LearnedEntry, LearnedFile
from tui.settings.references import KEYCHAIN

if TYPE_CHECKING:
    from tui.settings.load import Loaded


@dataclass(frozen=True, slots=True)
class Profiles:
    """The profiles of a configuration, of the environment, and of this machine.

    `keys` are those that the user entered; by default, only the stored ones. With `trust`, the command line
    has given consent. Otherwise, profiles that need consent are blocked, and have no secrets.
    """

    loaded: "Loaded"
    env: Mapping[str, str]
    keys: ModelKeys = field(default_factory=ModelKeys)
    trust: bool = False

    def configured(self) -> list[ModelProfile]:
        """Return the profiles of the configuration. A key in the keychain is not read, see `with_key`."""
        return [self.keys.applied(self._configured(name)) for name in self.loaded.settings.models]

    def _configured(self, name: str) -> ModelProfile:
        """Return the profile of `[models.NAME]`.

        Its key comes from the profile itself, the variable that it names, or the variable of the provider at
        its URL, in that order. A provider's key never goes to another host.
        """
        from tui.settings.specs import values_for

        settings, env = self.loaded.settings.models[name], self.env
        if why := blocked(name, self.loaded, env, trust=self.trust):
            references = self.loaded.references_of("models", name)
            address = references["base_url"].text if "base_url" in references else settings.base_url
            model = references["model"].text if "model" in references else settings.model
            return ModelProfile(name, address, model, blocked=why)
        variable = settings.api_key_env or ""
        keychain = ""
        key = settings.api_key or env.get(variable, "")
        if key.startswith(KEYCHAIN):
            keychain, key = key.removeprefix(KEYCHAIN), ""
        provider = provider_of(settings.base_url)
        if not (key or keychain or variable) and provider is not None:
            variable = next((name for name in provider.keys if env.get(name)), provider.keys[0])
            key = env.get(variable, "")
        given = values_for(ModelProfile, settings) | {
            "api_key": Secret(key) if key else None,
            "api_key_env": variable,
            "keychain": keychain,
            "effort": settings.reasoning_effort or "",
            "writes_titles": settings.titles == "model",
        }
        return ModelProfile(name, **given)

    async def all(self) -> list[ModelProfile]:
        """Return all profiles. If several have the same name, the first one is used."""
        others = [*from_environment(self.env), *await detect(candidates(self.env))]
        found = [*self.configured(), *map(self.keys.applied, others)]
        return list({profile.name: profile for profile in reversed(found)}.values())[::-1]

    async def named(self, name: str, *, locked: bool = False) -> ModelProfile | None:
        """Return the profile of a name with its key, from the keychain too unless `locked`; None is the demo.

        Raises UsageError if there is none of that name, ConfigError if the keychain cannot be read.
        """
        profile = choose(name, await self.all())
        return profile if locked else await with_key(profile)

    async def chosen(self, asked: str | None) -> ModelProfile | None:
        """Return the profile to use, None for the demo. Search this machine only if no other was named.

        Raises UsageError if `asked` does not exist, ConfigError if models are configured and none of them can
        be used, or the file or the keychain cannot be read.
        """
        from tui.settings.specs import left_out

        loaded, settings = self.loaded, self.loaded.settings
        if not (loaded.readable or asked):
            raise ConfigError(
                message("no model: the configuration cannot be read"),
                next_step=message("Use the demo model with `mcptui --demo`."),
            )
        if loaded.raw.get("models") and not settings.models and not asked:
            raise ConfigError(
                message("no configured model is usable"),
                where="[models]",
                next_step=message("See `mcptui config check`, or use the demo model with `mcptui --demo`."),
            )
        wanted = asked or settings.default_model or ""
        if problems := left_out(loaded, "models").get(wanted):
            raise ConfigError(
                message(
                    "the model profile {wanted} cannot be used: {problems}",
                    wanted=quoted_name(wanted),
                    problems=problems[0],
                )
            )
        known = [*self.configured(), *map(self.keys.applied, from_environment(self.env))]
        if wanted != DEMO and not any(not wanted or one.name == wanted for one in known):
            known += map(self.keys.applied, await detect(candidates(self.env)))
        return await with_key(choose(wanted, known))

    async def choices(self, current: ModelProfile | None = None) -> list[ModelChoice]:
        """Return the selectable models, with `current` as the active one. The demo is last."""
        found = await self.all()
        if current is not None:
            found = [current if one.name == current.name else one for one in found]
        learned = await asyncio.to_thread(LearnedFile().entries)
        return [
            *(_choice(profile, learned) for profile in found),
            ModelChoice(DEMO, DEMO, "offline", message("built in")),
        ]


def _choice(profile: ModelProfile, learned: Sequence[LearnedEntry]) -> ModelChoice:
    from tui.model.dialects.text_tools import FALLBACK

    written = profile.tool_protocol not in ("auto", "native")
    facts: list[str] = []
    if written:
        facts.append(message("text protocol {protocol}", protocol=profile.tool_protocol))
    facts += [f"effort {profile.effort}"] if profile.effort else []
    endpoint = problem = ""
    try:
        endpoint = endpoint_key(profile)
        usable_key(profile)
    except ConfigError as error:
        problem = error.message
    found = (one.learned for one in learned if (one.endpoint, one.model) == (endpoint, profile.model))
    known = Learned.from_json(next(found, {}))
    if known.no_tools and profile.tool_protocol == "auto":
        facts.append(message("text protocol {name}", name=FALLBACK.name))
    prices = (profile.price_in, profile.price_out)
    shown = " / ".join(units.money(one or 0.0, profile.currency) for one in prices)
    return ModelChoice(
        profile.name,
        profile.model,
        bare_url(profile.base_url),
        message("found on this machine") if profile.source == "detected" else profile.source,
        profile.context_window or known_window(profile),
        tuple(facts),
        problem=problem,
        learned=known.facts,
        price="" if prices == (None, None) else shown,
    )


async def with_key(profile: ModelProfile | None) -> ModelProfile | None:
    """Return a profile with its key from the system's keychain, if it is stored there.

    Raises ConfigError if it cannot be read, or holds no such key.
    """
    if profile is None or not profile.keychain or profile.api_key:
        return profile
    missing = message("Enter it again: {profile}.", profile=enter_key(profile)) if profile.key_place else ""
    key = await key_in_keychain(profile.keychain, where=profile.name, missing=missing)
    return replace(profile, api_key=key)


def import_model(profile: ModelProfile | None) -> None:
    """Import what `make_model` imports: a tenth of a second the first time, so call it off the event loop."""
    with importing():
        if profile is None:
            brought("model", DEMO)
            return
        for name in ("dialects.text_tools", "openai_api.openai_chat"):
            import_module(f"tui.model.{name}")


def make_model(
    profile: ModelProfile | None, clock: Clock, sink: TrafficSink, *, paced: bool = True
) -> ChatModel:
    """Return the model of a profile (None: the demo, `paced` for a screen). No library is imported yet.

    What was learned about its endpoint is read from a small file. Raises ConfigError.
    """
    if profile is None:
        demo: ChatModel = brought("model", DEMO)(paced=paced)
        return demo
    from tui.model.dialects.text_tools import wrap
    from tui.model.openai_api.openai_chat import OpenAIChat

    file, place = LearnedFile(), (endpoint_key(profile), profile.model)
    chat = OpenAIChat(profile, sink, file.load(*place), partial(file.save, *place))
    return wrap(chat, profile.tool_protocol, clock, where=profile.name, no_tools=chat.learned.no_tools)


def forget(profile: ModelProfile) -> bool:
    """Forget what was learned about the model of a profile; return whether there was anything.

    Raises ConfigError if its address is unusable.
    """
    file, endpoint = LearnedFile(), endpoint_key(profile)
    known = bool(file.load(endpoint, profile.model))
    if known:
        file.save(endpoint, profile.model, {})
    return known


async def offered(profile: ModelProfile | None) -> Sequence[str]:
    """Return the ids of the chat models that the endpoint of a profile offers. Bounded in time.

    Raises ConfigError or ModelError if it cannot be reached or does not list models.
    """
    if profile is None:
        return (DEMO,)
    return [one.id for one in await offered_by(profile) if one.chat]
