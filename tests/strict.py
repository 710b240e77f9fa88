"""An endpoint that rejects what real providers reject, with their error messages, and records it.

    strict = Strict()
    async with Endpoint([strict]) as endpoint:
        strict.then(calls(("srv__echo", {})), says("done"))
        ...
        assert strict.refused == []

The model id selects the provider; see `FLAVOURS`. Answers also look like that provider's, with its call ids,
reasoning, and signatures that must be sent back.
"""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from tests.endpoint import Answer, Reply, Request, chunk, refuses, says

FLAVOURS: Mapping[str, str] = {
    "openai": "gpt-5.1",
    "vllm": "qwen3-32b",
    "ollama": "llama3.2",
    "mistral": "mistral-large-latest",
    "gemini": "gemini-3-pro",
    "deepseek": "deepseek-v4",
    "kimi": "kimi-k2.5",
    "claude": "claude-sonnet-4-5",
    "template": "gemma-3",
}
"""The supported providers with a model id of each. "template" has strict roles and no tools."""

Message = Mapping[str, Any]
SIGNATURE = {"google": {"thought_signature": "c2lnbmVk"}}
_NAME = r"[a-zA-Z0-9_-]{1,64}"
_NOT_GEMINI = (
    "additionalProperties", "$ref", "$defs", "const", "oneOf", "allOf", "not", "propertyNames",
    "patternProperties", "exclusiveMinimum", "exclusiveMaximum",
)  # fmt: skip


class Refusal(Exception):
    """The provider's error message."""


def need(condition: object, words: str) -> None:
    if not condition:
        raise Refusal(words)


def flavour_of(model: str) -> str:
    return next(name for name, ident in FLAVOURS.items() if ident == model)


# ---- rejected requests ---------------------------------------------------------------------------------


def check(body: Mapping[str, Any]) -> None:
    """Raise `Refusal` if the provider would reject a request."""
    flavour, messages = flavour_of(body["model"]), body["messages"]
    check_roles(messages)
    for at, message in enumerate(messages):
        check_content(at, message)
        for number, call in enumerate(message.get("tool_calls", ())):
            check_call(f"messages[{at}].tool_calls[{number}]", call)
    check_pairs(messages)
    check_tools(body.get("tools", ()))
    need(body.get("tools") != [], "Invalid 'tools': empty array. Expected an array with minimum length 1.")
    if rules := RULES.get(flavour):
        rules(body)


def check_roles(messages: Sequence[Message]) -> None:
    systems = [at for at, message in enumerate(messages) if message["role"] == "system"]
    need(systems in ([], [0]), "System message must be at the beginning.")
    need(len(messages) > len(systems), "No user query found in messages.")
    need(messages[len(systems)]["role"] == "user", 'messages: first message must use the "user" role')
    need(messages[-1]["role"] in ("user", "tool"), "Expected last role User or Tool but got assistant")
    for one, two in pairwise(messages):
        alike = one["role"] == two["role"] == "assistant"
        need(not alike, "the model does not support successive user or assistant messages")


def check_content(at: int, message: Message) -> None:
    content = message["content"]
    if content is None:
        need(
            message.get("tool_calls"),
            f"Invalid value for 'messages[{at}].content': expected a string, got null.",
        )
        return
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    need(parts, f"messages.{at}.content: must not be empty")
    for part in parts:
        if part["type"] == "text":
            need(part["text"].strip(), f"messages.{at}: text content blocks must contain non-whitespace text")
        else:
            need(message["role"] == "user", "Image URLs are only allowed for messages with role 'user'")


def check_call(where: str, call: Mapping[str, Any]) -> None:
    name = call["function"]["name"]
    words = f"Invalid '{where}.function.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$'."
    need(re.fullmatch(_NAME, name), words)
    check_object(where, call["function"]["arguments"])
    need(call["id"], f"Invalid '{where}.id': empty string.")


