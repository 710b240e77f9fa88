"""Checks a parsed configuration entry by entry, so that one mistake costs one entry and not the file."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tui.core.addons import missing
from tui.core.errors import dotted
from tui.core.language.translate import N_, message
from tui.core.permission.rules import Rule, RuleError, Verdict, parse_rule
from tui.core.text import clean_line
from tui.settings.key_positions import KeyPath
from tui.settings.names import name_fault, snippet_fault
from tui.settings.problems import Problem, did_you_mean
from tui.settings.schema import (
    ApprovalSettings,
    IdentityProviderSettings,
    ModelSettings,
    Section,
    ServerSettings,
    Settings,
)

SectionT = TypeVar("SectionT", bound=Section)

ASK_ABOUT_EVERYTHING = "*/*"
"""The rule that is added if the approvals cannot be read completely."""


@dataclass(slots=True)
class Checker:
    """Converts a tree of plain values to `Settings`, and collects the problems of what is omitted.

    `unresolved` are paths of values that could not be expanded; what contains them is omitted.
    """

    tree: Mapping[str, Any]
    unresolved: set[KeyPath] = field(default_factory=set)
    faults: list[Problem] = field(default_factory=list)

    def settings(self) -> Settings:
        """Return the usable settings."""
        for key in self.tree:
            if key not in Settings.model_fields:
                hint = did_you_mean(key, Settings.model_fields, _SECTION_SYNONYMS)
                self.faults.append(Problem(UNKNOWN_KEY, (key,), hint))
            elif needed := missing("setting", key):
                self.faults.append(Problem(needed, (key,)))
        default = self.tree.get("default_model")
        if default is not None and not isinstance(default, str):
            self.faults.append(Problem(_not_a(_STRING, default), ("default_model",)))
            default = None
        known = {str(key) for key in self._table("models")}
        if default is not None and default not in known and ("default_model",) not in self.unresolved:
            said = message("[{table}] not found", table=dotted(("models", default)))
            self.faults.append(Problem(said, ("default_model",), did_you_mean(default, known)))
        sections = ((name, field.annotation) for name, field in Settings.model_fields.items())
        others: dict[str, Any] = {
            name: self._section(name, section)
            for name, section in sections
            if name != "approvals" and isinstance(section, type) and issubclass(section, Section)
        }
        providers = self._entries("identity_providers", IdentityProviderSettings)
        return Settings(
            default_model=default,
            models=self._entries("models", ModelSettings),
            servers=self._with_providers(self._entries("servers", ServerSettings), providers),
            identity_providers=providers,
            approvals=self._approvals(),
            snippets=self._snippets(),
            **others,
        )

    def _table(self, name: str) -> Mapping[str, Any]:
        found = self.tree.get(name, {})
        if isinstance(found, Mapping):
            return found
        if not any(fault.keys == (name,) for fault in self.faults):
            self.faults.append(Problem(_not_a(_TABLE, found), (name,)))
        return {}

    def _is_unresolved(self, path: KeyPath) -> bool:
        return any(bad[: len(path)] == path for bad in self.unresolved)

    def _entries(self, name: str, model: type[SectionT]) -> dict[str, SectionT]:
        entries: dict[str, SectionT] = {}
        for key, value in self._table(name).items():
            path = (name, key)
            if fault := name_fault(key):
                self.faults.append(Problem(fault, path))
                continue
            try:
                entry = model.model_validate(value)
            except ValidationError as error:
                found = _faults(error, path, model)
                self.faults.extend(fault for fault in found if fault.keys not in self.unresolved)
            else:
                needed = missing("transport", entry.kind) if isinstance(entry, ServerSettings) else ""
                for one in ("watch", "card") if isinstance(entry, ServerSettings) else ():
                    if getattr(entry, one) and (lacks := missing("key", one)):
                        self.faults.append(Problem(lacks, (*path, one)))
                if needed:
                    self.faults.append(Problem(needed, path))
                elif not self._is_unresolved(path):
                    entries[key] = entry
        return entries

    def _with_providers(
        self, servers: dict[str, ServerSettings], providers: Mapping[str, object]
    ) -> dict[str, ServerSettings]:
        """Leave out servers whose identity provider is unknown: another sign-in must not take its place."""
        for name, entry in list(servers.items()):
            wanted = entry.oauth.identity_provider
            if wanted is not None and wanted not in providers:
                table = dotted(("identity_providers", wanted))
                said = message("[{table}] not found, or invalid", table=table)
                path = ("servers", name, "oauth", "identity_provider")
                self.faults.append(Problem(said, path, did_you_mean(wanted, providers)))
                del servers[name]
        return servers

    def _section(self, name: str, model: type[SectionT]) -> SectionT:
        """Check one table. A value with a fault keeps its default."""
        values = dict(self._table(name))
        try:
            model.model_validate(values)
        except ValidationError as error:
            found = list(_faults(error, (name,), model))
            self.faults.extend(found)
            for fault in found:
                values.pop(str(fault.keys[1]) if len(fault.keys) > 1 else "", None)
        for bad in self.unresolved:
            if bad[0] == name and len(bad) > 1:
                values.pop(str(bad[1]), None)
        return model.model_validate(values)

    def _snippets(self) -> dict[str, str]:
        good: dict[str, str] = {}
        for name, text in self._table("snippets").items():
            path = ("snippets", name)
            if fault := snippet_fault(name, text):
                self.faults.append(Problem(fault, path))
            elif not self._is_unresolved(path):
                good[name] = str(text)
        return good

    def _approvals(self) -> ApprovalSettings:
        """Check the approvals. An unreadable rule must not let mcptui do more than the user allowed."""
        before = len(self.faults)
        section = self._section("approvals", ApprovalSettings)
        if len(self.faults) == before and not self._is_unresolved(("approvals",)):
            return section
        kept = [rule.pattern for rule in self._rules() if rule.action is Verdict.DENY]
        return section.model_copy(
            update={"rules": [], "allow": [], "ask": [ASK_ABOUT_EVERYTHING], "deny": kept}
        )

    def _rules(self) -> Iterator[Rule]:
        table = self._table("approvals")
        for name, action in (("rules", None), ("deny", Verdict.DENY)):
            texts = table.get(name, [])
            for text in [texts] if isinstance(texts, str) else texts if isinstance(texts, list) else []:
                with suppress(RuleError):
                    yield parse_rule(text if isinstance(text, str) else "", action)


_KINDS = (
    (bool, message("true or false")),
    (str, message("a string")),
    (int | float, message("a number")),
    (list, message("an array")),
    (Mapping, message("a table")),
    (type(None), message("nothing")),
)


def kind_of(value: object) -> str:
    """Return what a value is, in the words of TOML."""
    return next((words for kind, words in _KINDS if isinstance(value, kind)), message("a date or time"))


UNKNOWN_KEY = message("unknown key")
_STRING, _TABLE = message("must be a string"), message("must be a table")

_EXPECTED = {
    "string_type": _STRING,
    **dict.fromkeys(("int_type", "int_from_float"), message("must be an integer")),
    "float_type": message("must be a number"),
    "bool_type": message("must be true or false"),
    "list_type": message("must be an array"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), _TABLE),
}
_BOUNDS = {
    "greater_than_equal": (N_("must be at least {limit}"), "ge"),
    "greater_than": (N_("must be more than {limit}"), "gt"),
    "less_than_equal": (N_("must be at most {limit}"), "le"),
    "less_than": (N_("must be less than {limit}"), "lt"),
}


def _not_a(expected: str, value: object) -> str:
    return message("{expected}, not {found}", expected=expected, found=kind_of(value))


def _message(detail: ErrorDetails) -> str:
    """Return our message for a problem, without the value, which may be a secret."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in _EXPECTED:
        return _not_a(_EXPECTED[kind], detail["input"])
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return message(words, limit=context[key])
    match kind:
        case "missing":
            return message("is missing")
        case "literal_error":
            return message("must be {value}", value=str(context["expected"]).replace("'", "`"))
        case "value_error":
            return str(context["error"])
        case "string_too_short" | "too_short":
            return message("must not be empty")
        case "finite_number":
            return message("must be finite")
        case _:
            return clean_line(detail["msg"])


def _faults(error: ValidationError, path: KeyPath, model: type[Section]) -> Iterator[Problem]:
    for detail in error.errors(include_url=False):
        place = detail["loc"]
        if place[-1:] == ("[key]",) and place[-2:-1] == (detail["input"],):  # of the key of a table
            place = place[:-1]
        where = (*path, *place)
        if detail["type"] == "extra_forbidden":
            from tui.settings.foreign.entry import SAME  # rarely needed

            hint = did_you_mean(str(detail["loc"][-1]), model.model_fields, {**SAME, **_SYNONYMS})
            yield Problem(UNKNOWN_KEY, where, hint)
        else:
            yield Problem(_message(detail), where)


_SYNONYMS = {
    "type": "transport",
    "timeout": "tool_seconds",
    "enabled": "disabled",
    "max_iterations": "max_steps",
    "tokens": "max_tokens",
}
"""Names that other hosts use: a better guess than any similar spelling."""

_SECTION_SYNONYMS = {
    "rules": "approvals",
    "permissions": "approvals",
    "mcp_servers": "servers",
    "profiles": "models",
    "theme": "ui",
    "keys": "ui",
}
"""Section names that a user may expect, from words on screen or from other hosts, and the right ones."""
