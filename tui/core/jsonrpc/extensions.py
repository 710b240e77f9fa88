"""The extensions of MCP (SEP-2133) that mcptui knows: what each is, and whether it is supported and declared.

The one table: the session declares from it, screens, commands and docs/protocol.md read it. What a server
declares is foreign, so ids and settings are raw here: clean them before they are shown. Stages and revisions
are those of the extensions' own pages in November 2026.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

from tui.core.addons import brings
from tui.core.jsonrpc.client_profile import ClientProfile
from tui.core.jsonrpc.protocol import MODERN, is_modern
from tui.core.language.translate import N_, altered, message
from tui.core.text import clean_line, object_in

PREFIX = "io.modelcontextprotocol/"
SKILLS, EVENTS, TASKS, UI = (f"{PREFIX}{name}" for name in ("skills", "events", "tasks", "ui"))
CLIENT_CREDENTIALS = f"{PREFIX}oauth-client-credentials"
ENTERPRISE = f"{PREFIX}enterprise-managed-authorization"

MAX_EXTENSIONS = 40
"""Maximum extensions of a server that are looked at."""

DEPRECATED_SINCE = MODERN
DEPRECATED = {
    "roots": N_("Roots are deprecated. Pass directories as arguments or configuration."),
    "sampling": N_("Sampling is deprecated. Servers call a model themselves."),
    "logging": N_("Logging is deprecated. Use stderr or OpenTelemetry."),
}
"""Capabilities of both sides that are deprecated (SEP-2577), each with what to do. The wire is as before."""


class Support(StrEnum):
    """Whether mcptui supports an extension."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"


class Declared(StrEnum):
    """When mcptui declares an extension."""

    ALWAYS = "always"
    BY_SIGN_IN = "for servers that are signed in to this way"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Extension:
    """One extension of the table.

    Attributes:
        sep: the proposal that defines it: "SEP-2640".
        stage: "experimental", "beta", "stable" or "draft".
        since: the first revision that it works with; "" for any.
        note: what is special about the support, a sentence, or "".
        addon: the add-on that brings it, without which it is not declared; "" for none.
        methods: its methods, or what they begin with; a client sends none that was not declared.
        revisions: values of a `revision` in the settings that mcptui knows; settings without one are fine.
    """

    id: str
    title: str
    sep: str
    stage: str
    support: Support
    declared: Declared
    since: str = ""
    note: str = ""
    addon: str = ""
    methods: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()

    @property
    def is_installed(self) -> bool:
        return not self.addon or _is_installed(self.addon)


@cache
def _is_installed(addon: str) -> bool:
    return brings(addon) is not None


EXTENSIONS: Mapping[str, Extension] = {
    one.id: one
    for one in (
        Extension(
            SKILLS,
            "Skills",
            "SEP-2640",
            "beta",
            Support.YES,
            Declared.ALWAYS,
            MODERN,
            addon="skills",
            methods=("skills/", "resources/directory/"),
        ),
        Extension(
            EVENTS,
            "Events",
            "SEP-3415",
            "beta",
            Support.PARTLY,
            Declared.ALWAYS,
            MODERN,
            message("Poll and stream. Webhooks need a public address."),
            addon="events",
            methods=("events/",),
        ),
        Extension(
            TASKS, "Tasks", "SEP-2663", "beta", Support.YES, Declared.ALWAYS, MODERN, methods=("tasks/",)
        ),
        Extension(
            UI,
            "Apps",
            "SEP-1865",
            "stable",
            Support.PARTLY,
            Declared.NEVER,
            note=message(
                "Not rendered. Tools with a user interface work with text, and their HTML can be read."
            ),
        ),
        Extension(
            CLIENT_CREDENTIALS,
            "OAuth client credentials",
            "SEP-1046",
            "stable",
            Support.YES,
            Declared.BY_SIGN_IN,
        ),
        Extension(
            ENTERPRISE,
            "Enterprise-managed authorization",
            "SEP-990",
            "stable",
            Support.YES,
            Declared.BY_SIGN_IN,
            addon="enterprise_sign_in",
        ),
        Extension(
            f"{PREFIX}files", "Files", "SEP-2631", "draft", Support.NO, Declared.NEVER, MODERN
        ),
        Extension(f"{PREFIX}auth/dpop", "DPoP", "SEP-1932", "draft", Support.NO, Declared.NEVER),
        Extension(
            f"{PREFIX}auth/wif", "Workload identity", "SEP-1933", "draft", Support.NO, Declared.NEVER
        ),
    )
}  # fmt: skip
"""The known extensions, by id."""


def off_method(method: str, switches: Mapping[str, bool]) -> str:
    """Return the id of the extension that a method belongs to, if that is turned off; or ""."""
    for name, on in switches.items():
        if not on and name in EXTENSIONS and method.startswith(EXTENSIONS[name].methods or "\0"):
            return name
    return ""


def why_unused(uses: Iterable["ExtensionUse"], name: str) -> str:
    """Return why the extension with this id is not used although a server may offer it, or ""."""
    return next((one.unused for one in uses if one.id == name), "")


def unknown_revision(name: str, settings: Mapping[str, Any]) -> str:
    """Return the revision of an extension that a server declares and mcptui does not know, or ""."""
    said, known = settings.get("revision"), EXTENSIONS.get(name)
    return said if isinstance(said, str) and known is not None and said not in known.revisions else ""


