"""The server of a suite as a `ServerSpec`, and consent to start it.

A test file that the user did not keep comes from elsewhere: its commands, URLs and variables are used only
after consent. `${NAME}` is filled in only in `env`, `headers` and `url`.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tui.addons.tests.suite.case import RequestKind, Suite
from tui.addons.tests.suite.read import read_suite
from tui.core.errors import ConfigError, UsageError, dotted
from tui.core.language.translate import message
from tui.core.ports import BY_KEY
from tui.core.servers import SamplingRule, ServerSpec
from tui.core.text import clean_line, quoted_name
from tui.core.units import and_more
from tui.host.server.server_start import start_seconds
from tui.runtime.permission.consent import RunConsent, described, store_answer
from tui.runtime.permission.subjects import server_subject
from tui.settings.load import load_text
from tui.settings.names import fitted_name
from tui.settings.problems import hinted
from tui.settings.references import escaped, names_in
from tui.settings.save import table_block
from tui.settings.specs import server_specs
from tui.settings.state.permission.stored_consents import StoredConsents, Subject

LEAST_START = 20.0
"""Minimum seconds for the start of a server, which often takes longer than its requests."""

MOST_SAMPLING = 1_000_000_000
CONSENT_STEP = "If you trust all of this, add --trust-config for this run, or name a server with -- COMMAND."

_PLAIN = re.compile(r"[\w./-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class SuiteServerSpec:
    """The server of a suite, with its secrets by displayable name."""

    spec: ServerSpec
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


def suite_server(
    suite: Suite, configured: Mapping[str, ServerSpec], env: Mapping[str, str] = os.environ
) -> SuiteServerSpec:
    """Return the server that a suite names, which needs consent. `configured` are those of the user, by name.

    `env` has the variables for `${NAME}`. Raises ConfigError if it names none, or one that is not configured
    or invalid.
    """
    server = suite.server
    if server is None:
        raise ConfigError(
            "the file names no server.",
            where=clean_line(str(suite.path), 400),
            next_step='Add [server] with command = ["…"], or use --server NAME or -- COMMAND.',
        )
    if server.name:
        where = f"{clean_line(str(suite.path), 400)}:{server.line}"
        found = from_file(configured_server(server.name, configured, where), suite.path)
        found = replace(found, used_by=os.path.realpath(suite.path), calls=_calls_of(suite))
        return SuiteServerSpec(found)
    folder = suite.path.absolute().parent
    table: dict[str, Any] = {}
    if server.command:
        program, *arguments = map(escaped, server.command)
        cwd = os.path.normpath(folder / server.cwd)
        table |= {"command": program, "args": arguments, "cwd": escaped(cwd), "env": dict(server.env)}
    else:
        table |= {"url": server.url, "headers": dict(server.headers)}
    table |= {key: value for key in ("transport", "era") if (value := getattr(server, key))}
    name = name_of(suite.path)
    loaded = load_text(table_block(("servers", name), table), folder / "mcptui.toml", env)
    for problem in loaded.errors:
        key = dotted(problem.keys[2:]) or "server"
        where = f"{clean_line(str(suite.path), 400)}:{server.lines.get(key, server.line)}"
        step = problem.suggestion or ""
        raise ConfigError(f"{key}: {problem.message}.", where=where, next_step=step[:1].upper() + step[1:])
    (spec,) = server_specs(loaded)
    return SuiteServerSpec(from_file(replace(spec, folder=""), suite.path), loaded.secrets)


def configured_server(name: str, configured: Mapping[str, ServerSpec], where: str = "--server") -> ServerSpec:
    """Return a server of the user. Raises ConfigError if there is none of this name."""
    if (spec := configured.get(name)) is not None:
        return spec
    known = and_more([clean_line(one, 60) for one in configured], 20) or "none"
    step = f"Configured servers: {known}."
    if where != "--server":
        step = f'{step} Write [server] command = ["…"] into the file, or name a server with -- COMMAND.'
    raise ConfigError(
        hinted(f"server {quoted_name(name)} is not configured", name, configured),
        where=where,
        next_step=step,
    )


def _calls_of(suite: Suite) -> list[str]:
    """Return the tools that a suite calls, which consent to a configured server is limited to."""
    steps = (step for case in suite.cases for step in (case, *case.then))
    names = sorted({one.request.name for one in steps if one.request.kind is RequestKind.TOOL})
    quoted = (name if _PLAIN.fullmatch(name) else json.dumps(name) for name in names)
    turns = ["any tool that a model chooses in turn cases"] if suite.turns else []
    return [*quoted, *turns] or ["no tools"]


def from_file(spec: ServerSpec, path: Path) -> ServerSpec:
    """Return a server as the test file at `path` uses it, which needs consent.

    Consent to a URL is limited to that file, because its calls decide what is done there. That to a command
    is limited by its folder already.
    """
    place = os.path.realpath(path)
    is_bound = spec.url is not None or not spec.cwd
    return replace(spec, source=_source(path), used_by=place if is_bound else "")


def place_of(suite: Suite, spec: ServerSpec) -> str:
    """Return the file and line of a suite that name its server, "" if `spec` is another one."""
    server = suite.server
    if server is None or spec.source != _source(suite.path):
        return ""
    return f"{clean_line(str(suite.path), 400)}:{server.line}"


def _source(path: Path) -> str:
    return message("the test file {path}", path=os.path.realpath(path))


def name_of(path: Path) -> str:
    """Return the name of the server of a file: "weather" for weather.mcp.toml."""
    return fitted_name(path.name.removesuffix(".mcp.toml")) or "server"


def for_cases(spec: ServerSpec, suite: Suite, *, name: str, era: str = "") -> ServerSpec:
    """Return a server with what its cases need: a name of its own, an era, and answers to sampling."""
    spec = replace(spec, name=name, process_of=spec.process_of or spec.name)
    spec = replace(spec, era=type(spec.era)(era)) if era else spec
    replies = any("sampling" in case.answers for case in suite.cases)
    ms = suite.server.timeout_ms if suite.server is not None else None
    if ms is not None and place_of(suite, spec):
        usual = start_seconds(spec)  # more for a launcher, which may have to download first
        least = usual if usual > spec.start_seconds else LEAST_START
        spec = replace(spec, start_seconds=max(ms / 1000, least))
    rule = SamplingRule.ASK if replies else SamplingRule.NEVER
    spec = replace(spec, sampling=rule, sampling_tokens=MOST_SAMPLING, sampling_per_minute=1_000_000)
    return replace(spec, disabled=False, autostart=False, restart=False)


def require_consents(consent: RunConsent, specs: Sequence[ServerSpec]) -> None:
    """Raise UsageError, with all that would run, if one of the servers needs consent: nobody can be asked."""
    missing = [spec for spec in specs if not consent.allows(spec)]
    if not missing:
        return
    for spec in missing:
        consent.refuse(spec)
    head = "Nothing was run. These commands, URLs and variables come from test files and need your consent:"
    files = dict[tuple[str, ...], list[str]]()
    for spec in missing:  # several files may start the same, under names of their own
        facts = described(spec)[0 if spec.used_by and not spec.calls else 1 :]
        own = f" wants to use your server {quoted_name(spec.name)}" if spec.calls else ""
        files.setdefault(tuple(facts), []).append(f"{clean_line(spec.source, 400)}{own}")
    lines = [line for told, sources in files.items() for line in (f"  {', '.join(sources)}:", *told)]
    raise UsageError("\n".join((head, *lines, CONSENT_STEP)))


def record_consent(path: Path, spec: ServerSpec) -> str:
    """Store consent for the server that the test file at `path` names: the user has kept a call in it.

    `spec` is the server of that call, as it is configured. Returns why that failed, or "". Blocks. Raises
    ConfigError if the file is invalid.
    """
    suite = read_suite(path)
    subject = _subject_of(suite, spec)
    return "" if subject is None else store_answer(subject, allowed=True, by=BY_KEY)


def has_consent(suite: Suite, spec: ServerSpec) -> bool:
    """Return whether the user has agreed to the server of a suite as it is. Blocks. Raises ConfigError."""
    subject = _subject_of(suite, spec)
    return subject is not None and StoredConsents().has(subject.digest)


def _subject_of(suite: Suite, spec: ServerSpec) -> Subject | None:
    if (server := suite.server) is None:
        return None
    names = (
        name
        for text in (*server.env.values(), *server.headers.values(), server.url)
        for name in names_in(text)[0]
    )
    env = {**dict.fromkeys(names, "unset"), **os.environ}  # consent is to the names: none needs a value yet
    return server_subject(suite_server(suite, {spec.name: spec}, env).spec)
