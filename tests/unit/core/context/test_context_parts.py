from tui.core.context.context_meter import Calibration, estimate_tool
from tui.core.context.context_parts import DefinitionTokens, context_parts
from tui.core.conversation.conversation import AssistantMessage, UserMessage
from tui.core.ports import ToolSpec

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