def check_object(where: str, text: Any) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        good = isinstance(json.loads(text, parse_constant=refuse), dict)
    except (ValueError, TypeError):
        good = False
    need(good, f"{where}.function.arguments: invalid tool call arguments: not a JSON object")


def check_pairs(messages: Sequence[Message]) -> None:
    seen: set[str] = set()
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        words = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
        need(message["role"] != "tool", words)
        ids = [call["id"] for call in message.get("tool_calls", ())]
        for identity in ids:
            need(identity not in seen, "messages: `tool_use` ids must be unique")
            seen.add(identity)
        behind = [one["tool_call_id"] for one in tools_at(messages, at)]
        if ids:
            left = [identity for identity in ids if identity not in behind]
            words = (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
            )
            need(not left, f"{words} 'tool_call_id'. These did not have response messages: {left}")
            need(
                sorted(behind) == sorted(ids),
                f"unexpected `tool_use_id` found in `tool_result` blocks: {behind}",
            )
            at += len(behind)


def tools_at(messages: Sequence[Message], at: int) -> Iterator[Message]:
    while at < len(messages) and messages[at]["role"] == "tool":
        yield messages[at]
        at += 1


def check_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    names = [tool["function"]["name"] for tool in tools]
    need(len(set(names)) == len(names), "tools: Tool names must be unique.")
    need(
        len(names) <= 128, f"Invalid 'tools': array too long. Expected maximum length 128, got {len(names)}."
    )
    for at, name in enumerate(names):
        need(
            re.fullmatch(_NAME, name), f"Invalid 'tools[{at}].function.name': string does not match pattern."
        )
        need(tools[at]["function"]["parameters"]["type"] == "object", f"Invalid schema for function '{name}'")


