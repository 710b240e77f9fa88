"""Adds model profiles, replaces their keys, and switches to a typed name, while mcptui runs.

New profiles and keys are tested first, and effective at once.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ConfigError, McptuiError, ModelError
from tui.core.language.translate import message
from tui.core.matching import likely_name
from tui.core.ports import ModelRequest, RetryPart
from tui.core.secrets.redact import Secret
from tui.core.text import clean_line, quoted_name
from tui.model.endpoints.listing import candidates
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import PROVIDERS, Provider
from tui.runtime.active_model import ActiveModel
from tui.runtime.configuration import Configuration
from tui.runtime.conversations import Conversations
from tui.runtime.model_keys import PASTE_IT, valid_key
from tui.runtime.permission.subjects import model_subject
from tui.runtime.profiles import import_model, offered
from tui.settings.names import fitted_name
from tui.settings.new_server import check_new
from tui.settings.save import add_tables
from tui.settings.state.permission.stored_consents import StoredConsents

NAME_LENGTH = 40
"""Maximum characters of a proposed name."""

TRY_SECONDS = 60.0
"""Long, because local servers load the model first."""

STORED, THIS_RUN, ENVIRONMENT, NO_KEY = "store", "run", "environment", "none"
"""Where the key of a profile is: stored by mcptui, in memory only, in an environment variable."""

PASTED = (STORED, THIS_RUN)
CHOOSE_KEY = message("Choose “store” or “this run only” above and paste the key.")
PASTE_AGAIN = message("Paste the key again.")
KEY_STEPS = (CHOOSE_KEY, PASTE_AGAIN, PASTE_IT)
"""The next steps of errors that another key may mend."""

UNNAMED = message("the new model")
"""The profile in errors while it has no name yet."""


@dataclass(frozen=True, slots=True)
class ModelValues:
    """The fields of a form for a model profile.

    `key` is one of `STORED`, `THIS_RUN`, `ENVIRONMENT` and `NO_KEY`. `variable` is for `ENVIRONMENT`,
    `secret` for the first two: the key itself, which is never written to the configuration. Unless `is_new`,
    the profile exists and only its key is replaced.
    """

    name: str
    base_url: str
    model: str
    key: str = NO_KEY
    variable: str = ""
    secret: str = field(default="", repr=False)
    is_new: bool = True


def _in_form(error: ModelError, values: ModelValues) -> ModelError:
    if error.status == 401:
        error.next_step = PASTE_AGAIN if values.key in PASTED else CHOOSE_KEY
    return error


@dataclass(slots=True)
class ModelChanges:
    """Adds model profiles, and replaces keys."""

    _configuration: Configuration
    _env: Mapping[str, str]
    _active_model: ActiveModel
    _switch: Callable[..., Awaitable[None]]

    def providers(self) -> Sequence[Provider]:
        """Return the providers for new profiles, those with a key in the environment first."""
        remote = sorted(PROVIDERS, key=lambda one: not self.is_set(self.variable_of(one)))
        places = {place.name: place.base_url for place in candidates(self._env)}
        titles = {"ollama": "Ollama", "lmstudio": "LM Studio"}
        local = [Provider(name, title, places[name]) for name, title in titles.items() if name in places]
        return [*remote, *local, Provider("", message("Other endpoint"))]

    def variable_of(self, provider: Provider) -> str:
        """Return the environment variable of a provider's key, one that is set if any is; "" for none."""
        return next(filter(self.is_set, provider.keys), (*provider.keys, "")[0])

    def is_set(self, variable: str) -> bool:
        """Whether an environment variable is set and not empty."""
        return bool(self._env.get(variable))

    def free_name(self, wanted: str) -> str:
        """Return an unused name for a profile, such as "qwen3-8b" for the model "org/qwen3:8b"."""
        base = fitted_name(wanted.rpartition("/")[2][:NAME_LENGTH]) or "model"
        taken = self._configuration.file.table("models")
        names = (base, *(f"{base}-{number}" for number in range(2, 1000)))
        return next(name for name in names if name not in taken)

    def table(self, values: ModelValues) -> dict[str, Any]:
        """Return the profile as a table for `[models.NAME]`. Raises ConfigError if it is invalid."""
        table: dict[str, Any] = {"model": values.model.strip(), "base_url": values.base_url.strip()}
        if values.key == ENVIRONMENT and values.variable.strip():
            table["api_key_env"] = values.variable.strip()
        if not table["model"]:
            raise ConfigError(
                message("No model selected"),
                next_step=message("Enter a model ID, or press down to list the models."),
            )
        if values.name in self._configuration.file.table("models"):
            raise ConfigError(
                message("a profile with this name already exists"), where=clean_line(values.name, 64)
            )
        check_new(values.name, table, self._configuration.file.path, self._env, kind="models")
        return table

    def check(self, values: ModelValues) -> None:
        """Raise ConfigError for what the user has to correct before the model is tried."""
        if values.is_new:
            self.table(values)
        if values.key in PASTED:
            valid_key(values.secret)

    async def offered(self, values: ModelValues) -> Sequence[str]:
        """Return the ids of the models that the endpoint offers. Raises McptuiError on failure."""
        try:
            return await offered(self._profile(values))
        except ModelError as error:
            raise _in_form(error, values) from None

    async def try_out(self, values: ModelValues) -> None:
        """Request a short reply from the model. Raises McptuiError if there is none."""
        profile = self._profile(values) if values.is_new else await self._with_new_key(values)
        await asyncio.to_thread(import_model, profile)
        model = self._active_model.made(profile)
        request = ModelRequest("", (UserMessage("Reply with the word OK."),))
        try:
            async with asyncio.timeout(TRY_SECONDS), aclosing(model.stream(request)) as parts:
                async for part in parts:
                    if isinstance(part, RetryPart):
                        raise ModelError(part.reason, where=profile.name)
                    return
        except TimeoutError:
            raise ModelError(
                message("no reply within {seconds:g} s", seconds=TRY_SECONDS), where=profile.name
            ) from None
        except ModelError as error:
            raise _in_form(error, values) from None
        finally:
            await model.aclose()

    async def add(self, values: ModelValues) -> None:
        """Keep the key, write the profile and switch to it. Raises McptuiError if that fails.

        The key of a profile that could not be written is not kept.
        """
        table, profile = self.table(values), self._profile(values, anyway=True)
        written = asyncio.Event()

        async def agree(_: object) -> None:
            loaded = self._configuration.loaded
            subject = None if loaded is None else model_subject(values.name, loaded, self._env)
            if subject is not None:  # the user has just entered it
                await asyncio.to_thread(StoredConsents().add, subject)

        await self._keep_key(profile, values)
        try:
            await self._configuration.change(
                lambda document: add_tables(document, "models", {values.name: table}),
                written=written.set,
                first=agree,
            )
        except McptuiError:
            if values.key in PASTED and not written.is_set():
                await self._active_model.keys.take_back(profile)
            raise
        await self._switch(values.name)

    async def key_place(self) -> tuple[str, str]:
        """Return where a key would be stored, in words, and why it is not the keychain, or ""."""
        return await self._active_model.keys.future_place()

    async def profile(self, name: str) -> ModelValues:
        """Return address and model of a profile whose key can be replaced, "" for the one in use.

        Raises McptuiError.
        """
        found = await self._existing(name)
        return ModelValues(found.name, found.base_url, found.model)

    async def replace_key(self, values: ModelValues) -> None:
        """Keep another key of a profile, and switch to the profile. Raises McptuiError if that fails."""
        await self._keep_key(await self._with_new_key(values), values)
        await self._switch(values.name, values.model)

    async def _with_new_key(self, values: ModelValues) -> ModelProfile:
        profile = await self._existing(values.name)
        key = valid_key(values.secret)
        changed = replace(profile, model=values.model, api_key=Secret(key), api_key_env="", keychain="")
        self._active_model.keep_secret(changed.key_name, key)
        return changed

    async def _existing(self, name: str) -> ModelProfile:
        if (found := await self._active_model.named(name, locked=True)) is None:
            raise ConfigError(message("the demo model needs no key"))
        return found

    async def _keep_key(self, profile: ModelProfile, values: ModelValues) -> None:
        if values.key == STORED:
            await self._active_model.keys.store(profile, values.secret)
        elif values.key == THIS_RUN:
            self._active_model.keys.use(profile, values.secret)

    def _profile(self, values: ModelValues, *, anyway: bool = False) -> ModelProfile:
        """Return the profile of a form with its key. Raises ConfigError if it is missing.

        With `anyway`, its variable may be set later.
        """
        variable = values.variable.strip() if values.key == ENVIRONMENT else ""
        if variable and not (anyway or self._env.get(variable)):
            raise ConfigError(
                message("{variable} is not set", variable=clean_line(variable, 64)), next_step=CHOOSE_KEY
            )
        key = valid_key(values.secret) if values.key in PASTED else self._env.get(variable, "")
        if key:
            self._active_model.keep_secret(
                variable or ".".join(filter(None, ("models", values.name, "api_key"))), key
            )
        return ModelProfile(
            values.name or UNNAMED,
            values.base_url.strip(),
            values.model.strip(),
            api_key=Secret(key) if key else None,
            api_key_env=variable,
        )


