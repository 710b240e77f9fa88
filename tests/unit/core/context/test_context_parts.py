from tui.core.context.context_meter import Calibration, estimate_tool
from tui.core.context.context_parts import DefinitionTokens, context_parts, definition_tokens, token_words
from tui.core.context.tool_selection import ToolSelection
from tui.core.conversation.conversation import AssistantMessage, UserMessage
from tui.core.ports import ToolSpec
from tui.core.tools import Tool

SPECS = [ToolSpec(f"crm__{name}", "Do it.", {}, "crm", name) for name in ("a", "b")]


def parts(specs=SPECS, servers=None, project="", messages=(), calibration=None):
    found = context_parts(specs, servers or {}, "Be kind.", project, messages, calibration or Calibration())
    return {f"{part.server} {part.name}".strip(): part.tokens for part in found}


def test_each_part_of_a_request_is_listed_with_its_tokens():
    messages = [UserMessage("hi"), AssistantMessage("Hello.")]
    servers = {"crm": DefinitionTokens({"a": 9, "b": 9}, instructions=30)}
    found = parts(servers=servers, project="Be brief. " * 40, messages=messages)
    assert list(found) == [
        "System prompt",
        "Project instructions (AGENTS.md)",
        "crm 2 tools",
        "crm instructions",
        "Conversation, 2 messages",
    ]
    assert found["crm instructions"] == 30 and all(found.values())


def test_only_tools_that_are_sent_are_counted():
    servers = {"crm": DefinitionTokens(dict.fromkeys("abcdef", 50))}
    assert parts(servers=servers)["crm 2 of 6 tools"] == sum(map(estimate_tool, SPECS))


def test_the_parts_are_scaled_to_the_endpoint_count():
    calibration = Calibration()
    calibration.learn(1_000, 2_000)
    assert parts(calibration=calibration)["crm 2 tools"] == 2 * parts()["crm 2 tools"]


TOOLS = (
    Tool("weather", "get", description="Get the weather.", digest="1"),
    Tool("notes", "add", description="Add a note. " * 40, digest="2"),
    Tool("notes", "find", description="Find a note.", digest="3"),
)


def counted(calibration=None, instructions=None):
    return definition_tokens(TOOLS, instructions or {}, calibration or Calibration(), ToolSelection())


def test_tools_are_counted_by_server():
    found = counted()
    assert {server: list(one.tools) for server, one in found.items()} == {
        "weather": ["get"],
        "notes": ["add", "find"],
    }
    assert found["notes"].tools["add"] > found["notes"].tools["find"] > 0
    assert found["notes"].total == sum(found["notes"].tools.values())


def test_instructions_given_to_the_model_are_counted():
    plain, given = counted(), counted(instructions={"weather": "Ask for one city at a time."})
    assert given["weather"].instructions > 0
    assert given["weather"].total == plain["weather"].total + given["weather"].instructions
    assert given["notes"] == plain["notes"]


def test_the_endpoint_count_replaces_the_estimate():
    calibration = Calibration()
    calibration.learn(1_000, 500)
    estimated, measured = counted()["notes"], counted(calibration)["notes"]
    assert estimated.words().startswith("~")
    assert measured.measured and "~" not in measured.words()
    assert abs(measured.total - estimated.total / 2) <= len(measured.tools)


def test_token_counts_are_short_and_correctly_pluralized():
    assert token_words(1, measured=True) == "1 token"
    assert token_words(214, measured=True) == "214 tokens"
    assert token_words(1_240, measured=False) == "~1.2 k tokens"


def test_a_tool_that_is_never_sent_uses_no_tokens():
    wide = {"type": "object", "properties": {f"p{at}": {"type": "string"} for at in range(6_000)}}
    found = definition_tokens([Tool("s", "t", schema=wide, digest="9")], {}, Calibration(), ToolSelection())
    assert found["s"].total == 0