class Use(StrEnum):
    """What becomes of an extension with one server."""

    IN_USE = N_("in use")
    OFF = N_("off")
    NOT_USED = N_("not used")
    NOT_SUPPORTED = N_("not supported")
    NOT_OFFERED = N_("not offered")


@dataclass(frozen=True, slots=True)
class ExtensionUse:
    """An extension between mcptui and one server.

    Attributes:
        id: raw, as the server names it.
        known: its row of the table, None if mcptui does not know it.
        settings: what the server declares; None if it does not declare it.
        declared: whether mcptui declares it to the server.
        why: why it is not used although both could, a few words, or "".
    """

    id: str
    use: Use
    known: Extension | None = None
    settings: Mapping[str, Any] | None = None
    declared: bool = False
    why: str = ""

    @property
    def name(self) -> str:
        """Its title, or the cleaned id of one that mcptui does not know."""
        return self.known.title if self.known is not None else clean_line(self.id, 80)

    @property
    def declared_by(self) -> str:
        """Return who declares it, in words."""
        if self.settings is None:
            return message("declared by mcptui only") if self.declared else message("not declared")
        both = message("declared by the server and by mcptui")
        return both if self.declared else message("declared by the server only")

    @property
    def usable(self) -> Mapping[str, Any] | None:
        """The settings, if the extension can be used; what mcptui does not know is up to whoever asks."""
        return self.settings if self.use in (Use.IN_USE, Use.NOT_SUPPORTED) else None

    @property
    def unused(self) -> str:
        """Why it is not used with a server that offers it, or may do so, in a sentence; or ""."""
        if self.use is Use.OFF:
            return message("{extension} is turned off for this server.", extension=self.name)
        said = message("{extension} is not used with this server: {why}.", extension=self.name, why=self.why)
        return said if self.why else ""

    @property
    def can_switch(self) -> bool:
        """Whether turning it on or off changes what is declared or sent."""
        return self.known is not None and self.known.declared is not Declared.NEVER


@dataclass(frozen=True, slots=True)
class OurSide:
    """What decides, on our side, which extensions are declared to a server and used with it.

    Attributes:
        version: the protocol version, "" before one is agreed on.
        switches: the extensions that the user has turned on or off for the server.
        sign_in: the id of the extension by which it is signed in to, or "".
        profile: the host that mcptui acts as, which decides alone what is declared.
    """

    version: str = ""
    switches: Mapping[str, bool] = field(default_factory=dict)
    sign_in: str = ""
    profile: ClientProfile | None = None

    @property
    def declared(self) -> dict[str, Any]:
        """The extensions that are declared to the server, with their settings.

        In the legacy era, only those without a first revision: the others are not defined there.
        """
        if self.profile is not None:
            theirs = object_in(self.profile.capabilities, "extensions").items()
            return {name: settings for name, settings in theirs if self.switches.get(name, True)}
        return {
            name: {}
            for name, one in EXTENSIONS.items()
            if (one.declared is Declared.ALWAYS or name == self.sign_in)
            and (is_modern(self.version) or not one.since)
            and self.switches.get(name, True)
            and one.is_installed
        }

    def use_of(self, name: str, theirs: Any) -> ExtensionUse:
        """Return what becomes of an extension; `theirs` is the member `extensions` of the server."""
        offered = isinstance(theirs, Mapping) and name in theirs
        settings = object_in(theirs, name) if offered else None
        known, ours = EXTENSIONS.get(name), self.declared
        use, why = self._use(name, settings, known, name in ours)
        return ExtensionUse(name, use, known, settings, name in ours, why)

    def _use(
        self, name: str, settings: Mapping[str, Any] | None, known: Extension | None, ours: bool
    ) -> tuple[Use, str]:
        if not self.switches.get(name, True):
            return Use.OFF, ""
        if settings is None:
            return Use.NOT_OFFERED, ""
        if known is None or known.support is Support.NO:
            return Use.NOT_SUPPORTED, ""
        if revision := unknown_revision(name, settings):
            shown = clean_line(revision, 40)
            return Use.NOT_USED, message("its revision {revision} is not known here", revision=shown)
        if not known.is_installed:
            addon = known.addon
            return Use.NOT_USED, message("needs the add-on {addon}, which is not installed", addon=addon)
        if known.declared is Declared.NEVER:
            return Use.NOT_USED, altered(known.note, lambda said: re.split("[.。]", said)[0].lower())
        if not ours and self.profile is not None:
            host = clean_line(str(self.profile.info.get("name")), 40)
            return Use.NOT_USED, message("{host} does not declare it", host=host)
        if not ours and known.declared is Declared.BY_SIGN_IN:
            return Use.NOT_USED, message("not how this server is signed in to")
        return Use.IN_USE, ""

    def uses(self, theirs: Any) -> list[ExtensionUse]:
        """Return all extensions of both sides: known ones first, then those of the server in its order.

        So that what is in use is seen, whatever a server declares before it.
        """
        said = list(map(str, theirs))[:MAX_EXTENSIONS] if isinstance(theirs, Mapping) else []
        off = [name for name, on in self.switches.items() if not on]
        found = [self.use_of(name, theirs) for name in dict.fromkeys((*said, *self.declared, *off))]
        return sorted(found, key=lambda one: one.known is None)
