"""The table of names of secrets: of variables, flags, arguments, headers and fields of OAuth. Pure."""

import re
from functools import lru_cache
from itertools import pairwise

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRETS = frozenset(
    (
        "password passwd passphrase passcode pwd pw pin otp secret secrets credential credentials cookie"
        " bearer token authtoken accesstoken refreshtoken jwt pat auth authorization signature"
        " apikey accesskey privatekey secretkey clientsecret"
    ).split()
)
_IN_KEYCHAIN = re.compile(r"(\w+ )?keyring:(.+/[^/]+)")
_PAIRS = frozenset(("api key", "access key", "private key", "secret key", "session id", "session key"))


_MAY_BE_SECRET = re.compile(
    r"(?<!mon|tur|hot)key(?!board|word)|token(?!i[sz])|secret(?!ar)|passw|passphrase|(?<![a-z])pass\Z|pwd"
    r"|auth(?!or(?!i[sz]a))|credential|cookie|bearer|private|session|signature",
    re.IGNORECASE,
)
"""Matches parts of names, such as in `PGPASSWORD`, but not `AUTHOR`, `KEYBOARD` or `TOKENIZERS`."""

_KEY_OF_VARIABLE = re.compile(r"AWS_|(?:.*_)?TOK\Z|.*_KEY\Z", re.IGNORECASE | re.DOTALL)
"""Matches more names of environment variables with a secret."""

_ASKED_FOR = re.compile(
    r"password|passphrase|passwd|secret|credential|(api|access|private)[ _-]?key|token|credit[ _-]?card"
    r"|card[ _-]?number|\bcvv\b|\bpin\b|\bssn\b",
    re.IGNORECASE,
)
"""Matches words for the user to read that ask for a secret."""

_FOLDERS = frozenset({"PWD", "OLDPWD"})

_ABOUT_SECRET = re.compile(r"(?:file|path|dir|env|type)$", re.IGNORECASE)
"""Endings of names that only refer to a secret: `--token-file`, `--api-key-env`."""

_SAYS_SOMETHING = frozenset(
    "name mode count limit budget size length ttl expiry expires format kind prefix".split()
)
_SECRET_IDS = frozenset("session secret token".split())
"""Words before `id` in names of secrets."""

_OF_PAGES = frozenset(
    "page next previous prev continuation continue pagination cursor resume sync progress".split()
)
"""Words before `token` in names of pagination tokens."""


_NEVER_CREDENTIALS = frozenset({"idempotency-key", "sec-websocket-key", "sec-websocket-accept"})
"""Headers that look like ones with a credential, but have none."""

OPEN_HEADERS = frozenset({"accept", "content-type", "content-length", "mcp-protocol-version", "mcp-method"})
"""Headers whose values say nothing about the user."""

ORDINARY_HEADERS = OPEN_HEADERS | {"accept-language", "user-agent"}
"""Headers that nobody keeps a secret in."""

_SHOWN = frozenset(
    (
        "grant_type response_type response_types response_mode client_id client_name scope resource audience"
        " token_type expires_in token_endpoint_auth_method grant_types application_type error"
        " error_description issuer authorization_servers resource_name contacts software_id software_version"
        " code_challenge_method client_id_issued_at client_secret_expires_at client_assertion_type"
        " requested_token_type issued_token_type subject_token_type dpop_bound_access_tokens"
    ).split()
)
_SHOWN_ENDS = ("_supported", "_endpoint", "_uri", "_uris", "_required", "_documentation")
_HIDDEN = frozenset({"registration_client_uri"})
OAUTH_SECRETS = frozenset(
    (
        "code code_verifier refresh_token access_token id_token client_secret client_assertion assertion"
        " registration_access_token subject_token actor_token device_code password state"
    ).split()
)