_EFFORT = re.compile(r"(.*?)\beffort[ =]\s*(\w+)")


async def switch_model(conversations: Conversations, rest: str) -> str:
    """Switch to a profile, to a profile and a model id, or to a model id of the current profile.

    `effort LEVEL` at the end, or alone, sets the reasoning effort. Returns a warning, or "": an id that an
    endpoint does not list may still be valid. Raises `McptuiError`.
    """
    choices = await conversations.active_model.choices()
    current = next((one for one in choices if one.current), None)
    if (found := _EFFORT.fullmatch(rest)) is not None:
        name, _, model = found[1].strip().partition(" ")
        if not name and current is not None:
            name, model = current.name, current.model
        await conversations.switch(name, model, "" if found[2] == "default" else found[2])
        return ""
    name, _, model = rest.partition(" ")
    model, odd = model.strip(), message("The endpoint does not list this model.")
    if all(one.name != name for one in choices):
        near = likely_name(name, (one.name for one in choices))
        if near or model or current is None:
            known = ", ".join(clean_line(one.name, 40) for one in choices[:8])
            raise McptuiError(
                message("model not found"),
                where=clean_line(name, 60),
                next_step=f"{f'Did you mean {quoted_name(near)}? ' if near else ''}Available: {known}.",
            )
        odd = message("{name} is neither a profile nor a listed model.", name=quoted_name(name, 60))
        name, model = current.name, name
    await conversations.switch(name, model)
    try:
        ids = await conversations.active_model.offered(name) if model else ()
    except McptuiError:
        ids = ()
    if not ids or model in ids:
        return ""
    near = likely_name(model, ids)
    return f"{odd}{f' Did you mean {quoted_name(near, 60)}?' if near else ''}"
