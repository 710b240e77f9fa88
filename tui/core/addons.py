"""The table of add-ons: what each brings, and how the rest of mcptui gets it.

An add-on is a folder in `tui/addons`. For each kind and name of this table, the `BRINGS` of its `addon.py`
has a value, or the text `package.module:name`, which is imported when it is used. Whoever wants one gets
it by name here, so that nothing imports a folder that may be missing. The table is in the core because
commands, runtime, host and settings ask it. Loads the standard library only.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from typing import Any

ADDONS: "Mapping[str, Mapping[str, tuple[str, ...]]]" = {
    "act_as": {"key": ("act_as",), "service": ("acting host", "acting facts", "dropped tools")},
    "agent": {
        "command": ("agent",),
        "parser": ("agent",),
        "door": ("agent.permit", "agent.tools", "agent.call_tool", "agent.restart_server"),
    },
    "apps": {"action": ("bench.app",), "service": ("app page",)},
    "cards": {"flags": ("add", "check"), "key": ("card",), "service": ("domain", "card check", "card facts")},
    "demo": {"model": ("demo",)},
    "doctor": {
        "command": ("doctor",),
        "parser": ("doctor",),
        "action": ("servers.doctor", "doctor.again", "doctor.copy", "doctor.back"),
    },
    "enterprise_sign_in": {"service": ("enterprise sign-in",), "setting": ("identity_providers",)},
    "events": {
        "command": ("events",),
        "parser": ("events",),
        "removal": ("events",),
        "action": (
            *("events.open", "bench.events", "events.choose", "events.attach", "events.traffic"),
            *("events.filter", "events.read_all", "events.pause", "events.unsubscribe"),
            *("events.stop_all", "events.reload", "events.back"),
        ),
        "service": ("events", "events tab", "list of events"),
        "setting": ("events",),
    },
    "faults": {
        "action": (
            *(
                "traffic.breakpoint",
                "traffic.faults",
                "tray.open",
                "tray.edit",
                "tray.release",
                "tray.drop",
                "tray.answer",
            ),
            *("tray.release_all", "tray.back"),
        ),
        "flags": ("tap", "test"),
        "service": ("breakpoints", "held messages", "fault rules", "fault stages"),
    },
    "line_dialect": {"transport": ("lines",)},
    "packages": {
        "command": ("search",),
        "parser": ("search",),
        "flags": ("add",),
        "service": ("is package", "package", "server entry", "leftovers"),
        "setting": ("registry",),
    },
    "plain": {"flags": ("mcptui",), "service": ("plain mode",)},
    "replay": {"command": ("mock",), "parser": ("mock",), "flags": ("traffic",)},
    "skills": {
        "command": ("skill",),
        "parser": ("skill",),
        "listing": ("skills",),
        "removal": ("skills",),
        "action": (
            *("ask.read", "bench.skills", "skills.read", "skills.load", "skills.revoke", "skills.reload"),
            "skills.back",
        ),
        "service": ("skills", "skill loader", "skills tab", "skill request"),
    },
    "tap_hosts": {"flags": ("tap",)},
    "telemetry": {
        "export": ("otlp",),
        "flags": ("traffic",),
        "service": ("telemetry",),
        "setting": ("telemetry",),
    },
    "tests": {
        "command": ("test", "keep", "diff"),
        "parser": ("test", "keep", "diff"),
        "action": (
            *("keep.call", "tests.open", "bench.tests", "tests.review", "tests.run", "tests.run_all"),
            *("tests.undo", "tests.filter", "tests.turns", "tests.copy", "tests.traffic", "tests.back"),
            "review.accept",
            *(
                "review.vary",
                "review.skip",
                "review.next",
                "review.previous",
                "review.traffic",
                "review.undo",
            ),
            *("review.copy", "review.write", "review.back"),
        ),
        "flags": ("traffic",),
        "service": (
            *("pytest items", "pytest servers", "pytest assertion"),
            *("case text", "kept call", "kept calls", "kept check", "saved calls", "tests tab"),
        ),
    },
    "up": {
        "action": ("up.refuse",),
        "command": ("up",),
        "parser": ("up",),
        "door": ("servers", "log", "up.find", "up.run", "up.stop"),
        "flags": ("call", "read", "prompt", "list", "skill"),
        "service": ("door", "running", "attached command"),
        "setting": ("up",),
    },
    "watch": {
        "command": ("dev",),
        "parser": ("dev",),
        "action": ("watch.toggle", "watch.changes", "watch.auto", "watch.accept"),
        "flags": ("tap",),
        "service": ("watches", "watch line"),
        "key": ("watch",),
    },
    "websocket": {"transport": ("websocket",)},
}
"""Each add-on with the names of what it brings, by kind.

