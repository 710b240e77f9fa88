"""Converts the manifest of a bundle (.mcpb) to a server configuration. Pure.

The manifest is untrusted text of its publisher: only the variables of the format are replaced, and anything
else that looks like a reference stays literal.
"""

import os
import re
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tui.addons.packages.server_inputs import (
    ServerInput,
    Values,
    fill_template,
    object_in,
    refuse_long_table,
    refuse_long_text,
    text_in,
)
from tui.core.errors import UsageError
from tui.core.text import clean_line, quoted_name
from tui.core.units import number_limit
from tui.settings.references import escaped

KINDS = frozenset({"string", "number", "boolean", "directory", "file"})
MAX_ITEMS = 200
_VARIABLE = re.compile(r"\$\{([^{}]{1,200})\}")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INPUT = "user_config."


@dataclass(frozen=True, slots=True)
class Bundle:
    """A validated manifest.

    Attributes:
        inputs: the values that it requires from the user.
        command, args, env: how to start it on this platform, as written.
        is_binary: whether it contains its own program.
        entry_point: the file that it declares as its entry point, or "".
    """

    name: str
    version: str
    title: str
    description: str
    author: str
    inputs: tuple[ServerInput, ...]
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    is_binary: bool = False
    entry_point: str = ""

    def table(self, folder: Path, values: Values, home: Path) -> dict[str, Any]:
        """Return the server as a table of the configuration, with its files in `folder`.

        Raises UsageError for a value that cannot be used.
        """
        places = {"__dirname": str(folder)}

        def filled(text: str) -> str:
            def value(name: str) -> str | None:
                texts = values.get(name.removeprefix(_INPUT), ()) if name.startswith(_INPUT) else None
                if texts is not None and len(texts) > 1:
                    what = clean_line(name.removeprefix(_INPUT), 60)
                    raise UsageError(
                        f"{what} can only have one value: it is part of {quoted_name(text, 80)}."
                    )
                return None if texts is None else "".join(texts)

            return fill_template(_VARIABLE, text, value, lambda part: _with_places(part, places, home))

        def words(text: str) -> Sequence[str]:
            """Return the arguments for one text: several if its value has several."""
            alone = _VARIABLE.fullmatch(text)
            if alone is not None and alone[1].startswith(_INPUT):
                return values.get(alone[1].removeprefix(_INPUT), ())
            return [filled(text)]

        command = filled(self.command)
        own = folder / self.command
        if not os.path.isabs(command) and "/" in self.command:
            command = escaped(str(own))
        table: dict[str, Any] = {"command": command}
        args = [word for text in self.args for word in words(text)]
        env = {name: text for name, said in self.env.items() if (text := filled(said))}
        table |= {"args": args} if args else {}
        table |= {"env": env} if env else {}
        refuse_long_table(table)
        return table | {"cwd": escaped(str(folder))}

    def program(self) -> str:
        """Return the path of the program in the bundle, or "" if it is installed on this machine."""
        path = _own_path(self.command)
        return path if "/" in self.command and "${" not in path else ""

    def missing(self, names: Container[str]) -> str:
        """Return the file that it starts if that is missing from the bundle, otherwise ""."""
        needed = (_own_path(self.entry_point), self.program() if self.is_binary else "")
        lost = (
            path
            for path in needed
            if path and not path.startswith("/") and path not in names and f"{path}.exe" not in names
        )
        return next(lost, "")


def bundle_of(manifest: Any, platform: str = sys.platform) -> Bundle:
    """Return the bundle that a manifest describes for a platform. Raises UsageError if it is unusable."""
    if not isinstance(manifest, Mapping):
        raise _unusable("is not a JSON object")
    if not (text_in(manifest, "manifest_version") or text_in(manifest, "dxt_version")):
        raise _unusable("has no manifest_version")
    name, version = text_in(manifest, "name"), text_in(manifest, "version")
    if not name or not version:
        raise _unusable(f"has no {'name' if not name else 'version'}")
    platforms = object_in(manifest.get("compatibility")).get("platforms")
    if isinstance(platforms, list) and platforms and platform not in platforms:
        shown = ", ".join(clean_line(str(one), 20) for one in platforms[:5])
        raise UsageError(f"the bundle requires {shown}. This is {platform}.")
    server = object_in(manifest.get("server"))
    config = object_in(server.get("mcp_config"))
    config = {**config, **object_in(object_in(config.get("platform_overrides")).get(platform))}
    command, args, env = _launch(config)
    inputs = tuple(_inputs(manifest.get("user_config", {})))
    known = {one.name for one in inputs}
    for found in (found for text in (command, *args, *env.values()) for found in _VARIABLE.findall(text)):
        if found.startswith(_INPUT) and found.removeprefix(_INPUT) not in known:
            raise _unusable(f"uses ${{{clean_line(found, 80)}}}, which its user_config does not define")
    return Bundle(
        name=name,
        version=version,
        title=text_in(manifest, "display_name"),
        description=text_in(manifest, "description"),
        author=text_in(object_in(manifest.get("author")), "name"),
        inputs=inputs,
        command=command,
        args=tuple(args),
        env=env,
        is_binary=text_in(server, "type") == "binary",
        entry_point=text_in(server, "entry_point"),
    )


