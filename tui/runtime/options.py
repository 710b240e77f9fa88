"""The options of the command line that the runtime needs."""

import argparse
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.core.permission.approval_policy import Mode
from tui.core.ports import BY_KEY
from tui.core.servers import SamplingRule, ServerSpec

if TYPE_CHECKING:
    from tui.model.endpoints.profile import ModelProfile

_UNSAVED = frozenset({"run", "call", "read", "prompt", "list"})
"""Commands that save a conversation only if one is named."""

_SAME = ("config", "model", "demo", "theme", "max_steps", "session", "resume", "command", "trust_config")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command line."""

    config: str | None = None
    model: str | None = None
    demo: bool = False
    theme: str | None = None
    start: bool = True
    max_steps: int | None = None
    mode: Mode = Mode.ASK
    disabled_too: bool = False
    """Whether disabled and invalid servers are listed, to be enabled or signed out."""
    paced: bool = True
    """Whether the demo model writes slowly, like a real one, for a screen."""
    save: bool = True
    """Whether conversations are saved."""
    session: str | None = None
    resume: bool = False
    server: ServerSpec | None = None
    """The only server, instead of the configured ones."""
    opens: str = ""
    """The server whose workbench is opened first, or ""."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Its secrets, by displayable name."""
    sampling: SamplingRule | None = None
    """Whether servers may ask the model; None: as configured."""
    project: bool | None = None
    """Whether to use the project instructions of the folder; None to ask the user."""
    trusted: tuple[str, ...] = ()
    """Servers that are trusted in this run."""
    roots: tuple[str, ...] = ()
    """Directories to report to servers as their roots, instead of the configured ones."""
    command: str = ""
    """The name of the command, "" for the app."""
    trust_config: bool = False
    """Whether to trust a configuration file that is not the user's own, and start its servers without
    asking."""
    accept_all: bool = False
    """Whether each definition of a tool counts as accepted, and none is stored: a test file decides what is
    called."""

    @property
    def hand(self) -> str:
        """The decider recorded for actions of the user without a model: a key or a command."""
        return f"command mcptui {self.command}" if self.command else BY_KEY

    @classmethod
    def from_args(cls, args: argparse.Namespace) -> "Options":
        """Return the options of a parsed command line. Missing options keep their defaults."""
        given = vars(args)
        command = given.get("command")
        return cls(
            **{name: given[name] for name in _SAME if given.get(name) is not None},
            start=not (given.get("no_start") or given.get("no_servers")),
            mode=Mode(given.get("approve") or Mode.ASK),
            disabled_too=command in (None, "logout", "remove"),
            paced=command is None,
            # A script's question is not saved, unless a session is named.
            save=command not in _UNSAVED or bool(given.get("session") or given.get("resume")),
            sampling=SamplingRule(given["sampling"]) if given.get("sampling") else None,
            project=None if command is None else bool(given.get("project_instructions")),
            roots=tuple(given.get("root") or ()),
            trusted=tuple(given.get("trust") or ()),
        )

    def applied(self, spec: ServerSpec, source: str = "") -> ServerSpec:
        """Return a server with the options of the command line. `source` is its origin, or ""."""
        found = replace(spec, source=source) if source else spec
        found = found if self.sampling is None else replace(found, sampling=self.sampling)
        found = replace(found, trusted=True) if spec.name in self.trusted else found
        return replace(found, roots=absolute(self.roots)) if self.roots else found

    def with_server(self, server: ServerSpec, secrets: Mapping[str, str]) -> "Options":
        """Return these options with a server in place of the configured ones."""
        return replace(self, server=server, secrets=secrets)


def absolute(folders: Iterable[str]) -> tuple[str, ...]:
    """Return the absolute paths of typed folders, with "~" expanded."""
    return tuple(os.path.abspath(os.path.expanduser(folder)) for folder in folders)


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model that was chosen over the configuration: by the command line, the user, or a conversation.

    `model` is another id that the endpoint offers, or "". `effort` is None for the profile's own.
    """

    name: str
    model: str = ""
    effort: str | None = None

    def applied(self, profile: "ModelProfile | None") -> "ModelProfile | None":
        """Return the profile with this model and effort."""
        if profile is None:
            return None
        found = profile.with_model(self.model) if self.model not in ("", profile.model) else profile
        return found if self.effort is None else replace(found, effort=self.effort)
