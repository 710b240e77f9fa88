"""Whether a name says that what it names is secret. Pure.

A guess by words, for what is typed into forms: what looks like a secret is not remembered. `page_token` is
guessed wrongly, which costs its being remembered; `max_tokens` and `keyword` are not.
"""

import re
from itertools import pairwise

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = frozenset(
    (
        "password passwd passphrase passcode pwd pin otp secret secrets credential credentials cookie bearer"
        " token authtoken accesstoken refreshtoken jwt pat auth authorization signature"
        " apikey accesskey privatekey secretkey clientsecret"
    ).split()
)
_PAIRS = frozenset(("api key", "access key", "private key", "secret key", "session id", "session key"))


def names_a_secret(name: str) -> bool:
    """Return whether `name` (of a field, a header, a variable) reads like that of a secret."""
    words = [word.lower() for word in _WORDS.findall(name[:200])]
    if not _SECRET.isdisjoint(words) or words[-1:] == ["pass"]:  # `--pass`, `db_pass`; not `pass_through`
        return True
    return any(" ".join(pair) in _PAIRS for pair in pairwise(words))
