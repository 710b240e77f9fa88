"""mcptui's host as the client of the official conformance suite.

The suite names the scenario and what a client needs to know, such as registered credentials. The host is the
ordinary one. The part of the user is automatic: everything the server offers is used, and forms are accepted
with their defaults.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.hosts import running
from tui.addons.skills.problem import SkillProblem
from tui.addons.skills.server_skills import ServerSkills
from tui.core.questions import (
    Action,
    FormQuestion,
    Question,
    QuestionAnswer,
    Questioner,
)
from tui.core.servers import Grant, OAuthSpec, ServerSpec, ServerState, Transport
from tui.core.time_limits import CallTimeout
from tui.core.traffic import Captured
from tui.host.host import Host
from tui.host.server.host_context import Answerers, Remembered
from tui.host.sign_in.token_store import TokenStore

NAME = "conformance"
METADATA_URL = "https://conformance-test.local/client-metadata.json"
"""The URL of a client metadata document that the suite knows. It is never fetched."""
SECONDS = 20.0
RETRIES = "sse-retry"
"""Treats the first GET after a call as its resumed stream, so the listening GET has to come before."""

SKILLS, NO_PREFETCH = "sep-2640-client-", "sep-2640-client-no-prefetch"
"""The scenarios of skills, and the one in which none is loaded."""

ECHO, FOCAL = "json_schema_echo", "json_schema_2020_12_tool"
"""A tool that takes a schema, and the tool whose schema it gets as mcptui stores it."""

_SAMPLES = {"string": "text", "number": 2, "integer": 2, "boolean": True, "array": [], "null": None}


class Willing(Questioner):
    """Accepts forms with their defaults, and URLs."""

    async def ask(self, question: Question) -> QuestionAnswer:
        if not isinstance(question, FormQuestion):
            return QuestionAnswer(Action.ACCEPT)
        fields = question.schema.get("properties", {})
        values = {name: field["default"] for name, field in fields.items() if "default" in field}
        return QuestionAnswer(Action.ACCEPT, values | sample(question.schema, values))


def sample(schema: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for the required fields of a schema that have none yet."""
    fields = schema.get("properties", {})
    return {name: value_of(fields.get(name, {})) for name in schema.get("required", ()) if name not in known}


def value_of(field: Mapping[str, Any]) -> Any:
    if field.get("enum"):
        return field["enum"][0]
    kind = field.get("type", "string")
    if kind == "object":
        return sample(field, {})
    return field.get("default", _SAMPLES.get(kind if isinstance(kind, str) else kind[0], "text"))


def oauth_of(scenario: str, context: Mapping[str, Any]) -> OAuthSpec:
    """Return the configuration that a user would write."""
    return OAuthSpec(
        grant=Grant.CREDENTIALS if "client-credentials" in scenario else Grant.USER,
        client_id=context.get("client_id", ""),
        client_secret=context.get("client_secret", ""),
        private_key=context.get("private_key_pem", ""),
        private_key_algorithm=context.get("signing_algorithm", "RS256"),
    )


async def play(scenario: str, url: str, context: Mapping[str, Any], folder: Path) -> str:
    """Play a scenario; return the problem, or ""."""
    spec = ServerSpec(NAME, transport=Transport.HTTP, url=url, oauth=oauth_of(scenario, context))
    listening = asyncio.Event()

    def hear(captured: Captured) -> None:
        if captured.detail.get("http") == "GET":
            listening.set()

    tokens = TokenStore(folder, use_keychain=False)
    around = {
        "answerers": Answerers(questioner=Willing()),
        "remembered": Remembered(tokens=tokens, client_metadata_url=METADATA_URL),
    }
    async with running(spec, sink=hear, **around) as host:
        status = host.status(NAME)
        if status.state is not ServerState.RUNNING:
            return f"{status.detail} {status.next_step}"
        if scenario == RETRIES:
            await asyncio.wait_for(listening.wait(), SECONDS)
            for _ in range(3):
                await host.workbench.request(NAME, "tools/list", {}, call="hand-0", seconds=SECONDS)
        if scenario.startswith(SKILLS):
            return await use_skills(host, load=scenario != NO_PREFETCH)
        return await use_all(host, context.get("toolCalls"))


async def use_skills(host: Host, *, load: bool) -> str:
    """List the skills, then load each and try every file that its manifest names, as a user would.

    What the loader refuses is no problem of the client: the suite knows whether it was right to.
    """
    skills = ServerSkills(host, lambda: CallTimeout.of(SECONDS))
    listing = await skills.listing(NAME)
    for entry in listing.entries if load else ():
        with suppress(SkillProblem):
            held = await skills.load(entry)
            for file in entry.files or ():
                with suppress(SkillProblem):
                    await skills.read(held, file.uri)
    return "" if listing.entries else f"No skills are listed. {' '.join(listing.problems)}"


async def use_all(host: Host, asked: list[Mapping[str, Any]] | None) -> str:
    """Call the requested tools, or else all of them. Read all resources and get all prompts."""
    tools = {tool.name: tool for tool in host.workbench.tools(NAME)}
    calls = asked or [{"name": name, "arguments": sample(tool.schema, {})} for name, tool in tools.items()]
    for call in calls:
        name, arguments = call["name"], call.get("arguments", {})
        if name not in tools:
            return f"{name} is not offered."
        if name == ECHO and FOCAL in tools:
            arguments["schema"] = tools[FOCAL].schema
        await host.toolbox.call(tools[name], arguments, seconds=SECONDS, progress=lambda *_: None)
    for resource in (await host.workbench.resources(NAME))[0]:
        if not resource.template:
            await host.workbench.read_resource(NAME, resource.uri, call="hand-1", seconds=SECONDS)
    for prompt in (await host.workbench.prompts(NAME))[0]:
        values = {argument.name: "text" for argument in prompt.arguments}
        await host.workbench.get_prompt(NAME, prompt.name, values, call="hand-2", seconds=SECONDS)
    return ""
