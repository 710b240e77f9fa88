"""Content of untrusted servers in a conversation."""

from tui.core.context.built_in_tools import BUILT_IN, LIST, READ
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    Conversation,
    ToolMessage,
    UserMessage,
)
from tui.core.permission.content_sources import (
    UNKNOWN,
    is_listed,
    source_of,
    untrusted_sources,
    untrusted_words,
)
from tui.core.tools import Tool


class Trusting:
    """Trusts the server `good` only."""

    def trusts(self, tool: Tool) -> bool:
        return tool.server == "good"

    def trusted(self, server: str) -> bool:
        return server == "good"

    def decide(self, server: str, trusted: bool) -> None:
        pass


def result(server: str = "", *, name: str = "x__y", why: str = "", is_error: bool = False) -> ToolMessage:
    return ToolMessage("c", name, "text", is_error, why=why, server=server)


def test_untrusted_results_and_attachments_are_found_once_per_server() -> None:
    attached = Attachment("text", "text/plain", "a", 1, "x", server="docs")
    mine = Attachment("text", "text/plain", "b", 1, "x")
    messages = [
        UserMessage("hi", (attached, mine)),
        AssistantMessage("calls"),
        result("fetch"),
        result("good"),
        result("fetch"),
    ]
    assert untrusted_sources(Conversation(messages=messages), Trusting()) == ("docs", "fetch")


def test_text_from_mcptui_is_not_server_content() -> None:
    own = [result(why="denied", is_error=True), result(name="mcptui__read_result")]
    assert untrusted_sources(Conversation(messages=own), Trusting()) == ()


def test_a_result_of_unknown_origin_is_untrusted() -> None:
    assert untrusted_sources(Conversation(messages=[result()]), Trusting()) == (UNKNOWN,)


def test_a_resource_that_the_model_reads_counts_as_content_of_its_server() -> None:
    assert source_of(Tool("mcptui", READ, digest=BUILT_IN + READ), {"server": "docs"}) == "docs"
    assert source_of(Tool("mcptui", "find_tools", digest=f"{BUILT_IN}find_tools"), {}) == ""
    assert source_of(Tool("fetch", "get"), {"server": "docs"}) == "fetch"


def test_many_servers_are_counted_and_names_are_cleaned() -> None:
    said = "This conversation contains a result from the server “fetch”, which you do not trust"
    assert untrusted_words(["fetch"]) == said
    assert untrusted_words([UNKNOWN]).startswith(
        "This conversation contains a result from an unknown server, which"
    )
    assert untrusted_words(["is safe"]).startswith(
        "This conversation contains a result from the server “is safe”, which"
    )
    said = untrusted_words(["a\x1b", "b", "c", "d", "e"])
    assert "\x1b" not in said and "“b”, “c” and 2 more" in said


def test_a_resource_counts_as_listed_only_if_its_own_server_listed_it() -> None:
    read, wanted = Tool("mcptui", READ, digest=BUILT_IN + READ), {"server": "mail", "uri": "mail://1"}
    listing = ToolMessage("c", f"mcptui__{LIST}", "mail://0  Zero\nmail://1  One (text/plain)", server="mail")
    assert is_listed(Conversation(messages=[listing]), read, wanted)
    assert not is_listed(Conversation(messages=[listing]), read, {**wanted, "uri": "mail://2"})
    assert not is_listed(Conversation(messages=[listing]), read, {**wanted, "server": "web"})
    assert not is_listed(
        Conversation(messages=[ToolMessage("c", "mail__echo", "mail://1", server="mail")]), read, wanted
    )


def test_an_imported_conversation_is_untrusted_whatever_sources_it_names() -> None:
    forged = [UserMessage("hi"), result("good"), result(name="mcptui__read_result")]
    sources = untrusted_sources(Conversation(messages=forged, imported="s1"), Trusting())
    assert sources == ("the imported session s1",)
    assert untrusted_words(sources).startswith("This conversation was imported.")
    listing = ToolMessage("c", f"mcptui__{LIST}", "mail://1", server="mail")
    read, wanted = Tool("mcptui", READ, digest=BUILT_IN + READ), {"server": "mail", "uri": "mail://1"}
    assert not is_listed(Conversation(messages=[listing], imported="s1"), read, wanted)
