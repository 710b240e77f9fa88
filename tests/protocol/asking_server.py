"""A server on the current SDK whose tools ask for input before they answer, in rounds or with requests."""

import json

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    ListToolsResult,
    PromptMessage,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
    Tool,
)

STATE = ' {"so far":\u2028 1}\t'
NAME = {"type": "object", "properties": {"name": {"type": "string", "minLength": 2}}, "required": ["name"]}


def form(message):
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": NAME}}


def said(text):
    return CallToolResult(content=[TextContent(type="text", text=text)])


def required(requests, state):
    return InputRequiredResult.model_validate({"inputRequests": requests, "requestState": state})


async def list_tools(context, params):
    names = ("greet", "twice", "roots", "sample")
    return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in names])


async def call_tool(context, params):
    answers = params.input_responses or {}
    given = {
        key: one.model_dump(by_alias=True, exclude_none=True, mode="json") for key, one in answers.items()
    }
    state = params.request_state or ""
    match params.name:
        case "greet" if not given:
            return required({"who": form("Who are you?")}, STATE)
        case "greet":
            return said(json.dumps({"given": given, "exact": state == STATE}))
        case "twice" if state != "second":
            return required({"a": form("First"), "b": form("Second")}, "second" if given else "first")
        case "roots" if not given:
            return required({"roots": {"method": "roots/list"}}, "s")
        case "sample" if not given:
            words = {"role": "user", "content": {"type": "text", "text": "Say hello"}}
            asked = {"messages": [words], "maxTokens": 50}
            return required({"it": {"method": "sampling/createMessage", "params": asked}}, "s")
    return said(json.dumps(given))


async def read_resource(context, params):
    if not params.input_responses:
        return required({"who": form("Whose?")}, "s")
    text = f"yours {params.request_state}"
    return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, text=text)])


async def get_prompt(context, params):
    if not params.input_responses:
        return required({"who": form("For whom?")}, "s")
    words = TextContent(type="text", text=f"for you {params.request_state}")
    return GetPromptResult(messages=[PromptMessage(role="user", content=words)])


async def main():
    server = Server(
        "asking",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_read_resource=read_resource,
        on_get_prompt=get_prompt,
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
