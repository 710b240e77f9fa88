"""How a session begins, in both eras: the probe of 2026-07-28, and `initialize` before.

MCP 2026-07-28, basic/versioning; 2025-11-25, basic/lifecycle. Everything but the clear rejection of a newer
server leads to `initialize`, because older servers answer an unknown method in every way there is. A server
may be slow instead of old: then the answer to its probe still counts, whenever it arrives.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.jsonrpc.introduction import Introduction
from tui.core.jsonrpc.messages import INVALID_ANSWER
from tui.core.jsonrpc.protocol import (
    METHOD_NOT_FOUND,
    MODERN,
    REVISIONS,
    UNSUPPORTED_VERSION,
    is_modern,
)
from tui.core.language.translate import message
from tui.core.servers import EraChoice
from tui.core.text import mapping
from tui.host.frames.id_gate import PROBE, UNANSWERED_PROBE
from tui.host.frames.link import NO_ANSWER, NoCommonVersion, RequestError
from tui.host.session.session import Session

_NEWER = tuple(version for version in reversed(REVISIONS) if is_modern(version))
_OLDER = tuple(version for version in reversed(REVISIONS) if not is_modern(version))

OUR_VERSIONS: Mapping[EraChoice, Sequence[str]] = {
    EraChoice.AUTO: _NEWER + _OLDER,
    EraChoice.MODERN: _NEWER,
    EraChoice.LEGACY: _OLDER,
}
"""The protocol versions that mcptui speaks, the newest first."""

MAX_VERSIONS = 16
_VERSION_CHARS = 40


class Handshake:
    """The handshake of one session.

    `probes` and `initializes` say which requests are allowed. With `leaves`, a server that rejected the probe
    does not get `initialize` in this session either.

    Attributes:
        introduction: the server's answer, once both have agreed on a version.
        versions: the protocol versions that the server has named.
        was_refused: whether another session may begin with `initialize`, after it was refused or left here.
        was_probed: whether `initialize` followed a probe.
    """

    def __init__(self, session: Session, *, probes: bool, initializes: bool, leaves: bool = False) -> None:
        self.introduction = Introduction()
        self.versions: tuple[str, ...] = ()
        self.was_refused = self.was_probed = False
        self._session = session
        spoken = (*_NEWER, *_OLDER) if session.profile is None else session.profile.versions
        self._newer = [one for one in _NEWER if one in spoken]
        self._older = [one for one in _OLDER if one in spoken]
        self._probes, self._initializes, self._leaves = probes, initializes, leaves
        self._rejection: RequestError | None = None
        self._late: tuple[int, asyncio.Future[dict[str, Any]]] | None = None

    def offered(self, era: EraChoice) -> Sequence[str]:
        """Return the protocol versions that are offered to the server in an era, the newest first."""
        return [one for one in OUR_VERSIONS[era] if one in (*self._newer, *self._older)]

    async def shake(self) -> None:
        """Agree on a version with the server. The session speaks it afterwards.

        Raises:
            RequestError: the server refused, or its answer is unusable.
        """
        try:
            await (self._negotiate() if self._probes else self._initialize())
        finally:
            if self._late is not None:
                self._session.forget(self._late[0])

    async def _negotiate(self) -> None:
        for may_repeat in (True, False):
            try:
                return await self._take_discovered(await self._probe())
            except RequestError as error:
                if may_repeat and self._is_mutual(error):
                    continue
                named = _named(error.data)
                if error.code == UNSUPPORTED_VERSION and named and not set(self._older).intersection(named):
                    raise
            try:
                return await self._initialize()
            except RequestError as refused:
                if self._answers_late(refused):
                    return await self._take_late(refused)
                # The error itself shows a newer server: ask again, as it has settled on the protocol.
                if not (may_repeat and self._is_mutual(refused)):
                    raise

    async def _probe(self) -> dict[str, Any]:
        try:
            return await self._ask(PROBE, {"_meta": self._session.envelope(MODERN)}, MODERN)
        except RequestError as error:
            self._rejection = error
            raise

    async def _take_discovered(self, result: Mapping[str, Any]) -> None:
        named = _texts(result.get("supportedVersions"))
        if (version := next((one for one in self._newer if one in named), "")) == "":
            return await self._initialize()
        self.was_probed = False
        self._adopt(version, result)

    def _answers_late(self, refused: RequestError) -> bool:
        """Whether the answer to the probe, which was given up, decides: it is there, or must still come."""
        if self._late is None:
            return False
        # All older servers have `initialize`.
        is_newer = refused.code in (METHOD_NOT_FOUND, UNSUPPORTED_VERSION)
        return is_newer or self._late[1].done()

    async def _take_late(self, refused: RequestError) -> None:
        assert self._late is not None
        try:
            result = await self._late[1]
        except RequestError:
            raise refused from None
        self._note(result)
        if not set(self._newer).intersection(_texts(result.get("supportedVersions"))):
            raise refused
        await self._take_discovered(result)

    async def _initialize(self) -> None:
        rejection = self._rejection
        is_rejected = rejection is not None and not rejection.message.startswith(UNANSWERED_PROBE)
        if not self._initializes or (self._leaves and is_rejected):
            self.was_refused = True
            if rejection is not None:
                raise rejection
            if self.versions:
                raise NoCommonVersion(UNSUPPORTED_VERSION, message("unsupported protocol version"))
            raise RequestError(
                INVALID_ANSWER, message("{problem}: it names no protocol version", problem=NO_ANSWER)
            )
        self.was_probed = self._probes
        params = {
            "protocolVersion": self._older[0],
            "capabilities": self._session.capabilities(self._older[0]),
            "clientInfo": self._session.info,
        }
        try:
            result = await self._ask("initialize", params, "")
        except RequestError:
            self.was_refused = True
            raise
        version = result.get("protocolVersion")
        if not isinstance(version, str):
            raise RequestError(
                INVALID_ANSWER, message("{problem}: it names no protocol version", problem=NO_ANSWER)
            )
        if version not in self._older:
            raise NoCommonVersion(INVALID_ANSWER, message("unsupported protocol version"))
        self._adopt(version, result)
        self._session.notify("notifications/initialized")

    async def _ask(self, method: str, params: Mapping[str, Any], version: str) -> dict[str, Any]:
        known, answered = self._session.open(method, params, version)
        try:
            if method == PROBE:
                await self._session.await_probe(known, answered)
            result = await answered
        except RequestError as error:
            self._note(mapping(error.data))
            if method == PROBE and error.message.startswith(UNANSWERED_PROBE):
                self._late = known, self._session.expect(known)
            raise
        finally:
            answered.cancel()  # if the start was cancelled
        self._note(result)
        return result

    def _adopt(self, version: str, result: Mapping[str, Any]) -> None:
        self.introduction = Introduction(version, result)
        self._session.version = version

    def _is_mutual(self, error: RequestError) -> bool:
        is_about_version = error.code == UNSUPPORTED_VERSION
        return is_about_version and not set(self._newer).isdisjoint(_named(error.data))

    def _note(self, said: Mapping[str, Any]) -> None:
        named = said.get("protocolVersion") or said.get("supportedVersions") or said.get("supported") or ()
        self.versions = _texts(named if isinstance(named, list) else [named]) or self.versions


def _texts(named: Any) -> tuple[str, ...]:
    """Return the protocol versions in a list that a server sent."""
    listed = named[:MAX_VERSIONS] if isinstance(named, list) else []
    return tuple(one[:_VERSION_CHARS] for one in listed if isinstance(one, str))


def _named(data: Any) -> tuple[str, ...]:
    """Return the protocol versions that the data of an error names as supported."""
    return _texts(data.get("supported")) if isinstance(data, Mapping) else ()
