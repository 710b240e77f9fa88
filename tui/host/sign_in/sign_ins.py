"""The state that the sign-ins of all servers share: the token store, the questioner, what is shown."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from tui.core.language.translate import message
from tui.core.ports import BY_KEY, DecisionKind, DecisionLog, DecisionRecord, Undecided
from tui.core.questions import Questioner
from tui.core.secrets.identity_provider import account_of
from tui.core.secrets.redact import Redactor
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.text import clean_line
from tui.core.units import clock_time
from tui.core.web import open_browser
from tui.host.sign_in.token_store import TokenStore

NOT_SIGNED_IN = message("not signed in")
SIGN_IN_REQUIRED = message("sign-in required")
"""The state of a server that started on its own: it asks for a sign-in when the user starts it."""
SIGN_IN_STEP = message("Press s to sign in.")
SIGN_IN_WITH = "Sign in with `mcptui login "
"""How the next step begins where there may be no key to press."""


class SignIns:
    """The sign-ins of one host.

    Attributes:
        store: where tokens are kept.
        questioner: asks the user.
        client_metadata_url: the address of mcptui's client metadata document, or "".
        quiet: servers that start on their own, so that nobody waits for them: the user is not asked.
    """

    def __init__(
        self,
        store: TokenStore,
        *,
        questioner: Questioner | None = None,
        redactor: Redactor | None = None,
        changed: Callable[[str], None] = lambda server: None,
        client_metadata_url: str = "",
        decisions: DecisionLog | None = None,
    ) -> None:
        """Take the store; nothing is read yet. `changed` is called with a server's name, and must not raise.

        `decisions` records who agreed to sign in.
        """
        self.store = store
        self.questioner: Questioner = questioner or Questioner()
        self.client_metadata_url = client_metadata_url
        self.quiet: set[str] = set()
        self._redactor = redactor or Redactor()
        self._decisions: DecisionLog = decisions or Undecided()
        self._changed = changed
        self.open_browser: Callable[[str], bool] = open_browser
        self.on_provider: Callable[[str], None] = lambda account: None
        """Called with the account of an identity provider that the user has signed in at."""
        self.enterprise: Any = None
        """Signs in at identity providers, once there is one: a service of an add-on."""
        self._states: dict[str, str | StoredSignIn] = {}

    def state(self, server: str, *, has_client: bool = True) -> str:
        """Return the sign-in state of a server in a few words; "" if it has not required a sign-in.

        Without `has_client`, no client id is configured for it, so it may be registered dynamically.
        """
        known = self._states.get(server, "")
        if isinstance(known, str):
            return known
        is_dynamic = known.is_dynamic and not has_client and known.tokens
        state = state_of(known)
        return message("{state}, dynamic registration (deprecated)", state=state) if is_dynamic else state

    async def load(self, addresses: Mapping[str, str]) -> None:
        """Show the state of the stored sign-ins to these servers, by name; reads no keychain."""
        for found in reversed(await self.store.listed()):
            if addresses.get(found.server) == found.url and found.server not in self._states:
                self.tell(found)

    async def has(self, server: str) -> bool:
        """Return whether there is a sign-in to a server, at any address; reads no keychain."""
        return any(found.server == server for found in await self.store.listed())

    async def through(self, account: str) -> list[str]:
        """Return the servers that were signed in to through an identity provider; reads no keychain."""
        known = [found for found in await self.store.listed() if found.identity_provider[0]]
        return sorted({one.server for one in known if account_of(one.identity_provider[0]) == account})

    async def forget(self, server: str) -> int:
        """Delete the tokens of a server; return how many sign-ins there were."""
        count = await self.store.forget(server)
        if count or server in self._states:
            self.say(server, NOT_SIGNED_IN)
        return count

    def remember(self, secrets: Mapping[str, str]) -> None:
        """Redact these values from now on."""
        if secrets:
            self._redactor.add_some("oauth", {f"oauth.{name}": value for name, value in secrets.items()})

    def decided(self, server: str, *, allowed: bool, by: str) -> None:
        """Record whether the user agreed to sign in to a server that required it."""
        asked_by, asked = f"server {server}", by == BY_KEY
        self._decisions.add(
            DecisionRecord(DecisionKind.SIGN_IN, server, "sign in", allowed, by, asked_by, asked=asked)
        )

    def redact(self, text: str) -> str:
        return self._redactor.redact(text)

    def say(self, server: str, state: str) -> None:
        self._states[server] = state
        self._changed(server)

    def say_nothing(self, server: str) -> None:
        """Show no state: the server left, or has another address."""
        if self._states.pop(server, None) is not None:
            self._changed(server)

    def tell(self, sign_in: StoredSignIn) -> None:
        """Show the state of a sign-in."""
        waits = sign_in.server in self.quiet and not sign_in.tokens
        self._states[sign_in.server] = SIGN_IN_REQUIRED if waits else sign_in
        self._changed(sign_in.server)


def state_of(sign_in: StoredSignIn, now: float | None = None) -> str:
    """Return the state of a sign-in in a few words: "signed in until 14:30"."""
    now = time.time() if now is None else now
    if not sign_in.tokens:
        return NOT_SIGNED_IN
    expires = sign_in.expires_at
    provider = sign_in.identity_provider[0]
    state = (
        message("signed in through {provider}", provider=clean_line(provider, 64))
        if provider
        else message("signed in")
    )
    if expires is None or (sign_in.renewable and expires < now):
        return state
    if expires < now:
        return message("sign-in expired")
    until = clock_time(expires, now)
    if sign_in.renewable:
        return message("{state} until {until}, then renewed", state=state, until=until)
    return message("{state} until {until}", state=state, until=until)
