"""Rules about tools: names, descriptions, schemas, order of the list, structured results. Pure."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tui.core.jsonrpc.classification import is_tool_error
from tui.core.jsonrpc.protocol import is_modern
from tui.core.language.translate import message
from tui.core.schemas.schemas import TYPES
from tui.core.traffic import Direction, Severity
from tui.traffic.lint.rules_apps import check_tool_view
from tui.traffic.lint.rules_messages import Flaw, MessageCheck, quote
from tui.traffic.lint.rules_portable import check_portable
from tui.traffic.lint.server_session import LONG_NAME, MOST_TOOLS, SentRequest, ToolListing

MOST_OF_A_KIND = 5
"""Maximum findings of one code in one list. The last one gives the number of the others."""

LONG_DESCRIPTION = 8_192
"""Characters of a description; several clients truncate longer ones."""

MOST_SCHEMAS_JUDGED = 200
"""Maximum schemas of one list to validate. Only the root of the others is checked."""

TOOLS = "server/tools"
_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,128}")


class SchemaValidator(Protocol):
    """Validates against the SDK's models and JSON Schema. Used by one thread; may be slow."""

    def problems(
        self, revision: str, direction: Direction, role: str, method: str, value: Mapping[str, Any] | None
    ) -> Sequence[str]:
        """Return the problems of params or a result, each as a clause ("tools.0.name is missing").

        `role` is "request", "notification" (value: its params) or "result", `method` that of its request. An
        unknown revision has no problems.
        """

    def schema_problem(self, schema: Any) -> str:
        """Return why a JSON Schema is invalid, or ""."""

    def violation(self, schema: Mapping[str, Any], value: Any) -> str:
        """Return how a value violates a schema; "" if it does not, or could not be validated."""


def _count_the_rest(look: MessageCheck, start: int) -> None:
    """Keep a few flaws of each code after the first `start` ones, and count the others."""
    found, counts = look.said[start:], Counter[str]()
    rest: dict[str, Flaw] = {}
    del look.said[start:]
    for flaw in found:
        counts[flaw.code] += 1
        if counts[flaw.code] < MOST_OF_A_KIND:
            look.said.append(flaw)
        else:
            rest[flaw.code] = flaw
    for code, flaw in rest.items():
        more = counts[code] - MOST_OF_A_KIND
        if more:
            also = message("{count} more tools have the same finding.", count=f"{more:,}")
            flaw = flaw._replace(sentence=f"{flaw.sentence} {also}")
        look.said.append(flaw)


def check_list(
    look: MessageCheck, asked: SentRequest, result: Mapping[str, Any], judge: SchemaValidator | None
) -> None:
    """Check one page of `tools/list`."""
    tools, listing = result.get("tools"), look.session.listing
    if not isinstance(tools, list):
        return
    if asked.cursor is None:
        listing.walk, listing.outputs, listing.views, listing.parts = set(), {}, set(), 0
    said, names, known = len(look.said), list[str](), len(listing.walk)
    for index, tool in enumerate(tools[:MOST_TOOLS]):
        if not isinstance(tool, dict):
            continue
        name = tool.get("name")
        if isinstance(name, str):
            names.append(name[:LONG_NAME])
            _check_name(look, listing, name)
        shown = quote(name) if isinstance(name, str) else f"number {index + 1}"
        subject = name if isinstance(name, str) else shown
        _check_description(look, shown, subject, tool)
        _check_schemas(look, shown, subject, tool, judge if index < MOST_SCHEMAS_JUDGED else None)
        check_tool_view(look, shown, subject, tool)
        if isinstance(name, str):
            listing.keep_output(name[:LONG_NAME], tool.get("outputSchema"))
    if asked.cursor is not None and result.get("nextCursor") and names and len(listing.walk) == known:
        sentence = message("This page has no new tool, and another page follows. The list may never end.")
        look.error("endless-list", sentence, TOOLS)
    check_portable(look, tools[:MOST_SCHEMAS_JUDGED])
    _count_the_rest(look, said)
    _check_order(look, asked, listing, tuple(names))


def _check_name(look: MessageCheck, listing: ToolListing, name: str) -> None:
    if name[:LONG_NAME] in listing.walk:
        look.error(
            "duplicate-tool",
            message("The tool {name} is in the list more than once.", name=quote(name)),
            TOOLS,
            name,
        )
    elif len(listing.walk) < MOST_TOOLS:
        listing.walk.add(name[:LONG_NAME])
    if not _NAME.fullmatch(name):
        severity = Severity.WARNING if look.revision >= "2025-11-25" else Severity.HINT
        sentence = message(
            "The tool name {name} should be 1 to 128 of the characters A-Z a-z 0-9 _ - .", name=quote(name)
        )
        look.say("tool-name", severity, sentence, TOOLS, subject=name)


