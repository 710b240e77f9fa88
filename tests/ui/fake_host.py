"""A host whose servers start and stop at once."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from tui.core.secrets.stored_sign_in import SignedOut
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason


class FakeHost:
    """Servers that start and stop at once when requested."""

    def __init__(self, *statuses: ServerStatus) -> None:
        self.revision = 1
        self.on_change: Callable[[str], None] = lambda name: None
        self.asked: list[tuple[str, str]] = []
        self.logs: dict[str, tuple[str, ...]] = {}
        self._statuses = {status.name: status for status in statuses}

    @property
    def servers(self) -> Mapping[str, ServerStatus]:
        return self._statuses

    def statuses(self) -> tuple[ServerStatus, ...]:
        return tuple(self._statuses.values())

    def find(self, name: str) -> ServerStatus | None:
        return self._statuses.get(name)

    def status(self, name: str) -> ServerStatus:
        return self._statuses[name]

    def stderr(self, name: str) -> tuple[str, ...]:
        return self.logs.get(name, ())

    def put(self, status: ServerStatus) -> None:
        self._statuses[status.name] = status
        self.revision += 1
        self.on_change(status.name)

    def review_changes(self, name: str, tool: str | None = None) -> None:
        self.asked.append(("review", name if tool is None else f"{name}/{tool}"))

    def request_start(self, name: str) -> None:
        self.asked.append(("start", name))
        self.put(replace(self._statuses[name], state=ServerState.RUNNING, pid=4711, tools=2))

    def request_stop(self, name: str) -> None:
        self.asked.append(("stop", name))
        self.put(replace(self._statuses[name], state=ServerState.STOPPED, reason=StopReason.REQUESTED))

    async def sign_in(self, name: str) -> str:
        self.asked.append(("sign in", name))
        self.put(replace(self._statuses[name], sign_in="signed in until 14:30"))
        return "in the keychain"

    async def sign_out(self, name: str) -> SignedOut:
        self.asked.append(("sign out", name))
        self.put(replace(self._statuses[name], sign_in="not signed in"))
        return SignedOut(1)

    def request_restart(self, name: str) -> None:
        self.asked.append(("restart", name))
        self.put(replace(self._statuses[name], state=ServerState.RUNNING))


def running(name: str, tools: int = 2) -> ServerStatus:
    """Return the status of a running server."""
    spec = ServerSpec(name, "python")
    return ServerStatus(name, spec, ServerState.RUNNING, launch="python", tools=tools, pid=4000)


def crashed(name: str) -> ServerStatus:
    """Return the status of a server that exited by itself."""
    return ServerStatus(
        name,
        ServerSpec(name, "python"),
        ServerState.STOPPED,
        StopReason.EXITED,
        launch="python",
        detail="exited with code 1 after 12 s",
        next_step="Press l for its log, r to retry.",
        exit_code=1,
        stderr_last="RuntimeError: asked to crash",
    )
