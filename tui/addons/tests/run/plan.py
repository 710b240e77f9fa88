"""What a run will do: its suites, each with its server, after consent; and what parts of it are given."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.addons.tests.run.launch import configured_server, name_of, require_consents, suite_server
from tui.addons.tests.run.outcome import Outcome
from tui.addons.tests.run.repeat import RepeatCommand
from tui.addons.tests.suite.case import ENDING, Case, Suite, TurnCase
from tui.addons.tests.suite.find import found
from tui.addons.tests.suite.read import read_suite
from tui.addons.tests.suite.references import with_needed
from tui.commands.call.one_server import require_enabled
from tui.core.errors import ConfigError, McptuiError, UsageError
from tui.core.matching import has_words
from tui.core.servers import ServerSpec
from tui.core.text import clean_line

if TYPE_CHECKING:
    from tui.addons.tests.turns.recorded_turns import RecordedTurns
    from tui.runtime.runtime import Runtime

NO_CONSENT = "not run: its server needs consent."


@dataclass(frozen=True, slots=True)
class PlannedSuite:
    """A suite with its server, or with the `problem` because of which it cannot be run.

    `configured` is the name of a server of the user, which its sign-in has; "" for that of a file.
    """

    suite: Suite
    spec: ServerSpec | None = None
    problem: str = ""
    configured: str = ""


@dataclass(frozen=True, slots=True)
class PartContext:
    """What the check of a contract and turn cases need of the run.

    Attributes:
        server: the name of the suite's server, which runs, in `runtime.host`.
        replay_models: the replies of models in the recording of `--replay-models`, or None.
    """

    runtime: "Runtime"
    server: str
    replay_models: "RecordedTurns | None" = None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What is run, and how.

    Attributes:
        matching: words that the name of a case must have, or "".
        tags: a case must have one of these, if there are any.
        era: "legacy", "modern", "both", or "" for what the server supports.
        fresh: a process for each case.
        stop: stop at the first failure.
        jobs: files to run at the same time.
        strict_time: a slow response fails.
        run_empty: also run cases that expect nothing.
        coverage: also list what the servers offer.
        check: what to do with contracts, instead of checking them.
        replay_models: see `PartContext`.
        repeat: makes the commands that repeat a case.
        faults: rules for faults to inject.
    """

    matching: str = ""
    tags: tuple[str, ...] = ()
    era: str = ""
    fresh: bool = False
    stop: bool = False
    jobs: int = 1
    strict_time: bool = False
    run_empty: bool = False
    coverage: bool = False
    check: Callable[[Suite, PartContext], Awaitable[Outcome]] | None = None
    replay_models: "RecordedTurns | None" = None
    repeat: RepeatCommand = field(default_factory=RepeatCommand)
    faults: tuple[str, ...] = ()

    def selects(self, name: str, tags: Sequence[str]) -> bool:
        """Return whether a case is wanted."""
        is_tagged = not self.tags or not set(self.tags).isdisjoint(tags)
        return is_tagged and (not self.matching or has_words(name, self.matching))

    def chosen(self, suite: Suite) -> list[Case | TurnCase]:
        """Return the wanted cases and turn cases, and the cases whose values these use, in order."""
        cases = [case for case in suite.cases if self.selects(case.name, case.tags)]
        turns = (turn for turn in suite.turns if self.selects(turn.title, turn.tags))
        needed = cases if len(cases) == len(suite.cases) else with_needed(suite.cases, cases)
        return [*needed, *turns]


def read_suites(names: Sequence[str]) -> list[PlannedSuite]:
    """Return the suites of files and folders; an invalid one has a problem.

    Raises UsageError if there are none.
    """
    paths = found(names)
    if not paths:
        where = ", ".join(clean_line(name, 200) for name in names) or "the current directory"
        raise UsageError(
            f"no test file (*{ENDING}) in {where}.",
            next_step="mcptui keep makes one of a call, mcptui test --init one of a server.",
        )
    suites = list[PlannedSuite]()
    for path in paths:
        try:
            suites.append(PlannedSuite(read_suite(path)))
        except ConfigError as error:
            suites.append(PlannedSuite(Suite(path), problem=str(error)))
    return suites


async def taken_servers(runtime: "Runtime") -> dict[str, ServerSpec]:
    """Return the servers of the user by name. The host does not have them any more."""
    specs = {status.name: status.spec for status in runtime.host.statuses()}
    for name in specs:
        await runtime.host.remove(name)
    return specs


def server_of(suite: Suite, runtime: "Runtime", configured: Mapping[str, ServerSpec]) -> ServerSpec:
    """Return the server that a suite names, which needs consent. Its secrets are redacted from now on.

    Raises UsageError or ConfigError.
    """
    if suite.server is not None and suite.server.name not in ("", *configured):
        _require_usable(runtime, suite.server.name)
    server = suite_server(suite, configured)
    runtime.redactor.add(server.secrets)
    return server.spec


async def with_servers(
    planned: Sequence[PlannedSuite],
    runtime: "Runtime",
    *,
    name: str = "",
    live: ServerSpec | None = None,
    can_ask: bool = True,
) -> list[PlannedSuite]:
    """Return suites with their servers, after consent.

    `name` is a configured server, `live` one of the command line, to use instead of those of the files.
    Raises UsageError or ConfigError if that server cannot be used, or if consent is needed and nobody can be
    asked.
    """
    configured = await taken_servers(runtime)
    ready = list[PlannedSuite]()
    for plan in planned:
        suite = plan.suite
        if plan.problem:
            ready.append(plan)
        elif live is not None:
            ready.append(replace(plan, spec=replace(live, name=name_of(suite.path))))
        elif name:
            if name not in configured:
                _require_usable(runtime, name)
            ready.append(replace(plan, spec=configured_server(name, configured), configured=name))
        else:
            try:
                spec = server_of(suite, runtime, configured)
                named = suite.server.name if suite.server is not None else ""
                ready.append(replace(plan, spec=spec, configured=named))
            except McptuiError as error:
                ready.append(replace(plan, problem=str(error)))
    if not can_ask:
        specs = {plan.suite.path: plan.spec for plan in ready if plan.spec is not None}
        require_consents(runtime.consent, list(specs.values()))
    for number, plan in enumerate(ready):
        if plan.spec is not None and not await runtime.consent.ask(plan.spec):
            ready[number] = PlannedSuite(plan.suite, problem=NO_CONSENT)
    return with_names(ready)


def _require_usable(runtime: "Runtime", name: str) -> None:
    """Raise the reason why a server that is configured cannot be used: UsageError or ConfigError."""
    if problems := runtime.configuration.left_out.get(name):
        raise ConfigError(problems[0], where=clean_line(name, 80))
    require_enabled(runtime, name)


def with_names(planned: Sequence[PlannedSuite]) -> list[PlannedSuite]:
    """Return the suites with servers of different names, except those of the same configured server."""
    taken: dict[str, str] = {}
    found = list[PlannedSuite]()
    for plan in planned:
        if plan.spec is None:
            found.append(plan)
            continue
        name, number = plan.spec.name, 1
        while name in taken and not (plan.configured and taken[name] == plan.spec.origin):
            number += 1
            name = f"{plan.spec.name}-{number}"
        taken[name] = plan.spec.origin if plan.configured else ""
        found.append(replace(plan, spec=replace(plan.spec, name=name)))
    return found
