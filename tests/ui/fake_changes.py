"""Changes of the configuration by the app, recorded or applied to the fake host."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from tests.ui.fake_host import FakeHost
from tui.core.errors import UsageError
from tui.model.endpoints.providers import Provider
from tui.runtime.model_changes import ModelValues
from tui.runtime.server_changes import Draft, ServerValues
from tui.settings.new_server import InvalidName, pairs


class FakeConfiguration:
    """`tui.runtime.configuration.Configuration` that changes only the fake host."""

    def __init__(self, host: FakeHost) -> None:
        self._host = host
        self.problem = ""
        self.file = SimpleNamespace(path="/home/ada/.config/mcptui/config.toml", source=None)
        self.saved_themes: list[str] = []
        self.loaded = None

    async def choose(self, server: str, field: str, value: Any) -> str:
        status = self._host.status(server)
        self._host.put(replace(status, spec=replace(status.spec, **{field: value})))
        return self.problem

    def located(self, problems: Iterable[object]) -> list[str]:
        return [f"c.toml: {one}" for one in problems]

    async def save_theme(self, name: str) -> None:
        self.saved_themes.append(name)


class FakeTrust:
    """`tui.runtime.permission.server_trust.ServerTrust` that changes only the fake host."""

    def __init__(self, host: FakeHost) -> None:
        self._host = host
        self.problem = ""

    async def toggle(self, server: str) -> str:
        status = self._host.status(server)
        trusted = status.spec.trusted is not True
        self._host.put(replace(status, spec=replace(status.spec, trusted=trusted)))
        return self.problem


class FakeChanges:
    """`tui.runtime.server_changes.ServerChanges` that records the requested changes."""

    def __init__(self, configuration: FakeConfiguration, host: FakeHost) -> None:
        self.done: list[tuple[str, str]] = []
        self.problem = ""
        self._configuration = configuration
        self._host = host

    async def toggle_tool(self, server: str, tool: str) -> str:
        present = self._host.status(server).spec.off
        off = tuple(name for name in present if name != tool)
        return await self._configuration.choose(server, "off", off if off != present else (*off, tool))

    def values(self, name: str) -> ServerValues:
        if self.problem:
            raise UsageError(self.problem)
        return ServerValues("python3 weather.py", "TOKEN=***", "stdio")

    def draft(self, name: str, typed: ServerValues, *, changes: str = "") -> Draft:
        if name == "taken":
            raise InvalidName(
                "a server named “taken” is already configured.", next_step="Choose another name."
            )
        if not typed.line.startswith(("python3", "https://")):
            raise UsageError("there is no such command on PATH.")
        pairs(typed.values.splitlines(), colon="://" in typed.line)
        notes = ("the environment variable TOKEN is not set",) if "TOKEN" in typed.values else ()
        if "npx" in typed.line:
            notes = (*notes, "args: npx can ask")
        name = name or "weather"
        return Draft(name, {}, f'[servers.{name}]\nline = "{typed.line}"\n# {typed.transport}\n', notes)

    async def add(self, draft: Draft) -> None:
        await self._do("add", draft.toml)

    async def change(self, draft: Draft) -> None:
        await self._do("change", draft.toml)

    async def toggle(self, name: str) -> tuple[bool, Sequence[str]]:
        await self._do("toggle", name)
        return True, ()

    async def remove(self, name: str) -> None:
        await self._do("remove", name)

    async def _do(self, what: str, name: str) -> None:
        if self.problem:
            raise UsageError(self.problem)
        self.done.append((what, name))


class FakeModelChanges:
    """`tui.runtime.model_changes.ModelChanges` that records the requested changes."""

    def __init__(self) -> None:
        self.done: list[tuple[str, ModelValues]] = []
        self.unset: set[str] = set()
        self.problem = ""

    def providers(self) -> Sequence[Provider]:
        big = Provider("big", "Big", "big.example/v1", "big-1", "keys.example", second_key="BIG_KEY")
        return [big, Provider("", "Other endpoint")]

    def variable_of(self, provider: Provider) -> str:
        return "BIG_KEY" if provider.name else ""

    def is_set(self, variable: str) -> bool:
        return variable == "BIG_KEY" and variable not in self.unset

    def free_name(self, wanted: str) -> str:
        return wanted or "model"

    def table(self, values: ModelValues) -> dict[str, Any]:
        if not values.model:
            raise UsageError("no model selected")
        return {}

    def check(self, values: ModelValues) -> None:
        if not values.model:
            raise UsageError("no model selected")

    async def key_place(self) -> tuple[str, str]:
        return "a file that only you can read, in ~/keys", "the package keyring is missing"

    async def profile(self, name: str) -> ModelValues:
        return ModelValues(name or "big", "https://big.example/v1", "big-1")

    async def replace_key(self, values: ModelValues) -> None:
        self.done.append(("replace", values))

    async def offered(self, values: ModelValues) -> Sequence[str]:
        return ("small-1", "big-1") if values.base_url else ()

    async def try_out(self, values: ModelValues) -> None:
        self.done.append(("try", values))
        if self.problem:
            raise UsageError(self.problem)

    async def add(self, values: ModelValues) -> None:
        self.done.append(("add", values))