def names_a_secret(name: str) -> bool:
    """Return whether `name` (of a field, a header, a variable) suggests a secret."""
    words = _words(name)
    if not _SECRETS.isdisjoint(words) or words[-1:] == ["pass"]:  # `--pass`, `db_pass`; not `pass_through`
        return True
    return any(" ".join(pair) in _PAIRS for pair in pairwise(words))


def names_a_key(variable: str) -> bool:
    """Return whether an environment variable is named like a key or another secret."""
    return _KEY_OF_VARIABLE.match(variable) is not None or names_a_secret(variable)


def asks_for_a_secret(words: str) -> bool:
    """Return whether the label or the description of a field of a form asks for a secret."""
    return _ASKED_FOR.search(words) is not None


@lru_cache(1024)
def names_a_secret_argument(name: str) -> bool:
    """Return whether the argument `name` of a tool holds a secret, judging only by its name.

    Pagination tokens, such as `next_token` or `nextPageToken`, are none.
    """
    words = _words(name)
    is_of_pages = words[-1:] == ["token"] and not _OF_PAGES.isdisjoint(words[-2:-1])
    return names_a_secret(name) and not is_about_a_secret(name) and not is_of_pages


def may_be_secret(name: str) -> bool:
    """Return whether the value of `name` may be secret; a broader guess than `names_a_secret`."""
    return name not in _FOLDERS and _MAY_BE_SECRET.search(name) is not None


def only_refers_to_a_secret(name: str) -> bool:
    """Return whether `name` names a file, a folder or a type: `token_file`, `AUTH_TYPE`."""
    return _ABOUT_SECRET.search(name) is not None


def describes_a_secret(name: str) -> bool:
    """Return whether `name` names something about a secret: `API_KEY_NAME`, `token_count`."""
    return not _SAYS_SOMETHING.isdisjoint(_words(name)[-1:])


def is_an_identifier(name: str) -> bool:
    """Return whether `name` names an identifier, which is not secret: `CLIENT_ID`, not `SESSION_ID`."""
    words = _words(name)
    return words[-1:] == ["id"] and _SECRET_IDS.isdisjoint(words[-2:-1])


def is_about_a_secret(name: str) -> bool:
    """Return whether `name` names something about a secret, or what identifies it, not the secret."""
    return only_refers_to_a_secret(name) or describes_a_secret(name) or is_an_identifier(name)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name[:200])]


def keychain_entry(value: str) -> tuple[str, str] | None:
    """Return scheme and entry of a value like `Bearer keyring:SERVICE/NAME`, None if it is no entry."""
    found = _IN_KEYCHAIN.fullmatch(value)
    return None if found is None else (found[1] or "", found[2])


def is_secret_header(name: str) -> bool:
    """Return whether an HTTP header carries a credential: a key, a cookie, a session id."""
    return (_is_secret_header if len(name) <= 64 else _is_secret_header.__wrapped__)(name)


@lru_cache(1024)
def _is_secret_header(name: str) -> bool:
    lower = name.lower()
    if lower in _NEVER_CREDENTIALS or lower.startswith("access-control-"):
        return False
    return names_a_secret(name) or lower.endswith("-key")


def is_shown(name: str) -> bool:
    """Return whether the value of a field may be recorded."""
    return name not in _HIDDEN and (name in _SHOWN or name.endswith(_SHOWN_ENDS))


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
_SPOKEN = _SECRETS.union(*map(str.split, _PAIRS))
"""The words of which a mark can be made without a part of its secret."""

MARK = re.compile(r"\[redacted:[^\]\s]{1,80}\]")


def mark_name(name: str) -> str:
    """Return the name of a value as it is written in a mark.

    Of one that cannot be written whole, only words such as "password" are taken: a secret may be in it, and
    would not be found in a changed name.
    """
    if _PLAIN_NAME.fullmatch(name):
        return name
    return "_".join(dict.fromkeys(word for word in _words(name[-200:]) if word in _SPOKEN)) or "secret"


def mark_of(name: str) -> str:
    """Return the mark that replaces the value of this name."""
    return f"[redacted:{mark_name(name)}]"
