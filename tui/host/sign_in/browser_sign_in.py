"""One sign-in by the user: the question, the browser, and the answer.

The address is opened only after the user agrees. The answer goes to the one-shot listener, or the user pastes
it: over ssh, the browser runs on another machine, which cannot reach the listener.
"""

import asyncio
import hmac
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tui.core.daemon_thread import in_daemon_thread
from tui.core.errors import ServerError
from tui.core.questions import Action, AddressAnswer, AddressQuestion, Questioner, Refuser
from tui.core.text import clean_line
from tui.host.sign_in.callback import Callback, CallbackListener, read_callback
from tui.host.sign_in.exchange import address_fault
from tui.host.sign_in.failures import SignInFailed

ASKED_SECONDS = 600.0
"""How long the question may wait for an answer; the listener is open meanwhile."""

BROWSER_SECONDS = 300.0
"""How long the user may take in the browser."""

PASTES = 3
"""How often the user may paste a wrong address."""

NO_BROWSER = "Cannot open a browser here. Open the URL elsewhere, then paste the URL that it ends on."

THIS_ONE = "Paste the URL that the sign-in ends on."

OpenBrowser = Callable[[str], bool]


class BrowserSignIn:
    """Gets one answer from the user.

    Args:
        server: its configured name.
        server_url: its address.
        listener: where the browser returns the answer; already open.
        questioner: asks the user.
        waiting: called with what the sign-in waits for, in a few words.
        remember: takes secrets to redact from now on, by name.
        open_browser: opens an address; returns False if it could not.
        decided: called with whether the user agreed to open the address, and what decided.
        stepping_up: the user is signed in, and the server requires more permissions.
    """

    def __init__(
        self,
        server: str,
        server_url: str,
        listener: CallbackListener,
        questioner: Questioner,
        *,
        waiting: Callable[[str], None],
        remember: Callable[[Mapping[str, str]], None],
        open_browser: OpenBrowser,
        decided: Callable[[bool, str], None] = lambda allowed, by: None,
        stepping_up: bool = False,
    ) -> None:
        self._server = server
        self._server_url = server_url
        self._listener = listener
        self._questioner = questioner
        self._waiting = waiting
        self._remember = remember
        self._open_browser = open_browser
        self._stepping_up = stepping_up
        self._decided = decided
        self._address = ""

    async def show(self, address: str) -> None:
        """Take the address to open. Raises SignInFailed if it is not one for a browser."""
        if fault := address_fault(address, self._server_url):
            raise SignInFailed(
                f"its sign-in URL {fault}: {clean_line(address.partition('?')[0], 200)}.",
                next_step="It was not opened. The server's operator must correct its OAuth metadata.",
            )
        self._address = address

    async def answered(self) -> Callback:
        """Ask, open the browser, and return the answer. Raises SignInFailed."""
        query = parse_qs(urlsplit(self._address).query)
        state = query["state"][0]
        self._remember({"state": state})
        scopes = " ".join(query.get("scope", []))
        more = "It requires additional permissions. " if self._stepping_up else ""
        message = f"{more}Requested scopes: {scopes}" if scopes else more.strip()
        heard = asyncio.ensure_future(self._listener.wait(state))
        try:
            answer = await self._ask(message, heard, state)
        finally:
            heard.cancel()
            with suppress(asyncio.CancelledError):
                await heard
        self._remember({"code": answer.code})
        return answer

    async def _ask(self, message: str, callback: "asyncio.Future[Callback]", state: str) -> Callback:
        answer = await self._answer(message, callback, state)
        if isinstance(answer, Callback):
            return answer
        self._waiting("waiting for the browser")
        if not await in_daemon_thread("browser", lambda: self._open_browser(self._address)):
            answer = await self._answer(NO_BROWSER, callback, state, opens=False)
            if isinstance(answer, Callback):
                return answer
        try:
            async with asyncio.timeout(BROWSER_SECONDS):
                return await asyncio.shield(callback)
        except TimeoutError:
            raise self._timeout_failure(BROWSER_SECONDS, "no response from the browser") from None

    async def _answer(
        self, message: str, callback: "asyncio.Future[Callback]", state: str, *, opens: bool = True
    ) -> "AddressAnswer | Callback":
        """Ask until a pasted address is the one of this sign-in, at most `PASTES` times."""
        self._waiting("waiting for you")
        asked = message
        for left in reversed(range(PASTES)):
            said = await self._first(self._question(asked, opens), callback, ASKED_SECONDS, "no answer")
            if isinstance(said, Callback) or not said.pasted:
                return said
            try:
                return self._read_pasted(said.pasted, state)
            except ServerError as error:
                if not left:
                    raise
                fault = str(error)
                asked = f"{fault[0].upper()}{fault[1:]} {message}".rstrip()
        raise AssertionError("unreachable")

    async def _question(self, message: str, opens: bool) -> AddressAnswer:
        question = AddressQuestion(self._server, self._address, message, "sign in", opens=opens)
        answer = await self._questioner.address(question)
        if opens:
            self._decided(answer.action is Action.ACCEPT, answer.by)
        if answer.action is not Action.ACCEPT:
            nobody = type(self._questioner) is Refuser
            raise SignInFailed(
                f"it requires signing in{'' if nobody else ', which was declined'}.",
                next_step=f"Sign in with `mcptui login {self._server}`, or restart the server.",
            )
        return answer

    async def _first(
        self,
        question: Coroutine[Any, Any, AddressAnswer],
        callback: "asyncio.Future[Callback]",
        seconds: float,
        late: str,
    ) -> "AddressAnswer | Callback":
        """Wait for the user or the listener; withdraw the question if the listener is first."""
        asked = asyncio.ensure_future(question)
        either: set[asyncio.Future[Any]] = {asked, callback}
        try:
            done, _ = await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if callback in done:
                return callback.result()
            if asked in done:
                return asked.result()
            raise self._timeout_failure(seconds, late)
        finally:
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)

    def _read_pasted(self, text: str, state: str) -> Callback:
        try:
            found = read_callback(text)
        except ValueError:
            raise SignInFailed("the pasted text is not a URL.", next_step=THIS_ONE) from None
        if not hmac.compare_digest(found.state.encode(), state.encode()):
            raise SignInFailed(
                "the pasted URL belongs to another sign-in (different state).",
                next_step=THIS_ONE,
            )
        return found

    def _timeout_failure(self, seconds: float, what: str) -> SignInFailed:
        return SignInFailed(
            f"it requires signing in: {what} within {seconds / 60:g} min.",
            next_step=f"Sign in with `mcptui login {self._server}`, or restart the server.",
        )
