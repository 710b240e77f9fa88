"""The composition root: builds everything behind the screens and the commands, and owns it.

    Configuration          the configuration in force, its file, and every change of it
    RunRecording           records the traffic of this run; the sink of servers and models
    Host                   the servers, and their tools
    ActiveModel            the model that answers, and switching it
    SessionStore           all sessions
    TurnContext            what a turn needs besides a model: servers, policy, limits, time
    RequestContext         what each request to a model has besides the conversation
    Conversations          the conversation on screen and its turns, from the four before
    Approvals              rules and approvals, also those in the configuration file

Until `ready()` has read the configuration there are no servers, rules and limits. Nothing heavy is imported
before that, and even this module is loaded only after the first frame.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tui.core.addons import every, load, service
from tui.core.background import Tasks
from tui.core.conversation.sessions import LAST
from tui.core.errors import ConfigError, McptuiError, sentences
from tui.core.events import ApprovalGiven, Event
from tui.core.jsonrpc.extensions import SKILLS
from tui.core.jsonrpc.messages import TraceIds
from tui.core.library_imports import importing
from tui.core.permission.approval_policy import Policy
from tui.core.permission.definitions import KnownDefinitions
from tui.core.ports import NO_MODEL, Answer, Approver, MonotonicClock
from tui.core.questions import Questioner, Sampler
from tui.core.secrets.redact import Redactor
from tui.core.traffic import CAUSE
from tui.core.turn.limits import Limits
from tui.host.host import Host
from tui.host.server.host_context import Answerers, HostContext, Remembered
from tui.host.sign_in.token_store import TokenStore
from tui.host.workbench import HandWorkbench
from tui.model.endpoints.profile import DEMO
from tui.runtime.active_model import ActiveModel, ModelSampler
from tui.runtime.configuration import Configuration
from tui.runtime.conversations import Conversations
from tui.runtime.example_questions import Example, examples
from tui.runtime.local_socket import sockets_folder
from tui.runtime.options import Options
from tui.runtime.permission.approvals import Approvals
from tui.runtime.permission.consent import RunConsent
from tui.runtime.permission.server_trust import ServerTrust, StoredTrust
from tui.runtime.recording import RunRecording
from tui.runtime.request_context import RequestContext
from tui.runtime.turn import PendingTurn, TurnContext
from tui.settings.config_file import ConfigFile
from tui.settings.files import refused_links
from tui.settings.locations import data_dir, state_dir
from tui.settings.state.permission.stored_decisions import StoredDecisions
from tui.settings.state.project_file import ProjectFile
from tui.settings.state.server_memory import ServerMemory
from tui.settings.state.stored_calls import StoredCalls

if TYPE_CHECKING:
    from tui.core.files import Stamp
    from tui.core.jsonrpc.client_profile import ClientProfile
    from tui.core.servers import ServerSpec
    from tui.host.frames.stage import Stage
    from tui.runtime.log import LogFile
    from tui.runtime.model_changes import ModelChanges
    from tui.runtime.server_changes import ServerChanges
    from tui.settings.load import Loaded
    from tui.storage.sessions.store import SessionStore

CLOSE_SECONDS = 1.0

_TAPS = "tui.runtime.tap_follower"


class _Brought(cached_property[Any]):
    """A service of an add-on, made of the runtime when it is first used; None without the add-on."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda runtime: None if (made := service(name)) is None else made(runtime))


