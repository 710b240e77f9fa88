"""What needs consent: servers and models of a source that is not the user, as they would run now.

Without consent, nothing is sent to a model of someone else's file, and it gets no variables or keys.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tui.core.errors import ConfigError
from tui.core.language.translate import message
from tui.core.permission.launch import Launch
from tui.core.programs import find_program
from tui.core.servers import Reference, ServerSpec
from tui.core.web import is_loopback
from tui.model.endpoints.providers import provider_of
from tui.settings.locations import is_sample, notes_settings
from tui.settings.references import KEYCHAIN
from tui.settings.state.permission.stored_consents import Subject

if TYPE_CHECKING:
    from tui.settings.load import Loaded

FROM_FILE, NO_KEY = message("written in the file"), message("none")
MAX_PATH = 4096


def subjects_of(path: Path, env: Mapping[str, str]) -> list[Subject]:
    """Return what needs consent in a configuration file. Blocks. Raises ConfigError if it cannot be read."""
    from tui.settings.config_file import ConfigFile
    from tui.settings.specs import server_specs

    loaded = ConfigFile(str(path), env).read()
    if not loaded.readable:
        raise ConfigError(str(loaded.problems[0]))
    specs = server_specs(loaded) if loaded.names_servers else ()
    servers = (replace(spec, source=loaded.source or spec.source) for spec in specs)
    models = (model_subject(model, loaded, env) for model in loaded.settings.models)
    return [*filter(None, (*map(server_subject, servers), *models))]


def server_subject(spec: ServerSpec) -> Subject | None:
    """Return a server, None if it is the user's own or a sample as it is shipped, which need no consent."""
    is_shipped = is_sample(spec) and not spec.cwd and spec.env in ({}, notes_settings())
    return None if is_shipped or not spec.source else Subject(spec.name, spec.source, launch_of(spec))


def model_subject(name: str, loaded: "Loaded", env: Mapping[str, str]) -> Subject | None:
    """Return a model and what using it sends, and where; None if that needs no consent."""
    if not loaded.source or name not in loaded.settings.models:
        return None
    settings, references = loaded.settings.models[name], loaded.references_of("models", name)
    key: str = FROM_FILE if settings.api_key else NO_KEY
    if (settings.api_key or "").startswith(KEYCHAIN):
        key = settings.api_key or ""
    provider = provider_of(settings.base_url)
    variables: tuple[str, ...] = (settings.api_key_env,) if settings.api_key_env else ()
    if not (settings.api_key or variables) and provider is not None:
        variables = provider.keys
    if variable := next((one for one in variables if env.get(one)), variables[0] if variables else ""):
        if not settings.api_key:
            references["api_key"] = Reference(f"${{{variable}}}", (variable,))
    shown = _shown_settings(name, loaded)
    is_bare = not (references or settings.headers or shown.keys() - {"model"})
    if key == NO_KEY and is_bare and is_here(settings.base_url):
        return None
    taken = references.get("api_key")
    identity = [taken.text if taken is not None else key, shown]
    headers = dict(settings.headers)
    launch = Launch(
        "", "", (), "", {}, settings.base_url, headers, "model", identity, references, settings=shown
    )
    return Subject(f"models.{name}", loaded.source, launch)


def _shown_settings(name: str, loaded: "Loaded") -> dict[str, str]:
    table = loaded.raw["models"][name]
    texts = {key: str(table[key]) for key in ("model", "system") if key in table}
    if body := table.get("extra_body"):
        texts["extra_body"] = json.dumps(body, ensure_ascii=False, default=str)
    return texts


def is_here(url: str) -> bool:
    """Return whether a URL is on this computer and has no user name, password or query."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
    except ValueError:
        return False
    is_bare = not (parts.username or parts.password or parts.query)
    return is_bare and is_loopback(parts.hostname or "")


def launch_of(spec: ServerSpec) -> Launch:
    """Return what a start of the server would run now."""
    launch = Launch.of(spec, _program)
    return replace(launch, links=dict(_links(spec, launch.program)))


def _links(spec: ServerSpec, program: str) -> Iterator[tuple[str, str]]:
    """Yield the symbolic links that determine what a server runs, each with its place and target."""
    if not spec.command:
        return
    folder = spec.starts_in or os.getcwd()
    places = [("program", program), ("cwd", spec.cwd or "")]
    for number, word in enumerate(spec.args):
        path = os.path.join(folder, word)
        if "\0" not in word and len(word) < MAX_PATH and os.path.isfile(path):
            places.append((f"args.{number}", path))
    for place, path in places:
        if path and (real := os.path.realpath(path)) != os.path.abspath(path):
            yield place, real


def _program(spec: ServerSpec) -> str:
    command = os.path.expanduser(spec.command)
    if "\0" in command:
        return ""
    if os.sep in command:
        path = os.path.normpath(os.path.join(spec.starts_in or os.getcwd(), command))
        return path if os.path.isfile(path) else ""
    return find_program(command, {**os.environ, **spec.env}) or ""
