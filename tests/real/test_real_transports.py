"""Over each transport the reference server returns what it answers to lines on its standard input."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.real.installed import EVERYTHING, needs
from tests.real.places import free_port, served
from tests.real.reached import NAME, reached, text_of
from tui.core.questions import Action, AddressQuestion, FormQuestion, Question, QuestionAnswer, Questioner
from tui.core.servers import ServerSpec, Transport
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, ToolResult
from tui.core.traffic import Direction

pytestmark = [*needs(EVERYTHING), pytest.mark.timeout(120)]

FOR_FORMS = {"trigger-elicitation-request", "trigger-url-elicitation"}
FOR_ROOTS, FOR_SAMPLING = {"get-roots-list"}, {"trigger-sampling-request"}
"""Tools that are listed only for hosts that can be asked."""
LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
CALLS: dict[str, dict[str, Any]] = {
    "echo": {"message": "Grüße 👋"},
    "get-resource-links": {"count": 4},
    "get-structured-content": {"location": "Chicago"},
    "get-tiny-image": {},
}


@pytest.fixture(scope="module", params=["stdio", "streamableHttp", "sse"])
def place(request: pytest.FixtureRequest, shared_processes: set[int]) -> Iterator[ServerSpec]:
    kind = request.param
    if kind == "stdio":
        yield ServerSpec(NAME, command=str(EVERYTHING))
        return
    port = free_port()
    url = f"http://localhost:{port}/{'sse' if kind == 'sse' else 'mcp'}"
    with served([EVERYTHING, kind], port, shared_processes):
        yield ServerSpec(NAME, transport=Transport.SSE if kind == "sse" else Transport.HTTP, url=url)


@pytest.fixture(scope="module")
def answered() -> Mapping[str, Any]:
    """Return the server's results for a client without capabilities, by method or tool."""
    client = {"capabilities": {}, "clientInfo": {"name": "plain", "version": "0"}}
    requests = {"initialize": ("initialize", {"protocolVersion": "2025-11-25", **client})}
    requests |= {method: (method, {}) for method in LISTS}
    requests |= {name: ("tools/call", {"name": name, "arguments": values}) for name, values in CALLS.items()}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": name, "method": method, "params": params})
        for name, (method, params) in requests.items()
    ]
    lines.insert(1, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    found: dict[str, Any] = {}
    with subprocess.Popen([EVERYTHING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write("\n".join([*lines, ""]).encode())
        server.stdin.flush()
        while found.keys() != requests.keys():
            message = json.loads(server.stdout.readline())
            if "result" in message:
                found[message["id"]] = message["result"]
        server.kill()
    return found


async def test_it_lists_the_same(place: ServerSpec, answered: Mapping[str, Any]):
    tools = {tool["name"]: tool for tool in answered["tools/list"]["tools"]}
    fixed = answered["resources/list"]["resources"]
    templates = answered["resources/templates/list"]["resourceTemplates"]
    async with reached(place) as server:
        await until(lambda: set(server.tools()) > FOR_FORMS, what="the tools that need a host that is asked")
        listed = server.tools()
        raw = {tool["name"]: tool for tool in (await server.result("tools/list"))["tools"]}
        resources, problem = await server.host.workbench.resources(NAME)
        prompts, problem_of_prompts = await server.host.workbench.prompts(NAME)
    assert {name: raw[name] for name in tools} == tools
    assert set(listed) - set(tools) - FOR_ROOTS - FOR_SAMPLING == FOR_FORMS
    for name, tool in tools.items():
        assert (listed[name].schema, listed[name].title) == (tool["inputSchema"], tool["title"])
    assert (problem, problem_of_prompts) == ("", "")
    assert {one.uri for one in resources if not one.template} == {one["uri"] for one in fixed}
    assert {one.uri for one in resources if one.template} == {one["uriTemplate"] for one in templates}
    assert [(one.name, [argument.name for argument in one.arguments]) for one in prompts] == [
        (one["name"], [argument["name"] for argument in one.get("arguments", ())])
        for one in answered["prompts/list"]["prompts"]
    ]


def timeless(result: Mapping[str, Any]) -> str:
    """Return a result without the time of day, which some resources contain."""
    text = json.dumps(result, sort_keys=True, ensure_ascii=False)
    return re.sub(r" at \d+:\d+:\d+ [AP]M", "", text)


async def test_calls_return_the_same_results(place: ServerSpec, answered: Mapping[str, Any]):
    async with reached(place) as server:
        for tool, values in CALLS.items():
            expected = answered[tool]
            raw = await server.result("tools/call", name=tool, arguments=values)
            result = await server.call(tool, **values)
            assert timeless(raw) == timeless(expected)
            assert (result.is_error, result.warning) == (False, "")
            assert len(result.content) == len(expected["content"])
            assert result.structured == expected.get("structuredContent")


async def test_everything_can_be_read_fetched_and_completed(place: ServerSpec):
    values = {
        "city": "Paris",
        "department": "Sales",
        "name": "Bob",
        "resourceType": "Text",
        "resourceId": "1",
    }
    async with reached(place) as server:
        bench = server.host.workbench
        links = (await server.call("get-resource-links", count=2)).content[1:]
        linked = [await server.resource(one.uri) for one in links if isinstance(one, LinkContent)]
        image = await server.call("get-tiny-image")
        resources, _ = await bench.resources(NAME)
        fixed = [await server.resource(one.uri) for one in resources if not one.template]
        text = await server.resource("demo://resource/dynamic/text/7")
        blob = await server.resource("demo://resource/dynamic/blob/7")
        missing = await server.resource("demo://resource/nowhere")
        templates = [one for one in resources if one.template]
        ids = [(await bench.complete(one, "resourceId", "7", {})).values for one in templates]
        prompts = {one.name: one for one in (await bench.prompts(NAME))[0]}
        for prompt in prompts.values():
            asked = {one.name: values.get(one.name, "x") for one in prompt.arguments}
            found = await bench.get_prompt(NAME, prompt.name, asked, call="hand-4", seconds=20)
            assert (found.problem, bool(found.messages)) == ("", True)
        teams = await bench.complete(prompts["completable-prompt"], "department", "S", {})
        names = await bench.complete(prompts["completable-prompt"], "name", "", {"department": "Sales"})
    assert len(linked) == 2 and len(fixed) >= 7
    assert not any(one.is_error for one in (*linked, *fixed, text, blob))
    assert isinstance(text.content[0], ResourceContent) and isinstance(blob.content[0], BinaryContent)
    assert missing.is_error and text_of(missing).startswith("Resource not found: demo://resource/nowhere.")
    (picture,) = [part for part in image.content if isinstance(part, BinaryContent)]
    assert (picture.mime, picture.size) == ("image/png", 4033)
    assert ids == [("7",), ("7",)]
    assert (teams.values, names.values) == (("Sales", "Support"), ("David", "Eve", "Frank"))


class Asked(Questioner):
    """Gives `action` as answer to every question, and keeps it."""

    def __init__(self) -> None:
        self.action = Action.ACCEPT
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> QuestionAnswer:
        self.questions.append(question)
        return QuestionAnswer(self.action, {"name": "Ada", "check": True})


async def test_the_user_is_asked_and_the_server_receives_the_answers(
    place: ServerSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SSH_CONNECTION", "1")  # so that no browser opens
    person = Asked()
    url = "https://example.com/sign?id=1"
    async with reached(replace(place, roots=(str(tmp_path),)), person) as server:
        assert "Ada" in await server.text("trigger-elicitation-request")
        opened = await server.call("trigger-url-elicitation", url=url)
        assert tmp_path.as_uri() in await server.text("get-roots-list")
        person.action = Action.DECLINE
        assert "declined" in await server.text("trigger-elicitation-request")
    form, asked, again = person.questions
    assert isinstance(form, FormQuestion) and isinstance(again, FormQuestion) and form.server == NAME
    assert "name" in form.schema["properties"] and again.schema == form.schema
    assert isinstance(asked, AddressQuestion) and (asked.url, asked.purpose) == (url, "elicitation")
    assert not opened.is_error


async def test_what_the_server_sends_by_itself_arrives_and_disturbs_no_call(place: ServerSpec):
    uri, seen = "demo://resource/dynamic/text/1", []
    async with reached(place) as server:
        bench = server.host.workbench

        def heard(words: str) -> bool:
            return any(words in json.dumps(message) for message in server.messages(Direction.IN))

        result: ToolResult = await bench.call_tool(
            server.tools()["trigger-long-running-operation"],
            {"duration": 0.4, "steps": 4},
            call="hand-5",
            seconds=20,
            progress=lambda done, total, _: seen.append((done, total)),
        )
        assert not result.is_error and (4, 4) in seen
        name = "simulate-research-query"
        await until(lambda: name in server.tools(), what="a tool that it lists once it knows its host")
        assert "task" in server.tools()[name].withheld
        assert bench.subscribe(NAME, uri) == ""
        await until(lambda: heard("Received Subscribe Resource request"))
        await server.text("toggle-simulated-logging")
        await server.text("toggle-subscriber-updates")
        sums = [await server.text("get-sum", a=number, b=1) for number in range(5)]
        await until(lambda: bench.subscriptions(NAME)[uri].updates >= 1)
        bench.unsubscribe(NAME, uri)
        await until(lambda: heard("Received Unsubscribe Resource request"))
        assert bench.subscriptions(NAME) == {}
    assert sums == [f"The sum of {number} and 1 is {number + 1}." for number in range(5)]
