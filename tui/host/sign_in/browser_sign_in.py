"""One sign-in by the user: the question, the browser, and the listener that gets the answer.

The address is opened only after the user agrees. The answer goes to a one-shot listener, or the user pastes
it: over ssh, the browser runs on another machine, which cannot reach the listener.

The listener is on 127.0.0.1 only while the user signs in, and is closed by the first answer with the right
`state`. All other requests are rejected and have no effect.
"""

import asyncio
import hmac
from typing import Self
from urllib.parse import parse_qs, urlsplit

from tui.core.background import cancel_all, first_of, in_daemon_thread
from tui.core.errors import ServerError, with_stop
from tui.core.language.translate import altered, message, sentences
from tui.core.ports import BY_DEFAULT
from tui.core.questions import Action, AddressQuestion, QuestionAnswer
from tui.core.secrets.oauth_values import Callback, read_callback
from tui.core.text import capitalized, clean_line
from tui.core.web import address_fault
from tui.host.sign_in.authorization_server import SignInFailed
from tui.host.sign_in.loopback import HOST, Loopback, Reply, text_reply
from tui.host.sign_in.sign_ins import SIGN_IN_STEP, SignIns

PATH = "/callback"


class CallbackListener:
    """Waits for one answer with the expected state. An async context manager: leaving it closes the port."""

    def __init__(self) -> None:
        self._loopback = Loopback(self._take)
        self._state = ""
        self._answer: asyncio.Future[Callback] | None = None

    @property
    def port(self) -> int:
        return self._loopback.port

    @property
    def address(self) -> str:
        """The redirect address."""
        return f"http://{HOST}:{self.port}{PATH}"

    async def open(self, port: int = 0) -> Self:
        """Listen on `port`, 0 for any. Raises OSError if it is taken."""
        self._answer = asyncio.get_running_loop().create_future()
        await self._loopback.open(port)
        return self

    async def wait(self, state: str) -> Callback:
        """Return the first answer with this `state`."""
        assert self._answer is not None, "not opened"
        self._state = state
        return await asyncio.shield(self._answer)

    async def close(self) -> None:
        """Close the port, after sending a page that is in progress."""
        await self._loopback.close()
        if self._answer is not None and not self._answer.done():
            self._answer.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _take(self, target: str) -> Reply:
        """Return the page for a request."""
        if target.partition("?")[0] != PATH:
            return text_reply(404, "Not found.")
        try:
            found = read_callback(target)
        except (ServerError, ValueError):
            return text_reply(400, "This is not a response of an authorization server.")
        answer = self._answer
        if not self._state or not hmac.compare_digest(found.state.encode(), self._state.encode()):
            return text_reply(400, "This response does not belong to the sign-in that mcptui started.")
        if answer is None or answer.done():
            return text_reply(400, "This sign-in is already complete.")
        answer.set_result(found)
        self._loopback.refuse()
        if found.error:
            return text_reply(200, "Sign-in rejected. Return to mcptui.")
        return text_reply(200, "Signed in. You can close this page and return to the terminal.")


ASKED_SECONDS = 600.0
"""How long the question may wait for an answer; the listener is open meanwhile."""

BROWSER_SECONDS = 300.0
"""How long the user may take in the browser."""

PASTES = 3
"""How often the user may paste a wrong address."""

NO_BROWSER = message(
    "Cannot open a browser here. Open the URL elsewhere and sign in. Then paste the URL from its address bar."
)

THIS_ONE = message("Paste the URL that the sign-in ends on.")


