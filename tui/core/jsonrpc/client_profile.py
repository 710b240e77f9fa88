"""How a client introduces itself to servers, when it is to look like another host than mcptui."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tui.core.jsonrpc.protocol import is_modern


@dataclass(frozen=True, slots=True)
class ClientProfile:
    """What a host says about itself in both eras.

    Attributes:
        info: its `clientInfo`.
        capabilities: what it declares.
        versions: the protocol versions that it offers, the newest first.
    """

    info: Mapping[str, Any]
    capabilities: Mapping[str, Any]
    versions: tuple[str, ...]

    @property
    def is_modern(self) -> bool:
        """Whether it speaks 2026-07-28 or later."""
        return any(map(is_modern, self.versions))
