"""What providers of models make of the tools of a server: names, schemas, tokens. Pure."""

from collections.abc import Mapping, Sequence

from tui.addons.doctor.steps import Step
from tui.core.context.context_parts import DefinitionTokens, token_words
from tui.core.language.translate import message, n_message
from tui.core.schemas.portability import Provider, rejections
from tui.core.schemas.schema_forms import SchemaForm, in_form
from tui.core.schemas.schemas import SchemaRefused, model_schema
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.units import and_more

MANY_TOKENS = 10_000
SHOWN = 3
_EVERY = message("every provider")


def schema_step(tools: Sequence[Tool], omitted: Sequence[tuple[str, str]]) -> Step:
    """Judge the definitions as a host sends them that changes nothing."""
    if omitted:
        name, why = omitted[0]
        about = {"provider": _EVERY, "name": clean_line(name, 60), "problem": clean_line(why, 200)}
        seen = message("{provider}: {name}: {problem}", **about)
        if len(omitted) > 1:
            seen = message("{seen} ({n} more)", seen=seen, n=len(omitted) - 1)
        return Step.failed("schemas", seen, message("correct the tool's definition"))
    rejected: dict[str, list[str]] = {}
    for tool in tools:
        for provider, why in _rejections(tool.name, tool.schema):
            problem = message("{provider}: {problem}", provider=provider, problem=why)
            rejected.setdefault(problem, []).append(clean_line(tool.name, 60))
    if rejected:
        told = [
            message("{problem} ({names})", problem=why, names=and_more(names, SHOWN))
            for why, names in rejected.items()
        ]
        seen = told[0]
        for one in told[1:]:
            seen = message("{first}; {others}", first=seen, others=one)
        fix = message("correct it. mcptui sends a converted definition, other hosts may not")
        return Step.failed("schemas", seen, fix)
    converted = [tool.name for tool in tools if _is_simplified(tool.schema)]
    seen = message("OpenAI, Anthropic, Moonshot, Google accept all")
    if converted:
        seen = message(
            "OpenAI, Anthropic accept all. Simplified for Moonshot and Google: {names}",
            names=and_more(converted, SHOWN),
        )
    return Step("schemas", seen if tools else message("no tools"))


def _rejections(name: str, schema: Mapping[str, object]) -> list[tuple[str, str]]:
    asked = (Provider.OPENAI, Provider.ANTHROPIC, Provider.GEMINI, Provider.MOONSHOT)
    found = [
        (_EVERY if len(providers) == len(asked) else ", ".join(providers), why)
        for why, providers in rejections(name, schema, asked).items()
    ]
    try:
        model_schema(schema)
    except SchemaRefused as error:
        found.append((_EVERY, clean_line(str(error), 120)))
    return found


def _is_simplified(schema: Mapping[str, object]) -> bool:
    sent = model_schema(schema)
    return any(
        _keywords(in_form(sent, form)) < _keywords(sent) for form in (SchemaForm.KIMI, SchemaForm.GEMINI)
    )


def _keywords(schema: object) -> int:
    if isinstance(schema, Mapping):
        return len(schema) + sum(map(_keywords, schema.values()))
    return sum(map(_keywords, schema)) if isinstance(schema, list) else 0


def token_step(tokens: DefinitionTokens | None) -> Step:
    """Say what the definitions cost in each request to a model."""
    if tokens is None or not tokens.tools:
        return Step("tokens", message("none"))
    largest = sorted(tokens.tools, key=lambda name: -tokens.tools[name])[:SHOWN]
    each = [f"{clean_line(name, 40)} {token_words(tokens.tools[name], tokens.measured)}" for name in largest]
    seen = n_message(
        "{tokens} for {n} tool in every request, most: {names}",
        "{tokens} for {n} tools in every request, most: {names}",
        len(tokens.tools),
        tokens=tokens.words(),
        names=", ".join(each),
    )
    if tokens.total > MANY_TOKENS:
        return Step.warning("tokens", seen, message("shorten descriptions, or turn tools off (`off`)"))
    return Step("tokens", seen)
