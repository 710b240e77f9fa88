"""A rule for each provider of models: the tools that it does not accept as the server defines them. Pure.

Each provider has one finding for a list, not one for each tool, and none for the next list with the same
tools, so that it does not hide what is wrong by the protocol.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.language.translate import N_, message, n_message
from tui.core.schemas.portability import Effect, Provider, rejections
from tui.core.units import and_more
from tui.traffic.lint.result_cache import digest_of
from tui.traffic.lint.rules_messages import MessageCheck, quote
from tui.traffic.lint.server_session import MOST_PAGES

PORTABLE: Mapping[Provider, str] = {
    Provider.OPENAI_STRICT: "portable-openai",
    Provider.ANTHROPIC: "portable-anthropic",
    Provider.GEMINI: "portable-google",
}
"""The code of the rule for each provider."""

_NAMES = {Provider.OPENAI_STRICT: "OpenAI's strict mode", Provider.GEMINI: "Google"}
_EFFECTS = (Effect.REJECTED, Effect.IGNORED)
"""Not what hosts rewrite: nearly all tools have optional arguments."""

_INVALID = ("bad-schema", "tool-name")
"""Codes of findings about a definition that is not valid for any client."""

SHOWN = 3


def check_portable(look: MessageCheck, tools: Sequence[Any]) -> None:
    """Report the tools of a list that a provider rejects, or of whose schemas it ignores a part."""
    judged, digest = look.session.listing.judged, digest_of(tools)
    if digest in judged:
        return
    if len(judged) >= MOST_PAGES:
        judged.clear()
    judged.add(digest)
    found: dict[Provider, list[str]] = {provider: [] for provider in PORTABLE}
    known = {flaw.subject.removesuffix(".inputSchema") for flaw in look.said if flaw.code in _INVALID}
    for tool in tools:
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or name in known:
            continue
        reasons: dict[Provider, str] = {}
        for why, providers in rejections(name, tool.get("inputSchema"), tuple(PORTABLE), _EFFECTS).items():
            for provider in providers:
                reasons.setdefault(provider, why)
        for provider, why in reasons.items():
            found[provider].append(f"{quote(name, 40)}: {why}")
    for provider, named in found.items():
        if named:
            rejects = N_("{provider} rejects {count} of {tools} if sent unchanged. {names}.")
            if provider is Provider.GEMINI:
                rejects = N_("{provider} may reject {count} of {tools} if sent unchanged. {names}.")
            sentence = message(
                rejects,
                provider=_NAMES.get(provider, provider),
                count=f"{len(named):,}",
                tools=n_message("{n} tool", "{n} tools", len(tools)),
                names=and_more(named, SHOWN),
            )
            look.hint(PORTABLE[provider], sentence)
