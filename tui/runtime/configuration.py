"""The configuration in force: its file, what was read from it, and what was chosen over it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tui.core.background import Tasks
from tui.core.errors import ConfigError, McptuiError, sentences
from tui.core.files import Stamp
from tui.core.language.translate import message
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, ServerState, not_configured
from tui.core.text import quoted_name
from tui.host.host import Host
from tui.runtime.options import Options
from tui.settings.config_file import ConfigFile
from tui.settings.problems import Problem
from tui.settings.save import Change, Document, server_at, set_value

if TYPE_CHECKING:
    from tui.settings.load import Loaded

Result = TypeVar("Result")
Merge = Callable[[Any], Any]
"""Returns a value for the file from the one that it has by then."""
First = Callable[[Sequence[ServerSpec]], Awaitable[None]]
"""Is called with the servers of a changed file before they are changed."""

FROM_FILE = object()
"""Chosen and saved: the value in the file applies, not that of the command line."""

UNTIL_QUIT = message("The change lasts until mcptui quits.")


@dataclass(eq=False, repr=False)
class Configuration:
    """Reads, changes and applies the configuration; nothing else in a running mcptui does.

    Operations run one after the other, each to its end: what one has read, it applies before the next one
    reads or writes. Unchanged servers keep running, an unchanged model stays. What the command line or the
    user chose over the file stays chosen.

    `loaded` is what is in force, None before the first read. `left_out` are configured servers that cannot be
    used, with all problems of each. `digests` are those of the servers' launches. `host` is replaced once.
    The screen sets `apply_ui`, which applies a theme and keys and returns their problems. `is_closing`:
    nothing is applied any more, but changes are still saved. `trusted` adds the stored trust to a server.
    `take_over` applies rules and limits, `follow_model` the models; it returns notes.
    """

    file: ConfigFile
    _options: Options
    _redactor: Redactor
    _: KW_ONLY
    host: Host
    trusted: Callable[[ServerSpec], ServerSpec]
    take_over: "Callable[[Loaded], None]"
    follow_model: "Callable[[Loaded], Awaitable[Sequence[str]]]"

    def __post_init__(self) -> None:
        self.loaded: Loaded | None = None
        self.left_out: Mapping[str, tuple[str, ...]] = {}
        self.digests: Mapping[str, str] = {}
        self.apply_ui: Callable[[str, Mapping[str, Sequence[str]]], Sequence[Problem]] = lambda *_: ()
        self.is_closing = False
        self._stamp: Stamp = None
        self._theme = self._options.theme or ""
        self._servers: Sequence[ServerSpec] = ()
        self._source = ""
        self._chosen: dict[str, dict[str, Any]] = {}
        self._lock = asyncio.Lock()
        self.running = Tasks()

    @property
    def theme(self) -> str:
        """The theme chosen over the file, or that of the file."""
        return self._theme or (self.loaded.settings.ui.theme if self.loaded is not None else "")

    @property
    def uses_samples(self) -> bool:
        """Whether the servers are the samples, because none is configured."""
        loaded, given = self.loaded, self._options.server
        return loaded is not None and loaded.readable and not loaded.names_servers and given is None

    @property
    def servers(self) -> Mapping[str, Any]:
        """The servers as they were read, each usually a table."""
        servers = self.loaded.raw.get("servers") if self.loaded is not None else None
        return servers if isinstance(servers, Mapping) else {}

    def located(self, problems: Iterable[Problem]) -> list[str]:
        """Return problems as sentences, with the name of the file and the lines of their keys."""
        loaded = self.loaded
        return [str(one if loaded is None else loaded.located(one)) for one in problems]

    async def exclusively(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run an operation after the previous ones, and to its end even if the caller is cancelled."""

        async def run() -> Result:
            async with self._lock:
                return await work()

        return await asyncio.shield(self.running.start(run(), "an operation on the configuration"))

    # ---- operations --------------------------------------------------------------------------------------

    async def read(self) -> "tuple[Loaded, Stamp]":
        """Return the file and its stamp, which is taken first, so that no later change is missed."""
        stamp = self.file.stamp()
        return await asyncio.to_thread(self.file.read), stamp

    async def reload(self) -> tuple[Sequence[str], Sequence[str]]:
        """Apply the file, unless it has new errors; return these, and notes."""

        async def run() -> tuple[Sequence[str], Sequence[str]]:
            loaded, stamp = await self.read()
            if errors := self._new_errors(loaded):
                return [str(one) for one in errors], ()
            notes = [str(one) for one in loaded.problems if one.warning]
            return (), [*notes, *await self._apply(loaded, stamp)]

        return await self.exclusively(run)

    async def change(
        self, change: Change, *, written: Callable[[], None] = lambda: None, first: First | None = None
    ) -> Sequence[str]:
        """Change the values of the file and apply it, with what others have changed in it; return notes.

        `change` modifies the parsed document, in a thread, and may return the name of a server to start.
        `written` is called after it, and `first` before the servers are changed. Raises McptuiError if the
        file could not be changed, or has new errors. It is then unchanged.
        """

        async def run() -> Sequence[str]:
            start: list[object] = []
            if self.loaded is not None and self.file.stamp() != self._stamp:
                await self._refuse_new_errors()
            await asyncio.to_thread(self.file.change, lambda document: start.append(change(document)))
            written()
            if self.loaded is None:  # as a theme that is selected while mcptui starts
                return ()
            loaded, stamp = await self.read()
            if not (loaded.readable and loaded.exists):
                raise ConfigError(message("was changed, but cannot be read."), where=str(self.file.path))
            return await self._apply(loaded, stamp, str(start[0] or ""), first)

        return await self.exclusively(run)

    async def _refuse_new_errors(self) -> None:
        """Raise ConfigError if what is in force would be replaced by something invalid."""
        loaded, _ = await self.read()
        known = self.loaded.raw if self.loaded is not None else {}
        for error in self._new_errors(loaded):
            kind, _, rest = error.path.partition(".")
            tables = known.get(kind)
            present = tables if kind in ("servers", "models") and isinstance(tables, Mapping) else None
            # A new server or model with an error is left out. It replaces nothing.
            if present is None or any(rest == name or rest.startswith(f"{name}.") for name in present):
                raise ConfigError(
                    sentences(message("The configuration has errors, so it was not changed."), str(error)),
                    next_step=message("Correct it first."),
                )

    def _new_errors(self, loaded: "Loaded") -> Sequence[Problem]:
        before = self.loaded
        if not loaded.exists and (loaded.errors or (before is not None and before.exists)):
            step = message("the previous configuration is still in use")
            return loaded.errors or [
                Problem(message("file not found"), file=str(self.file.path), suggestion=step)
            ]
        if before is None or not loaded.readable:
            return loaded.errors
        known = {(one.path, one.message) for one in before.errors}
        return [one for one in loaded.errors if (one.path, one.message) not in known]

    async def _apply(
        self, loaded: "Loaded", stamp: Stamp, start: str = "", first: First | None = None
    ) -> Sequence[str]:
        if self.is_closing:
            return []
        before = self.loaded
        specs = self.adopt(loaded, stamp)
        self.take_over(loaded)  # rules first: a server may take seconds to stop
        notes: list[str] = []
        if before is not None and _recording_settings(loaded) != _recording_settings(before):
            notes.append(message("[traffic] takes effect after a restart."))
        problems = self.apply_ui(self.theme, loaded.settings.ui.keys)
        if before is None or loaded.settings.ui != before.settings.ui:
            notes += self.located(problems)
        try:
            if first is not None:
                await first(specs)
        finally:
            await self._follow(specs, start)
        return [*notes, *await self.follow_model(loaded)]

    def adopt(self, loaded: "Loaded", stamp: Stamp) -> Sequence[ServerSpec]:
        """Put what was read in force, and return its servers, which the caller applies."""
        from tui.settings.specs import left_out, server_specs

        self.loaded, self._stamp = loaded, stamp
        self.left_out = left_out(loaded)
        self._redactor.add({**loaded.secrets, **self._options.secrets})
        rules = {name: one.secret_arguments for name, one in loaded.settings.servers.items()}
        self._redactor.arguments.set_rules(rules)
        if self._options.server is not None:
            self._servers, self._source = (self._options.server,), ""
        else:
            self._servers = server_specs(loaded, disabled=self._options.disabled_too)
            self._source = self.file.source if loaded.names_servers else ""
        specs = self._specs()
        self.digests = {spec.name: spec.digest() for spec in specs}
        return specs

    def _specs(self) -> Sequence[ServerSpec]:
        """Return the servers with what was chosen over the file: by the command line, then by the user."""
        found = []
        for spec in self._servers:
            chosen = self._chosen.get(spec.name, {})
            kept = {name: getattr(spec, name) if one is FROM_FILE else one for name, one in chosen.items()}
            found.append(self.trusted(replace(self._options.applied(spec, self._source), **kept)))
        return found

    async def _follow(self, specs: Sequence[ServerSpec], start: str) -> None:
        """Apply servers, and start the one named `start`. Unchanged servers keep running."""
        host = self.host
        present = {status.name: status for status in host.statuses()}
        wanted = {spec.name: spec for spec in specs}
        gone = [name for name in present if name not in wanted]
        waiting: list[Coroutine[Any, Any, None]] = [host.remove(name) for name in gone]
        for name in gone:
            self._chosen.pop(name, None)
        starting = {start} & wanted.keys()

        async def replace(spec: ServerSpec) -> None:
            if await host.replace(spec):  # a restart, say, while it was stopping
                starting.add(spec.name)

        for name, spec in wanted.items():
            if name not in present:
                host.add(spec)
                starting |= {name} if spec.autostart else set()
            elif present[name].spec.runs_like(spec):
                if present[name].spec != spec:
                    host.adopt(spec)
            else:
                waiting.append(replace(spec))
                before = present[name]  # it was running, or could not run with its old configuration
                if before.state in (ServerState.RUNNING, ServerState.STARTING) or (
                    spec.autostart and (before.spec.disabled or before.spec.problem or before.failed)
                ):
                    starting.add(name)
        await asyncio.gather(*waiting)
        for spec in self._specs() if waiting else ():  # something may have been chosen meanwhile
            if (status := host.find(spec.name)) is not None and status.spec != spec:
                host.adopt(spec)
        for name in () if self.is_closing else starting:
            host.request_start(name)

    # ---- what is chosen over the file --------------------------------------------------------------------

    async def choose(
        self, server: str, field: str, value: Any, *, merge: Merge | None = None, save: bool = True
    ) -> str:
        """Change a setting of a server that needs no restart: at once, then in the file.

        `merge` makes the value for the file from the one that it has by then. Without `save`, the setting
        is stored elsewhere. Returns why the choice was not saved, or "". It then lasts until mcptui quits.
        """
        if self.host.find(server) is None:
            return not_configured(server)
        self.host.reconfigure(server, **{field: value})
        chosen = self._chosen.setdefault(server, {})
        chosen[field] = value if save else FROM_FILE
        if not save:
            return ""
        if server not in self.servers:
            return sentences(
                message("The server {server} is not in the configuration file.", server=quoted_name(server)),
                UNTIL_QUIT,
            )

        def change(document: Document) -> None:
            table = server_at(document, server)
            made = value if merge is None else merge(table.get(field))
            table[field] = list(made) if isinstance(made, tuple) else made
            if made == {}:
                del table[field]

        def written() -> None:
            # Otherwise another choice is waiting, or the setting does not apply from a file of somebody else.
            if chosen.get(field) is value and (merge or self._options.trust_config or not self.file.source):
                chosen[field] = FROM_FILE

        try:
            await self.change(change, written=written)
        except McptuiError as error:
            return sentences(message("Not saved: {error}", error=error), UNTIL_QUIT)
        return ""

    async def save_theme(self, name: str) -> None:
        """Choose a theme and save it. Raises McptuiError if it could not be saved; it then stays chosen."""
        self._theme = name

        def written() -> None:
            self._theme = "" if self._theme == name else self._theme

        await self.change(lambda document: set_value(document, name, "ui", "theme"), written=written)


def _recording_settings(loaded: "Loaded") -> object:
    traffic = loaded.settings.traffic
    return (traffic.record, traffic.keep_all, traffic.recording_mb, traffic.total_mb)
