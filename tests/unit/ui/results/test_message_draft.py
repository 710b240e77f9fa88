"""Adding results to the message for the model."""

from collections.abc import Sequence

import pytest

from tests.ui.fake_workbench import FakeWorkbench
from tui.core.conversation.conversation import Attachment
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, ToolResult
from tui.core.workbench import PromptMessage, PromptResult
from tui.ui.results.message_draft import ResultSource, attach_content, for_conversation, prompt_message


class Draft:
    """Records what is inserted into it."""

    def __init__(self) -> None:
        self.attached: list[object] = []

    def put_into_message(self, text: str, attachments: Sequence[Attachment] = ()) -> None: ...

    def send_message(self, text: str, attachments: Sequence[Attachment] = ()) -> None: ...

    def attach_resource(self, server: str, uri: str) -> None:
        self.attached.append((server, uri))

    def attach(self, attachments: Sequence[Attachment]) -> None:
        self.attached += [(one.name, one.data) for one in attachments]


@pytest.fixture
def source() -> ResultSource:
    return ResultSource("s", FakeWorkbench(), Draft())


def attached(source: ResultSource) -> list[object]:
    assert isinstance(source.draft, Draft)
    return source.draft.attached


def test_a_result_for_the_conversation_is_quoted_with_its_source() -> None:
    result = ToolResult((TextContent("a\n\x1b[31mb"),))
    assert for_conversation("s", "t", {"a": 1}, result) == 'Result of s › t with {"a": 1}:\n> a\n> ␛[31mb\n'


def test_the_messages_of_a_prompt_become_one_message_with_their_embedded_content_attached() -> None:
    said = (
        PromptMessage("user", TextContent("Hello")),
        PromptMessage("assistant", TextContent("Hi")),
        PromptMessage("user", ResourceContent("x://y", "text/plain", "embedded")),
    )
    text, attachments = prompt_message(PromptResult(messages=said), "s:p")
    assert text == "Hello\n\n(assistant) Hi"
    assert [(one.name, one.data) for one in attachments] == [("s:p", "embedded")]


def test_a_link_is_attached_by_its_uri(source: ResultSource) -> None:
    assert attach_content(source, LinkContent("x://y", "n"), "call") == "x://y"
    assert attached(source) == [("s", "x://y")]


def test_content_in_a_result_is_attached_unchanged(source: ResultSource) -> None:
    assert attach_content(source, TextContent("hi"), "call") == "call"
    assert attach_content(source, ResourceContent("x://y", "", "there"), "call") == "x://y"
    assert attached(source) == [("call", "hi"), ("x://y", "there")]


def test_content_of_an_unsupported_type_is_refused(source: ResultSource) -> None:
    with pytest.raises(ValueError, match="unsupported type: only text, images and audio can be attached"):
        attach_content(source, BinaryContent("blob", "x/y", 3, "AAEC"), "call")
