"""Adds model profiles while mcptui runs: tested first, written to the file, effective at once."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ConfigError, ModelError
from tui.core.ports import Clock, ModelRequest, RetryPart
from tui.core.secrets.redact import Secret
from tui.core.text import clean_line
from tui.core.traffic import TrafficSink

if TYPE_CHECKING:
    from tui.model.endpoints.profile import ModelProfile
    from tui.runtime.configuration import Configuration

NAME_LENGTH = 40
"""Maximum characters of a proposed name."""

KEYCHAIN_SERVICE = "mcptui"
TRY_SECONDS = 60.0
"""Long, because local servers load the model first."""

ENVIRONMENT, IN_KEYCHAIN, NO_KEY = "environment", "keychain", "none"
"""The places where the key of a profile may be stored."""

CHOOSE_KEY = "Choose an API key above: an environment variable or the system keychain."


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """A provider, or a program on this machine. `name` and `base_url` are "" for any other endpoint.

    `variable` is the environment variable of its key, "" if it needs none; `is_set` says whether it is set.
    `model` is its default model, or "". `key_page` is where to get a key.
    """

    name: str
    title: str
    base_url: str = ""
    variable: str = ""
    is_set: bool = False
    model: str = ""
    key_page: str = ""


@dataclass(frozen=True, slots=True)
class ModelValues:
    """The fields of a form for a model profile.

    `key` is one of `ENVIRONMENT`, `IN_KEYCHAIN` and `NO_KEY`. `variable` is for `ENVIRONMENT`, `secret` for
    `IN_KEYCHAIN`: the key itself, which is stored in the keychain only; "" if it is already stored.
    """

    name: str
    base_url: str
    model: str
    key: str = NO_KEY
    variable: str = ""
    secret: str = ""

    def __repr__(self) -> str:
        return f"ModelValues({self.name!r}, {self.base_url!r}, {self.model!r}, {self.key!r})"


def _in_form(error: ModelError, values: ModelValues) -> ModelError:
    """Return the error with a next step that names a field of the form."""
    if error.status == 401 and (values.key == NO_KEY or (values.key == ENVIRONMENT and not values.variable)):
        error.next_step = CHOOSE_KEY
    return error


class ModelChanges:
    """Adds model profiles.

    `switch` switches to a profile. `keep_secret` gets the name and value of each key before it is used.
    """

    def __init__(
        self,
        configuration: "Configuration",
        env: Mapping[str, str],
        clock: Clock,
        sink: TrafficSink,
        keep_secret: Callable[[str, str], None],
        switch: Callable[[str], Awaitable[None]],
    ) -> None:
        self._configuration = configuration
        self._config = configuration.file
        self._env = env
        self._clock = clock
        self._sink = sink
        self._keep_secret = keep_secret
        self._switch = switch

    def providers(self) -> Sequence[ProviderChoice]:
        """Return the providers for new profiles, those with a key in the environment first."""
        from tui.model.endpoints.detect import candidates
        from tui.model.endpoints.providers import PROVIDERS

        remote = []
        for one in PROVIDERS:
            variable = next((name for name in one.keys if self._env.get(name)), one.keys[0])
            is_set = bool(self._env.get(variable))
            remote.append(
                ProviderChoice(one.name, one.title, one.base_url, variable, is_set, one.model, one.key_page)
            )
        places = {place.name: f"http://{place.host}:{place.port}/v1" for place in candidates(self._env)}
        local = [
            ProviderChoice(name, title, places[name])
            for name, title in (("ollama", "Ollama"), ("lmstudio", "LM Studio"))
            if name in places
        ]
        remote.sort(key=lambda one: not one.is_set)
        return [*remote, *local, ProviderChoice("", "Other endpoint")]

    def is_set(self, variable: str) -> bool:
        """Whether an environment variable is set and not empty."""
        return bool(self._env.get(variable))

    def free_name(self, wanted: str) -> str:
        """Return an unused name for a profile, such as "qwen3-8b" for the model "org/qwen3:8b"."""
        fitted = re.sub(r"[^\w.-]+", "-", wanted.rpartition("/")[2]).strip("-._")[:NAME_LENGTH]
        taken, base = self._config.models(), fitted or "model"
        names = (base, *(f"{base}-{number}" for number in range(2, 1000)))
        return next(name for name in names if name not in taken)

    def table(self, values: ModelValues) -> dict[str, Any]:
        """Return the profile as a table for `[models.NAME]`. Raises ConfigError if it is invalid."""
        from tui.settings.new_server import check_new

        table: dict[str, Any] = {"model": values.model.strip(), "base_url": values.base_url.strip()}
        if values.key == ENVIRONMENT and values.variable.strip():
            table["api_key_env"] = values.variable.strip()
        elif values.key == IN_KEYCHAIN:
            table["api_key"] = f"keyring:{KEYCHAIN_SERVICE}/{values.name}"
        if not table["model"]:
            raise ConfigError(
                "No model selected", next_step="Enter a model ID, or press down to list the models."
            )
        if values.name in self._config.models():
            raise ConfigError("a profile with this name already exists", where=clean_line(values.name, 64))
        check_new(values.name, table, self._config.path, self._env, kind="models")
        return table

    async def offered(self, values: ModelValues) -> Sequence[str]:
        """Return the ids of the models that the endpoint offers. Raises McptuiError on failure."""
        from tui.runtime.profiles import offered

        try:
            return await offered(await self._profile(values))
        except ModelError as error:
            raise _in_form(error, values) from None

    async def try_out(self, values: ModelValues) -> None:
        """Request a short reply from the model. Raises McptuiError if there is none."""
        from tui.runtime.profiles import import_model, make_model

        self.table(values)
        profile = await self._profile(values)
        await asyncio.to_thread(import_model, profile)
        model = make_model(profile, self._clock, self._sink)
        request = ModelRequest("", (UserMessage("Reply with the word OK."),))
        try:
            async with asyncio.timeout(TRY_SECONDS), aclosing(model.stream(request)) as parts:
                async for part in parts:
                    if isinstance(part, RetryPart):
                        raise ModelError(part.reason, where=profile.name)
                    return
        except TimeoutError:
            raise ModelError(f"no reply within {TRY_SECONDS:g} s", where=profile.name) from None
        except ModelError as error:
            raise _in_form(error, values) from None
        finally:
            await model.aclose()

    async def add(self, values: ModelValues) -> None:
        """Store the key, write the profile and switch to it. Raises McptuiError if that fails."""
        from tui.core.secrets import keychain

        table = self.table(values)
        if values.key == IN_KEYCHAIN and values.secret:
            await keychain.store(KEYCHAIN_SERVICE, values.name, values.secret.strip())
        await self._configuration.change(lambda: self._write(values.name, table))
        await self._switch(values.name)

    def _write(self, name: str, table: Mapping[str, Any]) -> None:
        from tui.runtime.servers.model_consent import agree_to_written

        self._config.add_model(name, table)
        agree_to_written(name, self._config.read(), self._env)  # the user has just entered it

    async def _profile(self, values: ModelValues) -> "ModelProfile":
        from tui.model.endpoints.profile import ModelProfile
        from tui.runtime.profiles import with_key

        variable = values.variable.strip() if values.key == ENVIRONMENT else ""
        typed = values.secret.strip() if values.key == IN_KEYCHAIN else self._env.get(variable, "")
        profile = ModelProfile(
            values.name,
            values.base_url.strip(),
            values.model.strip(),
            api_key=Secret(typed) if typed else None,
            api_key_env=variable,
            keychain=f"{KEYCHAIN_SERVICE}/{values.name}" if values.key == IN_KEYCHAIN else "",
        )
        found = await with_key(profile) or profile
        if found.api_key:
            self._keep_secret(found.key_name, found.api_key.reveal())
        return found
