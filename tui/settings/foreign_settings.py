"""Allowlist of the settings that apply in a configuration file that is not the user's own. Pure.

Somebody else may have written the file. Its servers and models apply, each after the user's consent, and
settings that only restrict. A setting that is not listed here does not apply.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from tui.core.errors import dotted
from tui.core.language.translate import message
from tui.core.permission.rules import Verdict
from tui.core.text import clean_line
from tui.core.units import and_more
from tui.settings.key_positions import KeyPath
from tui.settings.load import Loaded
from tui.settings.problems import Problem
from tui.settings.schema import (
    ApprovalSettings,
    EventRuleSettings,
    EventsSettings,
    IdentityProviderSettings,
    LimitSettings,
    ModelSettings,
    OAuthSettings,
    RegistrySettings,
    Section,
    ServerOAuthSettings,
    ServerSettings,
    Settings,
    TelemetrySettings,
    TrafficSettings,
    UiSettings,
    UpSettings,
)
from tui.settings.specs import approval_rules

SectionT = TypeVar("SectionT", bound=Section)

MAX_NAMED = 12
"""Maximum number of settings that the note names."""

_FLAG = message("this is not your own configuration file, so this applies only with --trust-config")


def _used(use: str, value: Any, default: Any) -> Any:
    match use:
        case "as it is":
            return value
        case "if lower" if default is None:  # no limit
            return value
        case "if lower" if value is not None:
            return min(value, default)
        case "if false":
            return default if value else value
        case "if asking":
            return "ask" if value == "allow" else value
    return default


def _all(use: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), use)


USES: Mapping[type[Section], Mapping[str, str]] = {
    Settings: {
        "default_model": "as it is",  # a profile of the file, which needs consent itself
        "snippets": "ignored",
    },
    # The consent question shows what determines which programs run and what is sent where. Consent ends if
    # that changes.
    ServerSettings: {
        **_all("as it is", "command args env cwd transport url era headers source"),
        **_all("as it is", "autostart restart start_seconds disabled pin off log_level"),
        **_all("as it is", "tool_seconds tool_max_seconds"),
        **_all("as it is", "secret_arguments extensions"),  # they can only take something away
        **_all("ignored", "accept_changes act_as card faults instructions offer_resources"),
        **_all("ignored", "send_as_is roots watch"),
        "trusted": "if false",
        "sampling": "if asking",
        **_all("if lower", "sampling_tokens sampling_per_minute"),
    },
    ServerOAuthSettings: _all(
        "as it is",
        "grant client_id client_secret scopes issuer callback_port client_metadata_url private_key"
        " private_key_algorithm identity_provider",
    ),
    # Each server that names one shows it in its question.
    IdentityProviderSettings: _all("as it is", "issuer client_id client_secret scopes callback_port"),
    ModelSettings: {
        **_all("as it is", "model base_url api_key_env api_key headers system extra_body"),
        **_all("as it is", "temperature max_tokens reasoning_effort top_p seed stop context_window titles"),
        **_all("as it is", "price_in price_cached price_out currency tool_protocol"),
        **_all("as it is", "first_token_seconds between_chunks_seconds"),
    },
    LimitSettings: _all(
        "if lower",
        "max_steps max_tool_calls max_calls_per_reply turn_seconds tool_seconds tool_max_seconds"
        " consecutive_errors identical_calls_note identical_calls_stop result_bytes parallel_calls"
        " turn_tokens turn_cost",
    ),
    ApprovalSettings: {
        # Of `rules`, `Approvals` ignores those that allow; the others keep their numbers.
        **_all("as it is", "rules ask deny"),
        **_all("ignored", "allow remembered"),
    },
    TrafficSettings: _all("ignored", "record keep_all recording_mb silent_hold traceparent total_mb"),
    OAuthSettings: _all("ignored", "client_metadata_url"),
    EventsSettings: _all("ignored", "act"),
    UpSettings: _all("as it is", "attach"),  # the default allows the most
    EventRuleSettings: _all("ignored", "on prompt profile turns_per_hour turns_per_day cost_per_day"),
    RegistrySettings: _all("as it is", "url"),  # `mcptui search` and `add` decide whether it is contacted
    # It sends what servers and models say to somebody.
    TelemetrySettings: _all("ignored", "endpoint headers content metrics insecure"),
    UiSettings: {
        "theme": "as it is",  # a theme that ships with mcptui, or the user's own
        "keys": "ignored",  # keys answer questions
        **_all("as it is", "language ambiguous_width"),
        **_all("ignored", "notify bell"),  # whether to be called is the user's choice
    },
}
"""How each setting of a table is used. Nested tables have their own entries."""


def applicable_settings(loaded: Loaded) -> Loaded:
    """Return another person's configuration with the settings that apply. A problem names the others."""
    settings, dropped = _narrowed(loaded.settings, ())
    dropped += _allowing(loaded)
    if not dropped:
        return loaded
    named = and_more([dotted(path) for path in dropped], MAX_NAMED)
    note = Problem(
        message(
            "this is not your own configuration file. These settings are ignored: {names}. To use all of it, "
            "start with --trust-config.",
            names=named,
        ),
        file=clean_line(str(loaded.path), 400),
        warning=True,
    )
    return replace(loaded, settings=settings, problems=(*loaded.problems, note))


def unused_settings(loaded: Loaded) -> list[Problem]:
    """Return a warning for each setting that does not apply because the file is not the user's own."""
    paths = [*_narrowed(loaded.settings, ())[1], *_allowing(loaded)]
    return [loaded.located(Problem(_FLAG, path, warning=True)) for path in paths]


def _allowing(loaded: Loaded) -> list[KeyPath]:
    rules = approval_rules(loaded.settings.approvals).rules
    return [
        ("approvals", "rules", rule.number - 1)
        for rule in rules
        if rule.action is Verdict.ALLOW and rule.origin == "rules"
    ]


def _narrowed(section: SectionT, path: KeyPath) -> tuple[SectionT, list[KeyPath]]:
    uses = USES.get(type(section), {})
    update: dict[str, Any] = {}
    dropped: list[KeyPath] = []
    for name, field in type(section).model_fields.items():
        value, here = getattr(section, name), (*path, name)
        found: Any
        if isinstance(value, Section):
            found, inner = _narrowed(value, here)
            dropped += inner
        elif isinstance(value, dict) and any(isinstance(one, Section) for one in value.values()):
            found = {}
            for key, one in value.items():
                found[key], inner = _narrowed(one, (*here, key))
                dropped += inner
        else:
            default = field.get_default(call_default_factory=True)
            found = _used(uses.get(name, "ignored"), value, default)
            if found != value:
                dropped.append(here)
        if found != value:
            update[name] = found
    return (section.model_copy(update=update) if update else section), dropped
