"""Examines one server of a configuration, or all at once, for the command and the screen."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from tui.addons.doctor.examination import Examination, Reword, disabled, unusable
from tui.addons.doctor.steps import Checklist, Step, cleaned
from tui.addons.doctor.wire import Observed
from tui.core.errors import UsageError
from tui.core.questions import Questioner
from tui.core.text import clean_line, quoted_name
from tui.core.traffic import Captured
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.problems import hinted

NO_FAULTS = Step("faults", "left out: the check is of the server itself")
"""Said of a server whose configuration has `faults`."""

Also = Callable[[Checklist], Iterable[Step]]
"""Returns more steps for a server that has been examined."""


class Follower(Protocol):
    """Is told of each server when its examination begins and ends, and of each step by name and when done."""

    def begun(self, found: Checklist) -> None: ...

    def told(self, server: str, step: Step | str) -> None: ...

    def ended(self, found: Checklist) -> None: ...


def doctor_options(options: Options) -> Options:
    """Return the options of an examination: definitions that changed are no fault, and nothing is kept."""
    return replace(options, command="doctor", save=False, accept_all=True, project=False, session=None)


async def kill_servers(runtime: Runtime) -> None:
    """End the servers of an interrupted examination without waiting for them to exit."""
    stopping = asyncio.ensure_future(runtime.host.shutdown())
    await asyncio.sleep(0)
    await runtime.host.shutdown()  # the second one kills
    await stopping


async def examine_in_app(app: Runtime, name: str, follower: Follower) -> Runtime:
    """Examine a server with a runtime of its own, which is shut down; that of the `app` is only read."""
    runtime = Runtime(doctor_options(app.options), os.environ)
    runtime.questioner = app.questioner
    try:
        await Examinations(runtime, follower, one_by_one=True, beside=app).run(name)
    except asyncio.CancelledError:
        await kill_servers(runtime)
        raise
    finally:
        await runtime.shutdown()
    return runtime


class Examinations:
    """The examinations of servers of a runtime that is not ready yet.

    They run at the same time, or `one_by_one`. `seconds` is how long a start may take, None for what is
    configured. `folder` is where local servers without `cwd` start, None for an empty one each, and with
    `ignores_cwd` all of them. What a step says is changed by `reword`. `beside` is the runtime of the app, in
    which a server may already run.
    """

    def __init__(
        self,
        runtime: Runtime,
        follower: Follower,
        *,
        one_by_one: bool,
        seconds: float | None = None,
        also: Also = lambda one: (),
        folder: str | None = None,
        ignores_cwd: bool = False,
        reword: Reword = lambda name, step: step,
        beside: Runtime | None = None,
    ) -> None:
        self._runtime, self._follower, self._also = runtime, follower, also
        self._one_by_one, self._seconds = one_by_one, seconds
        self._folder, self._ignores_cwd = folder, ignores_cwd
        self._reword, self._beside = reword, beside
        self._seen: dict[str, Observed] = {}
        self._with_faults: set[str] = set()

    async def run(self, named: str | None) -> Sequence[Checklist]:
        """Examine a server, or all. Raises McptuiError."""
        runtime = self._runtime
        await runtime.ready(start=False, model=False, taps=False, session=False)
        host = runtime.host
        if host.sign_ins is not None:
            host.sign_ins.questioner = Questioner()  # never signs in
        names = [status.name for status in host.statuses()]
        chosen = [*names, *runtime.configuration.left_out]
        if named is not None:
            chosen = [self._known(named, chosen)]
        elif not chosen:
            runtime.require_usable()
        for name in set(chosen) & set(names) if self._seconds else ():
            host.reconfigure(name, start_seconds=self._seconds)
        for name in set(chosen) & set(names) if self._folder else ():
            spec = host.status(name).spec
            if spec.url is None and (spec.cwd is None or self._ignores_cwd):
                host.reconfigure(name, cwd=self._folder, folder="")
        for name in set(chosen) & set(names):
            if host.status(name).spec.faults:
                host.reconfigure(name, faults=())
                self._with_faults.add(name)
        self._seen = {name: Observed(name) for name in names}
        runtime.traffic.listener = self._listen
        if self._one_by_one:
            return [await self._one(name) for name in chosen]
        return await asyncio.gather(*map(self._one, chosen))

    def _listen(self, captured: Captured) -> None:
        if (wire := self._seen.get(captured.source)) is not None:
            wire.take(captured)

    async def _one(self, name: str) -> Checklist:
        follower = self._follower
        if (wire := self._seen.get(name)) is not None:
            tell = partial(follower.told, name)
            examination = Examination(self._runtime, name, wire, tell, self._reword, self._beside)
            follower.begun(examination.found)
            if name in self._with_faults:
                examination.found.steps.append(NO_FAULTS)
                follower.told(name, NO_FAULTS)
            found = await examination.run()
        else:
            left_out = self._runtime.configuration.left_out.get(name)
            found = disabled(name) if left_out is None else unusable(name, left_out)
            found.steps = [cleaned(self._reword(name, step)) for step in found.steps]
            follower.begun(found)
            for step in found.steps:
                follower.told(name, step)
        for step in self._also(found):
            found.steps.append(step)
            follower.told(name, step)
        follower.ended(found)
        return found

    def _known(self, named: str, chosen: Sequence[str]) -> str:
        """Return the name of the server that is meant. Raises UsageError, ConfigError."""
        runtime = self._runtime
        if runtime.is_unconfigured:
            return chosen[0]
        if named in chosen or runtime.is_disabled(named):
            return named
        runtime.require_usable()
        known = ", ".join(clean_line(name, 60) for name in chosen) or "none"
        raise UsageError(
            hinted(f"server {quoted_name(named, 80)} not found", named, chosen),
            next_step=f"Configured servers: {known}. A URL starts with https://, a command follows --.",
        )