- command: runs a command with its parsed arguments and returns the exit code.
- parser: the command that it comes `after` in the help, `fill` to add its arguments, and its texts. With
  `live`, a server's command may follow after `--` (`live_command`). Its arguments `words` may stand on both
  sides of the options.
- flags: flags of a command of the house (`tui.commands.shared_options`).
- transport: the wire of a remote transport, or the translator of a local one.
- listing: what servers serve by the extension of this name: an asynchronous function of runtime and server
  that returns the items as JSON, lines for the shell, and a problem, or "".
- model: makes a model that needs no profile, paced or not.
- removal: drops what outlives a run and belongs to a server that was removed; gets its name, and the runtime,
  or None in a command without one.
- setting: a table of the configuration that only this add-on reads; key: a key of the table of a server.
- action: keys, texts and function of an action, and the contexts where its keys work, by name
  (`tui.ui.keys.action_table`). It is in the `BRINGS` of `actions.py`, which is read before the first frame.
- door: answers a method that another process of the user asks of a running mcptui: asynchronous, gets the
  runtime, the parameters and the `Peer` that asks, and returns JSON.
- service: what house and add-ons do for each other.
- export: a format of `mcptui traffic --export`: a function of entries, a function that returns one with its
  body, and the parsed arguments, which yields texts.
"""

FLAGS: "Mapping[str, Mapping[str, tuple[str, ...]]]" = {
    **{command: {"up": ("--own",)} for command in ("call", "read", "prompt", "list", "skill")},
    "add": {
        "cards": ("--card",),
        "packages": ("--set", "--as", "--registry", "--sha256", "--yes", "-y"),
    },
    "check": {"cards": ("--cards",)},
    "mcptui": {"plain": ("--plain",)},
    "tap": {
        "faults": ("--fault", "--hold", "--silent-hold"),
        "tap_hosts": ("--into", "--out", "--yes", "--dry-run"),
        "watch": ("--watch",),
    },
    "test": {"faults": ("--fault",)},
    "traffic": {
        "replay": ("--replay", "--approve", "--server", "--mask"),
        "telemetry": ("--with-content",),
        "tests": ("--expect-tool", "--forbid-tool", "--max-latency", "--no-errors"),
    },
}
"""The flags that add-ons bring to commands, and to the app, to name the add-on that one is missing from."""

_SAID = {
    "command": "mcptui {}",
    "listing": "mcptui list SERVER {}",
    "transport": 'transport = "{}"',
    "model": "the {} model",
    "setting": "[{}]",
    "key": "{}",
    "action": "{}",
    "service": "a {}",
    "export": "--export {}",
}
"""What the user wrote, by kind."""


def brought(kind: str, name: str) -> "Any":
    """Return what an add-on brings under this name. Raises ConfigError if the add-on is not installed."""
    addon = next(addon for addon, kinds in ADDONS.items() if name in kinds.get(kind, ()))
    if (found := brings(addon)) is None:
        from tui.core.errors import ConfigError  # needs `typing`

        raise ConfigError(missing(kind, name))
    return load(found[kind][name])


def names(kind: str) -> "list[str]":
    """Return the names of a kind, also of add-ons that are not installed."""
    return [name for kinds in ADDONS.values() for name in kinds.get(kind, ())]


def missing(kind: str, name: str) -> str:
    """Return the sentence that the add-on which would bring this is not installed, or "" if it is."""
    for addon, kinds in ADDONS.items():
        if name in kinds.get(kind, ()) and brings(addon) is None:
            return not_installed(addon, _SAID.get(kind, "{}").format(name))
    return ""


def service(name: str) -> "Any | None":
    """Return a service of an add-on, or None if the add-on is not installed."""
    return None if missing("service", name) else brought("service", name)


def every(kind: str) -> "Iterator[tuple[str, Any]]":
    """Yield the names and values of a kind that the installed add-ons bring."""
    for addon, kinds in ADDONS.items():
        if kind in kinds and (found := brings(addon, "actions" if kind == "action" else "addon")) is not None:
            yield from found[kind].items()


def brings(addon: str, module: str = "addon") -> "Mapping[str, Mapping[str, Any]] | None":
    """Return what an add-on brings, by kind and name, or None if it is not installed."""
    place = f"tui.addons.{addon}"
    try:
        found: Mapping[str, Mapping[str, Any]] = import_module(f"{place}.{module}").BRINGS
    except ModuleNotFoundError as error:
        if error.name not in ("tui.addons", place, f"{place}.{module}"):
            raise
        return None
    return found


def load(value: "Any") -> "Any":
    """Return a value of the table, imported if it is `package.module:name`."""
    if not isinstance(value, str):
        return value
    module, _, name = value.partition(":")
    return getattr(import_module(module), name)


def not_installed(addon: str, what: str) -> str:
    """Return the sentence for something that a missing add-on brings."""
    return f"{what} needs the add-on {addon}, which is not installed"