def every_call(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in body["messages"]:
        yield from message.get("tool_calls", ())


def counted_roles(messages: Sequence[Message]) -> list[str]:
    """Return the roles that chat templates count: neither tool results nor messages with tool calls."""
    return [
        one["role"] for one in messages if one["role"] in ("user", "assistant") and not one.get("tool_calls")
    ]


def alternating(roles: Sequence[str]) -> None:
    words = "After the optional system message, conversation roles must alternate user/assistant/user/..."
    need(all(role == ("user", "assistant")[at % 2] for at, role in enumerate(roles)), words)


def openai(body: Mapping[str, Any]) -> None:
    need("stop" not in body, "Unsupported parameter: 'stop' is not supported with this model.")
    for call in every_call(body):
        words = (
            f"Invalid tool_calls.id: string too long. Expected a string with maximum length 40: {call['id']}"
        )
        need(len(call["id"]) <= 40, words)


def mistral(body: Mapping[str, Any]) -> None:
    for call in every_call(body):
        words = f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."
        need(re.fullmatch(r"[a-zA-Z0-9]{9}", call["id"]), words)
    for one, two in pairwise(body["messages"]):
        need((one["role"], two["role"]) != ("tool", "user"), "Unexpected role 'user' after role 'tool'")
    alternating(counted_roles(body["messages"]))


def gemini(body: Mapping[str, Any]) -> None:
    messages = body["messages"]
    for call in every_call(body):
        name = call["function"]["name"]
        need(
            re.match(r"[a-zA-Z_]", name),
            f"Invalid function name {name}. Must start with a letter or underscore.",
        )
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            words = f"GenerateContentRequest.contents[{at}].function_response.name: Name cannot be empty."
            need(message.get("name"), words)
    asked = max(at for at, one in enumerate(messages) if one["role"] == "user")
    for message in messages[asked:]:
        if called := message.get("tool_calls"):
            need(called[0].get("extra_content") == SIGNATURE, "Function call is missing a thought_signature")
    text = json.dumps([tool["function"]["parameters"] for tool in body.get("tools", ())])
    for word in _NOT_GEMINI:
        need(
            f'"{word}":' not in text,
            f'Unknown name "{word}" at tools[0].function_declarations: Cannot find field.',
        )
    need('"type": [' not in text, "Proto field is not repeating, cannot start list.")


def deepseek(body: Mapping[str, Any]) -> None:
    for message in body["messages"]:
        words = "The `reasoning_content` in the thinking mode must be passed back to the API."
        need(message["role"] != "assistant" or message.get("reasoning_content"), words)


def kimi(body: Mapping[str, Any]) -> None:
    for message in body["messages"]:
        words = "thinking is enabled but reasoning_content is missing in assistant tool call message"
        need(not message.get("tool_calls") or message.get("reasoning_content"), words)


def claude(body: Mapping[str, Any]) -> None:
    for call in every_call(body):
        words = "messages.content.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        need(re.fullmatch(r"[a-zA-Z0-9_-]+", call["id"]), words)


def template(body: Mapping[str, Any]) -> None:
    need("tools" not in body, "registry.ollama.ai/library/gemma3:4b does not support tools")
    need(not list(every_call(body)), "Jinja Exception: unknown field tool_calls")
    alternating([message["role"] for message in body["messages"] if message["role"] != "system"])


RULES = {
    "openai": openai,
    "mistral": mistral,
    "gemini": gemini,
    "deepseek": deepseek,
    "kimi": kimi,
    "claude": claude,
    "template": template,
}


# ---- answers -------------------------------------------------------------------------------------------


class Strict:
    """The replies of the endpoint: scripted ones in the provider's style, or errors.

    Attributes:
        usual: the reply after the end of the script.
        refused: the errors, with the messages of the rejected requests.
        learnable: an error that a client cannot know in advance; returned, but not recorded.
    """

    learnable = "does not support tools"

    def __init__(self, *replies: Reply, usual: Reply | None = None) -> None:
        self._script = deque(replies)
        self._count = 0
        self.usual = usual or says("All right.")
        self.refused: list[tuple[str, Any]] = []

    def then(self, *replies: Reply) -> None:
        self._script.extend(replies)

    @property
    def left(self) -> int:
        """The number of scripted replies that are left."""
        return len(self._script)

    def forget(self) -> None:
        """Drop the rest of the script."""
        self._script.clear()

    def __call__(self, request: Request) -> Answer:
        body = request.json
        try:
            check(body)
        except Refusal as refusal:
            words = str(refusal)
            if self.learnable not in words:
                self.refused.append((f"{body['model']}: {words}", body["messages"]))
            return refuses(400, words)
        reply = self._script.popleft() if self._script else self.usual
        answer = reply(request) if callable(reply) else reply
        self._count += 1
        return in_manner_of(flavour_of(body["model"]), answer, self._count, len(request.body) // 4)


def in_manner_of(flavour: str, answer: Answer, number: int, tokens: int) -> Answer:
    """Return an answer with call ids, reasoning and signatures in a provider's style, and a token count."""
    if answer.status != 200 or not answer.chunks:
        return answer
    chunks = json.loads(json.dumps(list(answer.chunks)))
    for one in chunks:
        if one.get("usage"):
            one["usage"]["prompt_tokens"] = tokens
        for choice in one.get("choices") or ():
            for at, call in enumerate((choice.get("delta") or {}).get("tool_calls") or ()):
                if call.get("id"):
                    call["id"] = identity_of(flavour, call, number)
                    if flavour == "gemini" and not call.get("index", at):
                        call["extra_content"] = SIGNATURE
    if flavour in ("deepseek", "kimi"):
        chunks.insert(0, chunk(role="assistant", reasoning_content="I think. "))
    return replace(answer, chunks=chunks)


def identity_of(flavour: str, call: Mapping[str, Any], number: int) -> str:
    made = number * 20 + call.get("index", 0)
    match flavour:
        case "vllm":
            return f"chatcmpl-tool-{made:032x}"
        case "mistral":
            return f"Mi{made:07d}"
        case "kimi":
            return f"functions.{call['function']['name']}:{made}"
        case "claude":
            return f"toolu_{made:024d}"
        case _:
            return f"call_{made:020d}"
