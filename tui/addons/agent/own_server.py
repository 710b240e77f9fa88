"""What an agent does while no mcptui runs, if a rule allows it: a call starts a server, and stops it."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from tui.addons.agent.consent import Permission
from tui.addons.agent.context import AgentContext
from tui.addons.agent.door import act_of, called, found, offered, permission, said_of
from tui.core.errors import UsageError
from tui.core.questions import (
    AddressQuestion,
    FormQuestion,
    Question,
    QuestionAnswer,
    Questioner,
    SamplingQuestion,
)
from tui.core.servers import ServerState
from tui.core.text import clean_line
from tui.runtime.options import Options
from tui.runtime.permission.approvals import applicable_rules
from tui.runtime.runtime import Runtime
from tui.settings.state.permission.stored_decisions import StoredDecisions


class Declines(Questioner):
    """Answers what servers ask without a user, and counts it."""

    def __init__(self) -> None:
        self.declined = 0

    async def ask(self, question: Question) -> QuestionAnswer:
        self.declined += isinstance(question, FormQuestion | AddressQuestion | SamplingQuestion)
        return await super().ask(question)


async def call_alone(context: AgentContext, given: Mapping[str, Any]) -> dict[str, Any]:
    """Start a server, call a tool, and stop it. Returns what `door.call_tool` does; raises McptuiError."""
    server, params = given["server"], {**given, "agent": context.client}
    act = act_of(params, server, given["tool"])
    options = Options(config=context.config, save=False, project=False, command=f"call by {act.by}")
    runtime = Runtime(options, os.environ)
    runtime.questioner = nobody = Declines()
    try:
        await runtime.ready(start=False, model=False, taps=False, session=False)
        found(runtime, server)
        await permission(runtime).require(act)
        runtime.consent.require([runtime.host.status(server).spec])
        runtime.host.reconfigure(server, restart=False)
        late = ""
        try:
            async with asyncio.timeout(params.get("seconds")):
                await runtime.host.start(server)
                await runtime.host.changes_answered()
        except TimeoutError:
            late = f"It took longer than {params['seconds']} s."
        status = runtime.host.status(server)
        if status.state is not ServerState.RUNNING:
            recording = f" Recording: {runtime.traffic.path.stem}." if runtime.traffic.path.name else ""
            raise UsageError(
                f"{clean_line(server, 60)} did not start. {said_of(status, late)}",
                next_step=f"explain says more, and log what it printed.{recording}",
            )
        said = await called(runtime, act, await offered(runtime, server, params), params)
        return {**said, "declined": nobody.declined}
    finally:
        await runtime.shutdown()


async def permit_alone(context: AgentContext, act: str, given: Mapping[str, Any]) -> None:
    """Decide about an act of mcptui by the rules of the configuration. Raises McptuiError."""
    loaded = await context.reading(context.loaded)
    log = StoredDecisions(redact=context.redactor.redact)
    try:
        rules = applicable_rules(loaded, trust=False)
        allowed = Permission(lambda: rules, set(), log, context.config_path)
        await allowed.require(act_of({"agent": context.client, "arguments": given}, "", act))
    finally:
        log.close()
