"""The servers whose content a conversation has, and whether one of them is not trusted. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tui.core.context.built_in_tools import LIST, READ, SERVER, built_in
from tui.core.context.compaction import sent_messages
from tui.core.context.skill_texts import (
    DYNAMIC,
    LIST_SKILLS,
    LOAD_SKILL,
    READ_SKILL_FILE,
    SkillMark,
    skills_in,
)
from tui.core.conversation.conversation import (
    AssistantMessage,
    Conversation,
    Message,
    ToolMessage,
)
from tui.core.language.translate import listed, message, n_message
from tui.core.ports import TrustStore
from tui.core.text import quoted_name
from tui.core.tools import Tool

UNKNOWN = "an unknown server"
"""The source of a result in a session saved by an earlier version."""

IMPORTED = "the imported session "
"""Prefix of the source of an imported conversation, whatever sources it names."""

MOST_NAMED = 3


def source_of(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the server whose content a call returns, "" for mcptui's own tools."""
    if built_in(tool) in (LIST, READ, LOAD_SKILL, LIST_SKILLS, READ_SKILL_FILE):
        return str(arguments.get("server", ""))
    return "" if built_in(tool) else tool.server


def is_listed(conversation: Conversation, tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return whether the server of a resource or a skill has listed its URI in this conversation.

    The name of a skill is not sent to its server, and paths of its files are those of its manifest. A dynamic
    skill has none.
    """
    server, uri, lists = source_of(tool, arguments), arguments.get("uri"), LIST
    if built_in(tool) == READ_SKILL_FILE:
        loaded = loaded_skills(conversation)
        return not any(one.server == server and one.manifest == DYNAMIC for one in loaded)
    if built_in(tool) == LOAD_SKILL:
        uri, lists = arguments.get("skill"), LIST_SKILLS
        if "://" not in str(uri):
            return True
    return not conversation.imported and any(
        line.partition("  ")[0] == uri
        for one in conversation.messages
        if isinstance(one, ToolMessage) and one.server == server and not one.is_error
        if one.name.endswith(lists)
        for line in one.text.splitlines()
    )


def loaded_skills(conversation: Conversation) -> tuple[SkillMark, ...]:
    """Return the skills whose text the model is sent; compacting the conversation can end that."""
    talk = conversation
    return skills_in(sent_messages(talk.messages, talk.compaction))


def untrusted_sources(conversation: Conversation, trust: TrustStore) -> tuple[str, ...]:
    """Return the untrusted servers with results or resources in a conversation, in order.

    An imported conversation is a source too, because the sources that it names may be forged.
    """
    found = dict.fromkeys(_sources(conversation.messages))
    imported = (f"{IMPORTED}{conversation.imported}",) if conversation.imported else ()
    return (*imported, *(one for one in found if not trust.trusted(one)))


def _sources(messages: Sequence[Message]) -> Iterator[str]:
    for one in (one for one in messages if not isinstance(one, AssistantMessage)):
        yield from (part.server for part in one.attachments if part.server)
        if isinstance(one, ToolMessage):
            if one.server:
                yield one.server
            elif not (one.why or one.is_error or one.name.startswith(SERVER)):
                yield UNKNOWN


def untrusted_words(servers: Sequence[str]) -> str:
    """Return why a call needs approval after content of these servers, without a full stop."""
    if any(one.startswith(IMPORTED) for one in servers):
        return message("This conversation was imported. Its content may be from anybody")
    if list(servers) == [UNKNOWN]:
        return message("This conversation contains a result from an unknown server, which you do not trust")
    named = [message("an unknown server") if one == UNKNOWN else quoted_name(one, 40) for one in servers]
    names = listed(named[:MOST_NAMED])
    if (more := len(named) - MOST_NAMED) > 0:
        names = message("{names} and {n} more", names=names, n=more)
    return n_message(
        "This conversation contains a result from the server {names}, which you do not trust",
        "This conversation contains a result from the servers {names}, which you do not trust",
        len(named),
        names=names,
    )
