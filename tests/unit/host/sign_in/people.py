"""People who sign in, with their browser and the questions they get."""

import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2

from tests.protocol.oauth_server import OAuthServer
from tui.core.ports import DecisionRecord
from tui.core.questions import Action, AddressQuestion, Question, QuestionAnswer, Questioner
from tui.core.secrets.redact import Redactor
from tui.core.servers import OAuthSpec, ServerSpec, Transport
from tui.core.time_limits import TimeLimits
from tui.host.frames.tap import WireTap
from tui.host.sign_in.authenticator import Authenticator
from tui.host.sign_in.sign_ins import SignIns
from tui.host.sign_in.token_store import TokenStore
from tui.host.transports.http_client import open_client


class _Stop(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def browse(address: str) -> bool:
    """Follow a URL as a browser would, to the callback listener of mcptui."""
    with suppressed(), urllib.request.urlopen(address, timeout=10) as response:
        response.read()
    return True


def final_address(address: str) -> str:
    """Return the URL that an address redirects to, without opening it: what a person over ssh pastes."""
    try:
        with urllib.request.build_opener(_Stop).open(address, timeout=10) as response:
            return str(response.url)
    except urllib.error.HTTPError as error:
        with error:
            return str(error.headers["location"])


@contextmanager
def suppressed() -> Iterator[None]:
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()


class Person(Questioner):
    """Accepts, or answers with `answer`."""

    def __init__(self, answer: Callable[[AddressQuestion], QuestionAnswer] | None = None) -> None:
        self.questions: list[AddressQuestion] = []
        self._answer = answer or (lambda question: QuestionAnswer(Action.ACCEPT))

    async def ask(self, question: Question) -> QuestionAnswer:
        assert isinstance(question, AddressQuestion)
        self.questions.append(question)
        return self._answer(question)


class Decided:
    """Records decisions in memory."""

    def __init__(self) -> None:
        self.records: list[DecisionRecord] = []

    def add(self, record: DecisionRecord) -> None:
        self.records.append(record)


class Around:
    """The environment of one authenticator: a store, a person, and everything recorded and shown."""

    def __init__(self, store: TokenStore, url: str, person: Person | None = None, **oauth: object) -> None:
        self.person = person or Person()
        self.records: list[object] = []
        self.states: list[str] = []
        self.redactor = Redactor()
        self.opened: list[str] = []
        self.decisions = Decided()
        self.spec = ServerSpec("safe", transport=Transport.HTTP, url=url, oauth=OAuthSpec(**oauth))  # type: ignore[arg-type]
        self.sign_ins = SignIns(
            store,
            questioner=self.person,
            redactor=self.redactor,
            changed=lambda name: self.states.append(self.sign_ins.state(name)),
            decisions=self.decisions,
        )
        self.sign_ins.open_browser = self._open
        self.auth = self.authenticator()

    def authenticator(self) -> Authenticator:
        return Authenticator(
            self.spec,
            self.sign_ins,
            WireTap("safe", self.records.append),
            TimeLimits(),
            open_client=lambda: open_client(httpx2.AsyncHTTPTransport(verify=False), {}),
        )

    def _open(self, address: str) -> bool:
        self.opened.append(address)
        return browse(address)

    async def call(self, method: str = "tools/list") -> httpx2.Response:
        """Send one request to the server as a transport would."""
        async with httpx2.AsyncClient(auth=self.auth, trust_env=False, verify=False) as client:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
            return await client.post(self.spec.url or "", json=message)


@asynccontextmanager
async def safe(store: TokenStore, **about: Any) -> AsyncIterator[tuple[OAuthServer, Around]]:
    """Run a server that requires signing in; yield it, and an authenticator for it."""
    async with OAuthServer(**about) as server:
        yield server, Around(store, server.url)
