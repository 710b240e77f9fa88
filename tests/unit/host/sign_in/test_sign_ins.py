"""The state of sign-ins, as it is shown."""

import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.host.sign_in.sign_ins import SignIns, state_of
from tui.host.sign_in.token_store import TokenStore

NOON = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
TOKENS = {"access_token": "canary-access"}


@each_case(
    ("sign_in", "state"),
    [
        (StoredSignIn("a", "u"), "not signed in"),
        (StoredSignIn("a", "u", tokens=TOKENS), "signed in"),
        (StoredSignIn("a", "u", tokens=TOKENS, expires_at=NOON + 9000), "signed in until 14:30"),
        (
            StoredSignIn("a", "u", tokens=TOKENS, expires_at=NOON + 9000, renewable=True),
            "signed in until 14:30, then renewed",
        ),
        (StoredSignIn("a", "u", tokens=TOKENS, expires_at=NOON + 86400), "signed in until 2026-11-23 12:00"),
        (StoredSignIn("a", "u", tokens=TOKENS, expires_at=NOON - 1), "sign-in expired"),
        (StoredSignIn("a", "u", tokens=TOKENS, expires_at=NOON - 1, renewable=True), "signed in"),
    ],
)
def test_the_state_of_a_sign_in_is_described(sign_in: StoredSignIn, state: str) -> None:
    assert state_of(sign_in, NOON) == state


@given(st.floats() | st.integers() | st.sampled_from([2**63, 10**30, 10**400, -(2**63)]))
def test_any_moment_of_expiry_can_be_described(at: float) -> None:
    assert state_of(StoredSignIn("a", "u", tokens=TOKENS, expires_at=at), NOON).startswith("sign")


async def test_after_signing_out_the_state_is_not_signed_in_and_nothing_is_stored(tmp_path: Path) -> None:
    changed: list[str] = []
    sign_ins = SignIns(TokenStore(tmp_path, use_keychain=False), changed=changed.append)
    assert sign_ins.state("a") == ""
    sign_ins.tell(await sign_ins.store.save(StoredSignIn("a", "u", tokens=TOKENS)))
    assert sign_ins.state("a") == "signed in"
    assert await sign_ins.forget("a") == 1 and sign_ins.state("a") == "not signed in"
    assert changed == ["a", "a"]
    assert await sign_ins.store.listed() == []


def test_learned_values_are_redacted(tmp_path: Path) -> None:
    sign_ins = SignIns(TokenStore(tmp_path))
    sign_ins.remember({"code": "canary-code"})
    assert sign_ins.redact("got canary-code") == "got [redacted:oauth.code]"