class BrowserSignIn:
    """Gets one answer from the user.

    Args:
        server: its configured name.
        server_url: its address.
        listener: where the browser returns the answer; already open.
        sign_ins: asks the user, shows what is waited for, and records what was decided.
        stepping_up: the user is signed in, and the server requires more permissions.
        where: the identity provider that one signs in at, in words, or "".
    """

    def __init__(
        self,
        server: str,
        server_url: str,
        listener: CallbackListener,
        sign_ins: SignIns,
        *,
        stepping_up: bool = False,
        where: str = "",
    ) -> None:
        self._required = message("it requires signing in")
        self._note = ""
        if where:
            self._required = message("it requires signing in at {where}", where=where)
            self._note = message("You sign in at {where}, once for all its servers.", where=where)
        self._server = server
        self._server_url = server_url
        self._listener = listener
        self._sign_ins = sign_ins
        self.stepping_up = stepping_up
        self._address = ""
        self.unanswered = False
        """The browser was opened, but did not return."""

    async def show(self, address: str) -> None:
        """Take the address to open. Raises SignInFailed if it is not one for a browser."""
        if fault := address_fault(address, self._server_url):
            raise SignInFailed(
                message(
                    "its sign-in URL {fault}: {url}.",
                    fault=fault,
                    url=clean_line(address.partition("?")[0], 200),
                ),
                next_step=message(
                    "It was not opened. The server's operator must correct its OAuth metadata."
                ),
            )
        self._address = address

    async def answered(self) -> Callback:
        """Ask, open the browser, and return the answer. Raises SignInFailed."""
        if self._server in self._sign_ins.quiet:
            raise SignInFailed(with_stop(self._required), next_step=SIGN_IN_STEP)
        query = parse_qs(urlsplit(self._address).query)
        state = query["state"][-1]  # the endpoint's own query comes first
        self._sign_ins.remember({"state": state})
        scopes = " ".join(query.get("scope", [])[-1:])
        more = message("It requires additional permissions.") if self.stepping_up else self._note
        text = sentences(more, message("Requested scopes: {scopes}", scopes=scopes) if scopes else "")
        heard = asyncio.ensure_future(self._listener.wait(state))
        try:
            answer = await self._answer(text, heard, state)
            if not isinstance(answer, Callback):
                self._sign_ins.say(self._server, message("waiting for the browser"))
                if not await in_daemon_thread("browser", lambda: self._sign_ins.open_browser(self._address)):
                    answer = await self._answer(NO_BROWSER, heard, state, opens=False)
            if not isinstance(answer, Callback):
                await asyncio.wait({heard}, timeout=BROWSER_SECONDS)
                if not heard.done():
                    self.unanswered = True
                    raise self._timeout_failure(BROWSER_SECONDS, message("no response from the browser"))
                answer = heard.result()
        finally:
            await cancel_all([heard])
        self._sign_ins.remember({"code": answer.code})
        return answer

    async def _answer(
        self, text: str, callback: "asyncio.Future[Callback]", state: str, *, opens: bool = True
    ) -> "QuestionAnswer | Callback":
        """Ask until a pasted address is the one of this sign-in, at most `PASTES` times."""
        self._sign_ins.say(self._server, message("waiting for you"))
        asked = text
        for left in reversed(range(PASTES)):
            asking = asyncio.ensure_future(self._question(asked, opens, asked != text or not opens))
            # The question is withdrawn if the listener is first.
            await first_of(asking, asyncio.shield(callback), seconds=ASKED_SECONDS)
            if asking.cancelled() and not callback.done():
                raise self._timeout_failure(ASKED_SECONDS, message("no answer"))
            said = callback.result() if callback.done() else asking.result()
            if isinstance(said, Callback) or not said.pasted:
                return said
            try:
                return self._read_pasted(said.pasted, state)
            except ServerError as error:
                if not left:
                    raise
                asked = sentences(capitalized(str(error)), text)
        raise AssertionError("unreachable")

    async def _question(self, text: str, opens: bool, again: bool) -> QuestionAnswer:
        text = altered(text, self._sign_ins.redact)
        question = AddressQuestion(self._server, self._address, text, "sign in", opens=opens, again=again)
        answer = await self._sign_ins.questioner.ask(question)
        if opens:
            self._sign_ins.decided(self._server, allowed=answer.action is Action.ACCEPT, by=answer.by)
        if answer.action is not Action.ACCEPT:
            nobody = answer.by.startswith(BY_DEFAULT)  # no user was asked
            raise SignInFailed(
                with_stop(
                    self._required
                    if nobody
                    else message("{required}, which was declined", required=self._required)
                ),
                next_step=message("Sign in with `mcptui login {server}`.", server=self._server)
                if nobody
                else self._again(),
            )
        return answer

    def _read_pasted(self, text: str, state: str) -> Callback:
        try:
            found = read_callback(text)
        except ValueError:
            raise SignInFailed(message("the pasted text is not a URL."), next_step=THIS_ONE) from None
        if not hmac.compare_digest(found.state.encode(), state.encode()):
            raise SignInFailed(
                message("the pasted URL belongs to another sign-in (different state)."),
                next_step=THIS_ONE,
            )
        return found

    def _timeout_failure(self, seconds: float, what: str) -> SignInFailed:
        return SignInFailed(
            message(
                "{required}: {what} within {seconds:g} min.",
                required=self._required,
                what=what,
                seconds=seconds / 60,
            ),
            next_step=self._again(),
        )

    def _again(self) -> str:
        return message("Sign in with `mcptui login {server}`, or restart the server.", server=self._server)
