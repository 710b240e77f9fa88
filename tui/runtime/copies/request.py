"""A recorded request with its server, ready to be copied as text that runs. Blocks; call it in a thread."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.errors import UsageError
from tui.core.jsonrpc.protocol import VERSION_HEADER, VERSION_KEY
from tui.core.jsonrpc.reader import loads
from tui.core.language.translate import message
from tui.core.secrets.commands_and_urls import masked_arguments
from tui.core.secrets.redact import Redactor
from tui.core.secrets.secret_names import MARK
from tui.core.secrets.walk import redacted
from tui.core.servers import EraChoice, Transport
from tui.core.text import object_in, text_in
from tui.core.traffic import Direction, Entry, Kind, TrafficReader
from tui.runtime.copies.origin import (
    OWN_HEADERS,
    Launched,
    Origin,
    about,
    header_pairs,
    launched,
    origin_of,
    upper,
)
from tui.settings.config_file import ConfigFile
from tui.settings.references import FILE, escaped
from tui.settings.specs import server_specs
from tui.traffic.copies.request import CopiedRequest, CopiedServer, Template
from tui.traffic.copies.shell import curl_body
from tui.traffic.record.open_recording import whole_entry

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

TAP = "tap:"
MOST_BYTES = 1024 * 1024
"""Maximum bytes of a request that can be copied as a command or a script: the clipboard has no more."""

_OF_THE_CLIENT = ("x-stainless", "accept", "content-")

Redact = Callable[[str], str]


def request_at(
    reader: TrafficReader, seq: int, runtime: "Runtime | None" = None, *, failed: bool = False
) -> CopiedRequest:
    """Return the request that an entry belongs to. `failed`: it is repeated without checking its arguments.

    Raises UsageError if it has none that can be copied, and StorageError.
    """
    entry = whole_entry(reader, seq, MOST_BYTES)
    if entry is not None and entry.pair and not _is_ours(entry):
        entry = whole_entry(reader, entry.pair, MOST_BYTES)
    if entry is None or not _is_ours(entry):
        raise UsageError(message("Only requests to servers can be copied as a command."))
    if entry.sha256 or entry.is_body_lost or len(entry.body) >= MOST_BYTES:
        raise UsageError(message("This request is truncated or larger than 1 MB."))
    try:
        frame = loads(entry.body)
    except (ValueError, RecursionError):
        raise UsageError(message("This request is not valid JSON.")) from None
    params = object_in(frame, "params") if isinstance(frame, dict) else {}
    started = launched(reader, entry, about(reader))
    origin, redact = origin_at(
        runtime, entry.source.removeprefix(TAP), started, tapped=entry.source.startswith(TAP)
    )
    headers = {name.lower(): value for name, value in header_pairs(entry.detail)}
    server = copied_server(origin, redact, runtime, signs_in="authorization" in headers)
    spoken = headers.get(VERSION_HEADER, "") or text_in(object_in(params, "_meta"), VERSION_KEY)
    server = replace(server, revision=spoken or server.revision)
    if server.transport == "http" and started is not None and started.transport == "sse":
        server = replace(server, transport="sse")  # it fell back to it
    repeated = {name: one for name, one in headers.items() if name.startswith("mcp-param-")}
    return CopiedRequest(server, entry.method, redacted(dict(params), redact), repeated, failed)


def _is_ours(entry: Entry) -> bool:
    return entry.kind is Kind.REQUEST and entry.direction is Direction.OUT


def origin_at(
    runtime: "Runtime | None", server: str, started: Launched | None, *, tapped: bool = False
) -> tuple[Origin, Redact]:
    """Return a server as this run or the configuration has it, else as it was recorded, and what redacts.

    `tapped`: another host started it. Raises UsageError if the recording does not say how.
    """
    current = Path.cwd()
    if runtime is None:
        loaded = ConfigFile(None, os.environ).read()
        return origin_of(server, started, server_specs(loaded), current), Redactor(loaded.secrets).redact
    status, redact = runtime.host.find(server), runtime.redactor.redact
    if status is None or tapped:
        specs = (one.spec for one in runtime.host.statuses())
        return origin_of(server, started, specs, current), redact
    return Origin.of_spec(status.spec, str(current), configured=not runtime.is_unconfigured), redact


def copied_server(
    origin: Origin, redact: Redact, runtime: "Runtime | None" = None, *, signs_in: bool = False
) -> CopiedServer:
    """Return how a copy reaches a server, without its secrets. `signs_in`: it was sent a token."""
    spec, status = origin.spec, runtime.host.find(origin.name) if runtime is not None else None
    is_remote = spec.url is not None
    options, sign_in, transport = config_options(runtime), "", spec.transport
    signs_in = signs_in or (status is not None and bool(status.sign_in))
    if is_remote and signs_in and "authorization" not in map(str.lower, spec.headers):
        sign_in = f"Bearer ${{{upper(origin.name)}_TOKEN}}"
    if status is not None and status.reach is not None and status.reach.kind == "HTTP+SSE":
        transport = Transport.SSE
    return CopiedServer(
        origin.name,
        origin.configured,
        options if origin.configured else (),
        () if is_remote else _command(origin, redact),
        {} if is_remote else _pairs(origin, "env", spec.env, redact),
        "" if is_remote else spec.starts_in or origin.base,
        _whole(origin.url(redact), origin, "url") if is_remote else "",
        _pairs(origin, "headers", spec.headers, redact),
        transport.value,
        status.protocol if status is not None else "",
        "" if spec.era is EraChoice.AUTO else spec.era.value,
        sign_in,
        origin.names_only,
    )


def config_options(runtime: "Runtime | None") -> tuple[str, ...]:
    """Return the options with which a command uses the configuration of this run."""
    if runtime is None:
        return ()
    config = runtime.options.config
    words = ("--config", os.path.abspath(config)) if config else ()
    return (*words, "--trust-config") if runtime.options.trust_config else words


def _command(origin: Origin, redact: Redact) -> tuple[str, ...]:
    spec = origin.spec
    words = (spec.command, *spec.args) if spec.command else ()

    def variable(mark: re.Match[str]) -> str:
        return f"${{{upper(origin.name)}_{upper(mark.group().removeprefix('[redacted:'))}}}"

    found = []
    for at, word in enumerate(masked_arguments(words)):
        reference = spec.references.get("command" if not at else f"args.{at - 1}")
        if reference is not None and word != words[at]:
            found.append(_whole(reference.text, origin, f"args_{at}"))
        else:
            found.append(MARK.sub(variable, escaped(redact(word))))
    return tuple(found)


def _pairs(origin: Origin, kind: str, values: Mapping[str, str], redact: Redact) -> dict[str, str]:
    return {name: _whole(origin.value(kind, name, one, redact), origin, name) for name, one in values.items()}


def _whole(text: str, origin: Origin, name: str) -> str:
    """Return a text with references to variables only: the content of a file becomes a variable."""
    return f"${{{upper(origin.name)}_{upper(name)}}}" if f"${{{FILE}" in text else text


def model_request(entry: Entry, body: bytes) -> str:
    """Return a request to a model as a curl command: what is redacted of its headers becomes `${API_KEY}`."""
    headers = {
        name: MARK.sub("${API_KEY}", escaped(value))
        for name, value in header_pairs(entry.detail)
        if name.lower() not in OWN_HEADERS and not name.lower().startswith(_OF_THE_CLIENT)
    }
    template, url = Template(), escaped(str(entry.detail.get("url", "")))
    headers = {"Content-Type": "application/json", **headers}
    words = [f"-H {template.shell(f'{name}: {value}')}" for name, value in headers.items()]
    data = curl_body(body.decode("utf-8", "replace"))
    return " \\\n  ".join([f"curl -sSgN {template.shell(url)}", *words, data])
