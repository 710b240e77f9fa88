"""The model that answers, and switching it. Also answers sampling requests of servers."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tui.core.background import Tasks
from tui.core.context.context_meter import Calibration, ContextMeter
from tui.core.context.sampling_messages import SampledReply, model_request
from tui.core.context.tool_selection import ToolSelection
from tui.core.conversation.conversation import SessionMeta
from tui.core.errors import ConfigError, McptuiError, ModelError, UsageError, reason_of, sentences
from tui.core.language.translate import message
from tui.core.ports import EFFORTS, MAX_TOOLS, ChatModel, Clock, ModelChoice, Usage
from tui.core.questions import SamplingFailed, SamplingMeter
from tui.core.secrets.redact import Redactor
from tui.core.text import clean_line, quoted_name
from tui.core.traffic import TrafficSink
from tui.model.endpoints.listing import ability_of, load_model
from tui.model.endpoints.profile import DEMO, ModelProfile
from tui.model.endpoints.providers import BLOCKED_STEP, is_local
from tui.runtime import profiles
from tui.runtime.model_keys import ModelKeys
from tui.runtime.options import ChosenModel, Options
from tui.runtime.permission.subjects import model_subject

if TYPE_CHECKING:
    from tui.runtime.configuration import Configuration
    from tui.runtime.permission.consent import RunConsent
    from tui.settings.load import Loaded


CLOSE_SECONDS = 1.0
PASTE_STEP = message("Paste the key with /key, set the variable and restart, or switch to another model.")


@dataclass(eq=False, repr=False)
class ActiveModel:
    """The model that answers. `profile` is None for the demo, or if there is no model (`error` says why).

    `needs_consent`: the model that the configuration or the user wants cannot be used because it lacks
    consent. `revision` grows when another model is selected, or more is known about it. `_redactor` gets each
    key in use. `_consent` asks about models that need consent; without it, the user is not asked.
    """

    _options: Options
    _env: Mapping[str, str]
    _clock: Clock
    _sink: TrafficSink
    _redactor: Redactor
    _consent: "RunConsent | None" = None

    def __post_init__(self) -> None:
        self.keys = ModelKeys()
        self._loaded: Loaded | None = None
        named = DEMO if self._options.demo else self._options.model
        self._chosen = ChosenModel(named) if named is not None else None
        self._choosing = asyncio.Lock()
        self._consenting: asyncio.Task[None] | None = None
        self._model: ChatModel | None = None
        self._working = Tasks()
        self._has_answered = self._unloaded = self._is_unmet = False
        self.context_meter = ContextMeter()
        self._tool_selection = ToolSelection()
        self.error: McptuiError | None = None
        self.needs_consent = False
        self.profile: ModelProfile | None = None
        self.revision = 0

    @property
    def model(self) -> ChatModel:
        if self._model is None:
            raise self.error or ModelError(message("no model selected"))
        return self._model

    @property
    def label(self) -> str:
        return self._model.label if self._model is not None else ""

    @property
    def notice(self) -> str:
        return self._model.notice if self._model is not None else ""

    @property
    def problems(self) -> Sequence[str]:
        """Why there is no model, or what is missing for it."""
        if self.error is not None:
            return [str(self.error)]
        return [sentences(lacks, PASTE_STEP)] if (lacks := self.lacks_key) else []

    @property
    def lacks_key(self) -> str:
        """A sentence about the missing API key if its environment variable is not set, otherwise ""."""
        return self.profile.lacks_key if self.profile is not None else ""

    async def begin(self, loaded: "Loaded") -> None:
        async with self._choosing:
            self._loaded = self._loaded or loaded  # a reload may have been faster
            await self._begin()

    async def _begin(self) -> None:
        try:
            profile = await self._wanted()
            await asyncio.to_thread(profiles.import_model, profile)
            self._take(profile)
        except McptuiError as error:
            self._failed(error)

    async def _wanted(self) -> "ModelProfile | None":
        """Return the profile that was chosen, or that of the configuration. Raises McptuiError."""
        chosen, known = self._chosen, self._profiles(self._ready())
        return await known.chosen(None) if chosen is None else chosen.applied(await known.chosen(chosen.name))

    @property
    def _wanted_name(self) -> str:
        return self._chosen.name if self._chosen is not None else self._ready().first_model or DEMO

    def _failed(self, error: McptuiError) -> None:
        self._is_unmet = True
        self.needs_consent = isinstance(error, ConfigError) and error.next_step == BLOCKED_STEP
        if self._model is None:
            self.error = error

    def begin_consent(self, tell: Callable[[Sequence[str]], None]) -> None:
        """Ask for consent in the background. An earlier question is withdrawn."""
        self._withdraw_consent()
        self._consenting = self._working.start(self.ask_for_consent(tell), "consent to the model")

    def _withdraw_consent(self) -> None:
        if self._consenting is not None:
            self._consenting.cancel()

    async def ask_for_consent(self, tell: Callable[[Sequence[str]], None]) -> None:
        """Ask for consent to the wanted model and use it, then `tell` its problems."""
        loaded, name = self._ready(), self._wanted_name
        try:
            consent = self._consent
            is_refused = consent is not None and consent.refused(model_subject(name, loaded, self._env))
            if not is_refused and await self._is_agreed(name):
                async with self._choosing:
                    if self.needs_consent:  # otherwise the user has switched to another model meanwhile
                        self.error = None
                        await self._begin()
        except McptuiError as error:
            self._failed(error)
        tell(self.problems)
        self.revision += 1

    async def _is_agreed(self, name: str) -> bool:
        """Ask for consent to a model that needs it; return whether the user just gave it."""
        subject = model_subject(name, self._ready(), self._env)
        try:
            return self._consent is not None and await self._consent.ask_model(subject)
        except OSError as error:
            raise ModelError(reason_of(error)) from error

    async def reload(self, loaded: "Loaded") -> Sequence[str]:
        """Apply the models of a configuration that was read again; return notes.

        If there is no model, the wanted one is tried again. Otherwise the model is replaced if its profile
        has changed, or if it was not chosen over the configuration and that now has another default. If the
        new one cannot be used, the current one stays, and the next reload tries again.
        """
        async with self._choosing:
            before, self._loaded = self._loaded, loaded
            if before is None:  # no model was needed yet
                return ()
            self._withdraw_consent()
            if self._model is None:
                await self._begin()
                return () if self.needs_consent else self.problems
            return await self._follow(before, loaded)

    async def _follow(self, before: "Loaded", loaded: "Loaded") -> Sequence[str]:
        def named(of: "Loaded", name: str) -> "ModelProfile | None":
            return next((one for one in self._profiles(of).configured() if one.name == name), None)

        name = self.profile.name if self.profile is not None else DEMO
        now, then = named(loaded, name), named(before, name)
        has_new_default = loaded.first_model != before.first_model
        if now == then and not (has_new_default or self._is_unmet):
            return ()
        if self._chosen is not None and now == then and not self._is_unmet:
            return [
                message("Still using {label}, which was selected instead of the default.", label=self.label)
            ]
        gone = (
            ""
            if now or not then
            else message("The model {name} is no longer configured.", name=quoted_name(name))
        )
        try:
            try:
                profile = await self._wanted()
            except UsageError:  # the profile that was chosen is gone
                if self._chosen is None:
                    raise
                self._chosen = None
                profile = await self._wanted()
            self._take(profile)
        except McptuiError as error:
            self._failed(error)
            return (
                []
                if self.needs_consent
                else [sentences(str(error), message("Still using {label}.", label=self.label))]
            )
        return [*([f"{gone} Using {self.label}."] if gone else ()), *self.problems]

    async def choices(self) -> Sequence[ModelChoice]:
        """All models: configured, from the environment, found on this machine, and the demo."""
        name = self.profile.name if self.profile is not None else "demo"
        learned = self._model.capabilities.facts if self._model is not None else ()
        found = await self._profiles(self._ready()).choices(self.profile)
        return [replace(one, current=True, learned=learned) if one.name == name else one for one in found]

    async def named(self, name: str, *, locked: bool = False) -> "ModelProfile | None":
        """Return the profile of a name, "" for the current one, as `Profiles.named` does."""
        if not name and self.profile is not None:
            return self.profile
        known = self._profiles(self._ready())
        profile = await known.named(name or self._wanted_name, locked=locked)
        self._redact_key(profile)
        return profile

    def profile_of(self, label: str) -> "ModelProfile | None":
        """Return the profile of a model by its label: the current or a configured one, which has prices."""
        known = [] if self._loaded is None else self._profiles(self._loaded).configured()
        current = [self.profile] if self.profile is not None else []
        return next((one for one in (*current, *known) if one.model == label), None)

    async def offered(self, name: str) -> Sequence[str]:
        """Return the ids of the models that the endpoint of a choice offers. Bounded in time. May raise."""
        return await profiles.offered(await self.named(name))

    async def switch(self, name: str, model: str = "", effort: str | None = None) -> None:
        """Switch to another profile, and optionally to a model id that its endpoint offers.

        Asks first if the profile needs consent. `effort` is a reasoning effort, "" to send none, None for the
        profile's own. Raises McptuiError if it cannot be used so; the current model then stays.
        """
        await self._is_agreed(name)
        await self._switch(name, model, effort)

    async def _switch(self, name: str, model: str, effort: str | None = None) -> None:
        async with self._choosing:
            profile = await self.named(name)
            if profile is None and model not in ("", DEMO):
                raise ConfigError(
                    message(
                        "{model} is neither a profile nor a model of this endpoint.",
                        model=quoted_name(model, 60),
                    )
                )
            if effort is not None and (profile is None or effort not in ("", *EFFORTS)):
                known = f"Levels: {', '.join(EFFORTS)}." if profile is not None else ""
                raise UsageError(message("no such reasoning effort"), where=effort[:40], next_step=known)
            # The id of the profile itself is not a choice: it follows the configuration.
            other = "" if profile is None or model == profile.model else model
            chosen = ChosenModel(name, other, effort)
            self._take(chosen.applied(profile))
            self._chosen = chosen

    async def renew_key(self) -> None:
        """Use another key that was stored in a shell since the model was selected. May raise McptuiError."""
        async with self._choosing:
            if self.profile is not None and (renewed := self.keys.renewed(self.profile)) is not None:
                self._take(await profiles.with_key(renewed))

    async def forget(self, name: str) -> None:
        """Forget what was learned about the model of a choice.

        Raises McptuiError if it does not exist, or cannot be reloaded.
        """
        current = self.profile if self.profile is not None and self.profile.name == name else None
        profile = current or await self.named(name)
        if profile is None:
            return
        known = current is not None and self._model is not None and bool(self._model.capabilities.facts)
        forgotten = await asyncio.to_thread(profiles.forget, profile)
        async with self._choosing:
            if current is not None and current is self.profile and (known or forgotten):
                self._take(current)

    async def continue_with(self, about: SessionMeta) -> str:
        """Switch to the model that a conversation last used, unless the command line names one.

        `about.profile` is "demo" for the demo, "" if unknown or imported. Returns a sentence if the active
        model changed or differs from that of the conversation, otherwise "".
        """
        profile, model = about.profile or "", about.model or ""
        if about.imported and model and not profile:
            goes_on = message("Continuing with {label}.", label=self.label) if self.label else ""
            imported = message(
                "This conversation was imported, so its model {model} was not selected.", model=model
            )
            return sentences(imported, goes_on)
        now = (self.profile.name, self.profile.model) if self.profile is not None else (DEMO, self.label)
        if not profile or self._options.model is not None or (profile, model) == now:
            return ""
        try:
            await self._switch(profile, "" if profile == DEMO else model)
        except McptuiError:
            gone = message(
                "{model} ({profile}) was used last in this conversation and is not available.",
                model=model,
                profile=profile,
            )
            goes_on = message("Continuing with {label}.", label=self.label) if self.label else ""
            return sentences(gone, goes_on)
        return message("Continuing with {label}, the model last used in this conversation.", label=self.label)

    @property
    def tool_selection(self) -> ToolSelection:
        """What selects the tools that it is offered."""
        self._tool_selection.max_tools = self._model.capabilities.max_tools if self._model else MAX_TOOLS
        return self._tool_selection

    @property
    def tool_marks(self) -> Mapping[str, str]:
        """The parts of tools that its endpoint rejects, as sentences by qualified tool name."""
        return self._model.capabilities.tool_marks if self._model is not None else {}

    @property
    def to_load(self) -> str:
        """The name of the model if its server has not loaded it yet, otherwise ""."""
        return self.label if self._unloaded else ""

    async def load(self) -> None:
        """Have the server load the model, and ask for its context window again. Bounded in time.

        Errors are ignored, because the next request to the model reports them.
        """
        profile, model = self.profile, self._model
        if profile is not None and model is not None:
            with suppress(McptuiError):
                await load_model(profile)
                self._has_answered = True  # it already reports its final window
            await self._measure(model)
            self._unloaded = False  # it was tried, whatever the result

    def answered(self, model: ChatModel) -> None:
        """Record the first reply: a local server has now loaded the model and can report its window."""
        if self._model is model and not self._has_answered:
            self._has_answered = True
            if self.profile is not None and is_local(self.profile.base_url):
                self._working.start(self._measure(model), "measuring the model")

    async def close(self) -> None:
        self._withdraw_consent()
        if self._model is not None:
            self._working.start(self._model.aclose(), "closing the model")
        await self._working.settled(CLOSE_SECONDS)
        await self._working.cancel(CLOSE_SECONDS)

    def _profiles(self, loaded: "Loaded") -> profiles.Profiles:
        return profiles.Profiles(loaded, self._env, self.keys, self._options.trust_config)

    def _ready(self) -> "Loaded":
        if self._loaded is None:
            raise ModelError(message("configuration not loaded yet"))
        return self._loaded

    def _take(self, profile: "ModelProfile | None") -> None:
        self._redact_key(profile)
        model = self.made(profile)
        self._has_answered = self._unloaded = False
        before, self._model = self._model, model
        self.profile, self.error, self.needs_consent, self._is_unmet = profile, None, False, False
        if profile is not None and self._consent is not None and self._loaded is not None:
            # Records consent by an option.
            self._consent.has(model_subject(profile.name, self._loaded, self._env))
        self.context_meter.window = profile.context_window if profile is not None else None
        self.context_meter.forget()
        self.context_meter.calibration = Calibration()
        self.revision += 1
        if before is not None:
            self._working.start(before.retire(), "retiring the model")
        self._working.start(self._get_ready(model), "preparing the model")

    def made(self, profile: "ModelProfile | None") -> ChatModel:
        """Return the model of a profile, None for the demo. Raises ConfigError."""
        return profiles.make_model(profile, self._clock, self._sink, paced=self._options.paced)

    def _redact_key(self, profile: "ModelProfile | None") -> None:
        if profile is not None and profile.api_key:
            self.keep_secret(profile.key_name, profile.api_key.reveal())

    def keep_secret(self, name: str, value: str) -> None:
        """Redact a key of an endpoint until the process ends."""
        self._redactor.add({}, {name: value})

    async def _get_ready(self, model: ChatModel) -> None:
        """Do slow imports, and ask for the context window, before the first question."""
        await model.connect()
        await self._measure(model)

    async def _measure(self, model: ChatModel) -> None:
        profile = self.profile
        if profile is None or profile.context_window is not None:
            return
        found = await ability_of(profile)
        if self._model is not model:
            return
        self._unloaded = found.unloaded
        # Skip what the model does not support according to its endpoint.
        model.restrict(tools=found.tools, images=found.images)
        if found.window and found.window != self.context_meter.window:
            self.context_meter.window = found.window
            self.revision += 1


@dataclass(slots=True)
class ModelSampler:
    """A `core.questions.Sampler` over the active model, which is chosen if that has not been done yet.

    `biller` returns a function that gets the usage of one request to that model, which the user pays for.
    """

    _active: ActiveModel
    _configuration: "Configuration"
    _biller: Callable[[], Callable[[Usage], object]]

    async def sample(
        self, params: Mapping[str, Any], *, max_tokens: int, meter: SamplingMeter
    ) -> Mapping[str, Any]:
        """Return the reply to a request. Raises SamplingFailed."""
        meter.tokens = 0
        request, names, has_tools = model_request(params, max_tokens=max_tokens)
        try:
            active, loaded = self._active, self._configuration.loaded
            if not active.label and active.error is None and loaded is not None:
                await active.begin(loaded)
            model, bill = active.model, self._biller()
            reply = SampledReply(clean_line(model.label, 80), max_tokens, has_tools, names)
            parts = model.stream(request)
            try:
                async for part in parts:
                    meter.heard()
                    if not reply.take(part):
                        break
            except ModelError as error:
                reply.tokens.failed(error)
                raise
            finally:  # also if it was cancelled
                if (usage := reply.tokens.usage(request)) is not None:
                    bill(usage)
                    meter.tokens = usage.prompt + usage.completion
                await parts.aclose()
        except McptuiError as error:
            raise SamplingFailed(error.message) from error
        return reply.result()