def _check_description(look: MessageCheck, shown: str, subject: str, tool: Mapping[str, Any]) -> None:
    said = tool.get("description")
    if said is None or (isinstance(said, str) and not said.strip()):
        sentence = message(
            "The tool {shown} has no description. A model has to guess its purpose.", shown=shown
        )
        look.hint("no-description", sentence, TOOLS, subject)
    elif isinstance(said, str) and len(said) > LONG_DESCRIPTION:
        sentence = message(
            "The description of {shown} has {count} characters. Most clients truncate it.",
            shown=shown,
            count=f"{len(said):,}",
        )
        look.hint("long-description", sentence, TOOLS, subject)
    # Imported late: it compiles many patterns.
    from tui.core.hidden_text.scan import in_definition, signs_of

    if hidden := in_definition(tool):
        look.warn(
            "hidden-text",
            message("The tool {shown} has hidden text: {hidden}.", shown=shown, hidden=signs_of(hidden)),
            TOOLS,
            subject,
        )


def _check_schemas(
    look: MessageCheck, shown: str, subject: str, tool: Mapping[str, Any], judge: SchemaValidator | None
) -> None:
    for key in ("inputSchema", "outputSchema"):
        schema = tool.get(key)
        if key == "inputSchema" and key not in tool:
            look.error(
                "bad-schema",
                message("The tool {shown} has no inputSchema.", shown=shown),
                TOOLS,
                f"{subject}.{key}",
            )
        elif schema is not None or key == "inputSchema":
            problem = _root_problem(schema, key == "inputSchema" or not is_modern(look.revision))
            if not problem and judge is not None:
                problem = judge.schema_problem(schema)
            if problem:
                look.error(
                    "bad-schema",
                    message("The {key} of {shown} {problem}.", key=key, shown=shown, problem=problem),
                    TOOLS,
                    f"{subject}.{key}",
                )


def _root_problem(schema: Any, object_wanted: bool) -> str:
    if not isinstance(schema, dict):
        return message("is not a JSON Schema object")
    kind = schema.get("type")
    if object_wanted and kind != "object":
        if "type" not in schema:
            return message('has no type at its root. It must be "object"')
        return message('has the type {type} at its root. It must be "object"', type=quote(str(kind), 30))
    kinds = kind if isinstance(kind, list) else [kind] if kind is not None else []
    if strange := [item for item in kinds if not isinstance(item, str) or item not in TYPES]:
        return message("has an unknown type {type}", type=quote(str(strange[0]), 30))
    if not isinstance(schema.get("properties", {}), dict):
        return message("has `properties` that are not an object")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(item, str) for item in required):
        return message("has a `required` that is not an array of names")
    return ""


def _check_order(
    look: MessageCheck, asked: SentRequest, listing: ToolListing, names: tuple[str, ...]
) -> None:
    before = listing.turn(asked.cursor, names)
    if before is None or before == names or sorted(before) != sorted(names):
        return
    place = next(index for index, pair in enumerate(zip(before, names, strict=True)) if pair[0] != pair[1])
    sentence = message(
        "The order of the tools changed: tool {number} was {before} and is now {now}.",
        number=place + 1,
        before=quote(before[place]),
        now=quote(names[place]),
    )
    severity = Severity.WARNING if is_modern(look.revision) else Severity.HINT
    look.say("unstable-order", severity, sentence, TOOLS, "2026-07-28")


def check_call_result(
    look: MessageCheck, asked: SentRequest, result: Mapping[str, Any], judge: SchemaValidator | None
) -> None:
    """Check the structured content of a tool's result."""
    schema = look.session.listing.outputs.get(asked.tool)
    if schema is None or is_tool_error(result) or look.revision < "2025-06-18":
        return
    if result.get("resultType", "complete") != "complete":
        return
    shown = quote(asked.tool)
    if "structuredContent" not in result:
        sentence = message(
            "The tool {shown} has an outputSchema, but its result has no structuredContent.", shown=shown
        )
        look.error("no-structured-content", sentence, TOOLS)
    elif judge is not None and not look.entry.redactions:
        # A redaction mark replaces what the server sent.
        if problem := judge.violation(schema, result["structuredContent"]):
            sentence = message(
                "The structuredContent of {shown} does not match its outputSchema: {problem}.",
                shown=shown,
                problem=problem,
            )
            look.error("structured-content", sentence, TOOLS)