def _launch(config: Mapping[str, Any]) -> tuple[str, list[str], dict[str, str]]:
    """Return command, args and env of a manifest as written. Raises UsageError if they are unusable."""
    command = text_in(config, "command")
    if not command:
        raise _unusable("has no command (server.mcp_config.command)")
    args, env = config.get("args", []), config.get("env", {})
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        raise _unusable("has args that are not an array of strings (server.mcp_config.args)")
    if not isinstance(env, Mapping) or not all(
        _ENV_NAME.fullmatch(k) and isinstance(v, str) for k, v in env.items()
    ):
        raise _unusable("has an env that is not an object of strings (server.mcp_config.env)")
    if max(len(args), len(env)) > MAX_ITEMS:
        raise _unusable(f"has more than {MAX_ITEMS} args or variables (server.mcp_config)")
    for text in (command, *args, *env.values()):
        refuse_long_text(text)
        if not text.isprintable() and text:
            raise UsageError(f"the manifest contains invalid characters: {quoted_name(text, 80)}.")
    return command, args, dict(env)


def _own_path(path: str) -> str:
    return path.removeprefix("${__dirname}/").removeprefix("./")


def folder_name(bundle: Bundle, digest: str) -> str:
    """Return the name of the folder for its files, unique for each bundle."""
    kept = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{bundle.name}-{bundle.version}").strip(".-")[:80] or "bundle"
    return f"{kept}-{digest[:12]}"


def _inputs(said: Any) -> Iterator[ServerInput]:
    if not isinstance(said, Mapping):
        raise _unusable("has a user_config that is not an object")
    for name, one in list(said.items())[:MAX_ITEMS]:
        kind = text_in(object_in(one), "type")
        if not _NAME.fullmatch(name) or kind not in KINDS:
            raise _unusable(f"requires {quoted_name(name, 60)} in an unsupported way (user_config)")
        yield ServerInput(
            name,
            title=text_in(one, "title"),
            description=text_in(one, "description"),
            kind=kind,
            required=one.get("required") is True,
            secret=one.get("sensitive") is True,
            default=_default(one.get("default")),
            several=one.get("multiple") is True,
            minimum=number_limit(one.get("min")),
            maximum=number_limit(one.get("max")),
        )


def _default(said: Any) -> tuple[str, ...] | None:
    """Return a default as texts that contain only variables of the format."""
    listed = said if isinstance(said, list) else [said]
    texts = []
    for one in listed[:MAX_ITEMS]:
        if isinstance(one, bool):
            texts.append(str(one).lower())
        elif isinstance(one, int | float):
            texts.append(f"{one:g}" if isinstance(one, float) else str(one))
        elif isinstance(one, str) and one and one.isprintable():
            texts.append(_with_places(one, {}, Path.home()))
    return tuple(texts) or None


def _with_places(text: str, more: Mapping[str, str], home: Path) -> str:
    """Return a text of the manifest, escaped, with this machine's paths filled in."""
    places = {
        "HOME": str(home),
        "DESKTOP": str(home / "Desktop"),
        "DOCUMENTS": str(home / "Documents"),
        "DOWNLOADS": str(home / "Downloads"),
        "pathSeparator": os.sep,
        "/": os.sep,
        **more,
    }
    filled = _VARIABLE.sub(lambda found: places.get(found[1], found[0]), text)
    return escaped(filled)


def _unusable(problem: str) -> UsageError:
    return UsageError(f"manifest.json {problem}.")