class Runtime:
    """Everything behind the screens and the commands.

    `questioner` answers requests from servers. It is set before `ready()`; without it, everything is
    declined. So is `sampler`; without it, the active model replies to servers. `recording` is the traffic so
    far, for the traffic screen. `is_ready`: `ready()` is done.
    """

    def __init__(self, options: Options, env: Mapping[str, str]) -> None:
        """Build everything. Nothing is read or started yet."""
        self._options = options
        trust = options.trust_config
        self._clock = MonotonicClock()
        self.redactor = Redactor()
        self.questioner: Questioner = Questioner()
        self.sampler: Sampler | None = None
        self.traffic = RunRecording(lambda: self.redactor)
        self.recording = self.traffic.recording
        self.host = Host((), HostContext(self.traffic, self._clock))
        self.decisions = StoredDecisions(redact=self.redactor.redact)
        stored_trust = StoredTrust(state_dir() / "trusted-servers.json")
        self.configuration = Configuration(
            ConfigFile(options.config, env, trust=trust),
            options,
            self.redactor,
            host=self.host,
            trusted=stored_trust.applied,
            take_over=self._take_over,
            follow_model=self._follow_model,
        )
        self.trust = ServerTrust(stored_trust, self.configuration, self.decisions)
        self.consent = RunConsent(self.questioner, self.decisions, trust=trust)
        self._active_model = ActiveModel(options, env, self._clock, self.traffic, self.redactor, self.consent)
        self._sessions = self._session_store() if options.save else None
        self.turn_context = TurnContext(
            self.host,
            Policy(
                mode=options.mode,
                server_digest=lambda server: self.configuration.digests.get(server, ""),
                trust=self.trust,
            ),
            Limits(),
            self._clock,
            self.redactor,
            self.decisions,
            notice=self._notice,
            traffic=self.traffic,
            skills=lambda: self.skill_loader,
        )
        self.request = RequestContext(
            ProjectFile(state_dir() / "project-instructions.json", always=bool(options.project)),
            self._active_model,
            self.turn_context,
            wanted=options.project is not False,
        )
        self.conversations = Conversations(
            self._active_model, self.turn_context, self.request, self._sessions
        )
        self.approvals = Approvals(self.configuration, self.turn_context.policy, trust=trust)
        self.calls = StoredCalls(data_dir() / "calls.json")
        self._env = env
        self.is_ready = False
        self.tell_user: Callable[[str, str], None] = lambda server, text: None
        self._trace_ids = TraceIds()
        self._memory = ServerMemory(self.redactor)
        self._problems, self._model_problems, self._other_problems = list[str](), list[str](), list[str]()
        self._warnings, self._note = frozenset[str](), ""
        self._save_problem = ""
        self._revision = 0
        self._background = Tasks()
        self._log_file: LogFile | None = None

    def _session_store(self) -> "SessionStore":
        from tui.storage.sessions.store import SessionStore  # a command that saves none goes without

        return SessionStore(data_dir() / "sessions", lambda: self.redactor)

    # Parts that only the screens use are loaded on first use.

    @cached_property
    def server_changes(self) -> "ServerChanges":
        from tui.runtime.server_changes import ServerChanges

        return ServerChanges(self.configuration, self._env, self.consent.keep, self._forget)

    def _forget(self, server: str) -> None:
        for _, forget in every("removal"):
            load(forget)(server, self)

    @cached_property
    def model_changes(self) -> "ModelChanges":
        from tui.runtime.model_changes import ModelChanges

        return ModelChanges(self.configuration, self._env, self._active_model, self.conversations.switch)

    @cached_property
    def breakpoints(self) -> Any:
        """What holds messages on their way, from an add-on; None without it."""
        if (made := service("breakpoints")) is None:
            return None
        loaded = self.configuration.loaded
        is_silent = loaded is not None and loaded.settings.traffic.silent_hold
        folder = sockets_folder("taps")
        return made(lambda: self.turn_context.limits.call_timeout, folder, is_silent=is_silent)

    def _stages(self, spec: "ServerSpec") -> "Sequence[Stage]":
        """Return what the messages of a connection to a server pass."""
        is_app = not self._options.command
        return self.breakpoints.stages() if is_app and self.breakpoints is not None else []

    @staticmethod
    def _profile(spec: "ServerSpec") -> "ClientProfile | None":
        """Return how mcptui introduces itself to a server, if as another host."""
        find = service("acting host") if spec.act_as else None
        return None if find is None else find(spec.act_as).profile

    watches = _Brought("watches")
    """What restarts servers when their files change."""
    events = _Brought("events")
    """What delivers the events of servers."""
    door = _Brought("door")  # where other processes of the user ask this one
    skills = _Brought("skills")
    """The skills of the servers and their approvals, once it is ready."""
    _skill_loader = _Brought("skill loader")

    @property
    def skill_loader(self) -> "Any | None":
        """What loads skills into conversations; None until a running server serves some."""
        if "_skill_loader" not in self.__dict__:
            declares = self.workbench.extension
            if all(declares(name, SKILLS) is None for name in self.host.servers):
                return None
        return self._skill_loader

    async def ready(
        self,
        *,
        start: bool = True,
        model: bool = True,
        record: bool = True,
        taps: bool = True,
        session: bool = True,
    ) -> None:
        """Read the configuration, start the servers, choose a model. Called once.

        `start` those with autostart, and `record` the traffic, unless command line or configuration forbid
        it. Without `model`, none is chosen: commands without a question need none. `taps`: also
        show the traffic that `mcptui tap` records in other processes. `session`: open the one that the
        command line names; an error is reported as a problem.
        """
        from tui.runtime.log import log_to

        self._log_file = log_to(state_dir() / "mcptui.log", lambda: self.redactor)
        await asyncio.to_thread(_import_settings, taps=taps)
        loaded, stamp = await self.configuration.read()
        if not self._options.command and self.door is not None:
            self.door.begin()
        self._apply(loaded, stamp)
        self._other_problems += await asyncio.to_thread(refused_links, state_dir(), data_dir())
        if record:
            self.traffic.is_unconfigured = self.is_unconfigured
            self.traffic.start(
                loaded.settings.traffic,
                state_dir() / "recordings",
                data_dir() / "filters.toml",
                command=self._options.command,
                follow_taps=taps,
            )
        remote = {one.name: one.spec.url for one in self.host.statuses() if one.spec.url}
        if remote and self.host.sign_ins is not None:
            self._background.start(self.host.sign_ins.load(remote), "reading sign-ins")
        self._follow_files(loaded)
        if not self._options.command and (state_dir() / "events.json").exists() and self.events is not None:
            self.events.begin()
        if start and self._options.start:
            self._background.start(self.host.start_all(quiet=not self._options.command), "starting servers")
        if self._sessions is not None:
            self._save_problem = await self._sessions.check()
        if model:
            await asyncio.to_thread(self.request.look)
            await self._active_model.begin(loaded)
            self._look_at_model()
        if session:
            try:
                if told := await self.open_session():
                    self._other_problems.append(told)
                    self._note = told
            except McptuiError as error:
                self._other_problems.append(sentences(str(error), "A new conversation was started instead."))
        self.is_ready = True
        self._revision += 1

    def _apply(self, loaded: "Loaded", stamp: "Stamp") -> None:
        """Create servers, rules and limits from a configuration; `stamp` is that of its file when read."""
        self._problems, self._warnings = loaded.problem_texts(self.trust.problems)
        self.consent.questioner = self.questioner
        self.host = self.configuration.host = self.turn_context.host = Host(
            self.configuration.adopt(loaded, stamp),
            HostContext(
                self.traffic,
                self._clock,
                self.redactor,
                answerers=Answerers(
                    questioner=self.questioner,
                    sampler=self.sampler
                    or ModelSampler(self._active_model, self.configuration, self.conversations.biller),
                    consent=self.consent,
                    decisions=self.decisions,
                    hand=self._options.hand,
                ),
                remembered=Remembered(
                    eras=self._memory.eras,
                    tasks=self._memory.tasks,
                    definitions=KnownDefinitions(accept_all=True)
                    if self._options.accept_all
                    else self._memory.definitions,
                    tokens=TokenStore(state_dir() / "sign-in"),
                    client_metadata_url=loaded.settings.oauth.client_metadata_url or "",
                ),
                traceparent=self._traceparent,
                stages=self._stages,
                profile=self._profile,
            ),
        )
        self.approvals.begin(loaded, stamp)
        self._limit(loaded)

    def _follow_files(self, loaded: "Loaded") -> None:
        """Watch the files of servers, if any are to be watched: only in the app."""
        given = self._options.server
        is_wanted = any(one.watch for one in loaded.settings.servers.values()) or bool(given and given.is_own)
        if is_wanted and not self._options.command and self.watches is not None:
            self.watches.begin()

    def _limit(self, loaded: "Loaded") -> None:
        limits = Limits(**loaded.settings.limits.model_dump())
        self.turn_context.limits = replace(limits, max_steps=self._options.max_steps or limits.max_steps)

    def _take_over(self, loaded: "Loaded") -> None:
        """Apply the rules and limits of a reloaded configuration, before its servers."""
        self._problems, self._warnings = loaded.problem_texts(self.trust.problems)
        # Permanent approvals are synchronized with the file separately.
        self.turn_context.policy.rules = self.approvals.applicable(loaded)
        self._limit(loaded)
        if self.host.sign_ins is not None:
            self.host.sign_ins.client_metadata_url = loaded.settings.oauth.client_metadata_url or ""
        self._follow_files(loaded)
        self._revision += 1

    async def _follow_model(self, loaded: "Loaded") -> Sequence[str]:
        notes = await self._active_model.reload(loaded)
        self._look_at_model()
        return notes

    def _look_at_model(self) -> None:
        """Ask for consent to the model if it needs it, otherwise report its problems."""
        if self._active_model.needs_consent and not self._options.command:
            self._model_problems = []
            self._active_model.begin_consent(self._model_has)
        else:
            self._model_has(self._active_model.problems)

    def _model_has(self, problems: Sequence[str]) -> None:
        self._model_problems = list(problems)
        self._revision += 1

    async def open_session(self) -> str:
        """Open the session named on the command line; return a note if it is new. May raise McptuiError."""
        if self._options.resume:
            return await self.conversations.resume_named(LAST)
        name = self._options.session
        return await self.conversations.resume_named(name, begin=True) if name is not None else ""

    def require_usable(self, *, key: bool = False) -> None:
        """Raise the first error of configuration or model, for commands that cannot continue with it.

        Raises UsageError for a profile that does not exist, ConfigError if the configuration is missing or
        unreadable, its approvals are invalid, or its model cannot be used or, with `key`, has no key.
        """
        if (loaded := self.configuration.loaded) is not None:
            for problem in loaded.errors:
                # Part of the rules would be worse than none: the missing ones would go unnoticed.
                if not problem.path or problem.path.startswith("approvals"):
                    raise ConfigError(str(problem))
        if self._active_model.error is not None:
            raise self._active_model.error
        if key and (lacks := self._active_model.lacks_key):
            step = "Set it, store a key with `mcptui config key`, or add --model NAME."
            raise ConfigError(lacks, next_step=step)

    @property
    def options(self) -> Options:
        """The options that it was made with."""
        return self._options

    @property
    def revision(self) -> int:
        """Grows when the model, the conversation or the problems change."""
        parts = (self._active_model.revision, self.conversations.revision, self.request.project.revision)
        return self._revision + sum(parts)

    @property
    def problems(self) -> Sequence[str]:
        """The problems of the configuration, one line each. Those in `warnings` disable nothing."""
        return [*self._problems, *self._model_problems, *self._other_problems]

    @property
    def warnings(self) -> frozenset[str]:
        return self._warnings | {self._note}

    @property
    def is_unconfigured(self) -> bool:
        """Whether the only server comes from the command line."""
        return self._options.server is not None

    def is_disabled(self, server: str) -> bool:
        """Whether a server is configured, but disabled."""
        loaded = self.configuration.loaded
        known = loaded.settings.servers.get(server) if loaded is not None else None
        return known is not None and known.disabled

    @property
    def unsaved(self) -> str:
        """Why the conversation is not being saved, or ""."""
        # Before the first message, only the check at startup is known.
        return self.conversations.problem or ("" if self.conversations.messages else self._save_problem)

    @property
    def unrecorded(self) -> str:
        """Why the traffic is not being recorded although it should be, or ""."""
        loaded = self.configuration.loaded
        wanted = loaded is not None and loaded.settings.traffic.record
        return self.recording.problem() if wanted else ""

    @property
    def failed_thread(self) -> str:
        """The thread that failed last, its error, and whether it was restarted; "" if none did."""
        return self._log_file.failed_thread if self._log_file is not None else ""

    @property
    def model_label(self) -> str:
        """The display name of the model."""
        return self._active_model.label or (NO_MODEL if self.is_ready else "")

    @property
    def chosen_model(self) -> str:
        """The profile that the command line names, "demo" for the demo model, or ""."""
        return DEMO if self._options.demo else self._options.model or ""

    @property
    def model_notice(self) -> str:
        """A line to show under each reply, or ""."""
        return self._active_model.notice

    @property
    def workbench(self) -> HandWorkbench:
        return self.host.workbench

    def examples(self) -> Sequence[Example]:
        """Return example questions made from the running tools."""
        return examples(self.turn_context.offered())

    def continue_turn(self, approver: Approver) -> PendingTurn:
        """Continue with fresh limits after a turn that a limit ended."""
        return self.conversations.ask("Please continue.", approver)

    @property
    def snippets(self) -> Mapping[str, str]:
        """The snippets of the configuration, by name."""
        loaded = self.configuration.loaded
        return loaded.settings.snippets if loaded is not None else {}

    def _traceparent(self) -> str:
        loaded = self.configuration.loaded
        if loaded is None or not loaded.settings.traffic.traceparent:
            return ""
        return self._trace_ids.traceparent(CAUSE.get())

    def _notice(self, event: Event) -> None:
        if isinstance(event, ApprovalGiven) and event.answer is Answer.ALWAYS:
            self._background.start(self._save_approvals(), "saving approvals")

    async def _save_approvals(self) -> None:
        problem = await self.approvals.save()
        if problem and problem not in self._other_problems:  # the same for each tool
            self._other_problems.append(problem)
            self._revision += 1

    async def shutdown(self) -> None:
        """Stop the servers concurrently, then close the model's connections. Bounded in time."""
        self.configuration.is_closing = True
        async with AsyncExitStack() as steps:  # in reverse order, each even if others fail
            if self._log_file is not None:
                steps.callback(self._log_file.stop)
            for stored in (self.traffic, self._memory, self.trust, self.decisions):
                steps.push_async_callback(asyncio.to_thread, stored.close)
            steps.push_async_callback(self._background.settled, CLOSE_SECONDS)
            steps.push_async_callback(self.configuration.running.settled, CLOSE_SECONDS)
            steps.push_async_callback(self.conversations.close)
            steps.push_async_callback(self.host.shutdown)
            if "breakpoints" in self.__dict__ and self.breakpoints is not None:
                steps.push_async_callback(self.breakpoints.close)
            if (skills := self.__dict__.get("skills")) is not None:
                steps.push_async_callback(asyncio.to_thread, skills.close)
            for name in ("_skill_loader", "watches", "events", "door"):
                if (made := self.__dict__.get(name)) is not None:
                    steps.push_async_callback(made.close)


def _import_settings(*, taps: bool) -> None:
    with importing():
        for name in ("tui.settings.load", "tui.settings.specs", *([_TAPS] if taps else ())):
            import_module(name)
