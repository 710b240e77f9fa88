"""Reads OAuth requests and replies: which values are secret, and how long a token is valid. Pure.

Codes, verifiers, tokens and client secrets have no recognizable shape. So only the values of fields known to
be harmless are shown, and all others are replaced.
"""

import json
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from tui.core.errors import ServerError
from tui.core.jsonrpc.reader import json_mapping
from tui.core.language.translate import message
from tui.core.secrets.secret_names import OAUTH_SECRETS, is_shown, mark_of
from tui.core.text import clean_line
from tui.core.units import bounded

LONGEST_LIFETIME = 100 * 365 * 86400
"""Seconds; a token that is valid for longer does not expire."""

MAX_SHOWN = 16 * 1024
"""Maximum characters of a reply that are shown."""

MAX_SECRETS = 200
"""Maximum secrets of one reply; a real one has fewer than ten."""

_NUMBERS = frozenset("expires_in client_id_issued_at client_secret_expires_at".split())
_TOKEN_TYPES = frozenset("bearer mac dpop pop n_a".split())


def fields_of(body: bytes, content_type: str) -> dict[str, Any] | None:
    """Return the fields of a form or a JSON object; None if it is neither."""
    if "x-www-form-urlencoded" in content_type:
        try:
            return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=200))
        except ValueError:
            return None
    try:
        found = json.loads(body, parse_int=_number, parse_float=_number, parse_constant=lambda word: None)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def lifetime(expires_in: Any) -> int | None:
    """Return how many seconds a token is valid that was just issued; None if the issuer does not say it.

    Issuers write 0 or an enormous number for tokens that do not expire, and what is no number says nothing.
    Whether a token is valid is the server's decision in any case: it rejects an expired one.
    """
    seconds = bounded(expires_in, least=1, or_text=True)
    return None if seconds is None or seconds > LONGEST_LIFETIME else int(seconds)


def with_lifetime(tokens: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a token reply with `expires_in` as `lifetime` reads it, or without it."""
    seconds = lifetime(tokens.get("expires_in"))
    known = {name: value for name, value in tokens.items() if name != "expires_in"}
    return known if seconds is None else {**known, "expires_in": seconds}


def claims_of(token: str) -> Mapping[str, Any]:
    """Return the claims of a JWT, whose signature is not checked; {} if it is none."""
    parts = token.split(".", 3)
    claims = parts[1] if len(parts) == 3 else ""
    try:
        return json_mapping(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    except ValueError:
        return {}


_DPOP = (
    "dpop_signing_alg_values_supported",
    "dpop_bound_access_tokens_required",
    "dpop_bound_access_tokens",
)
"""Members of metadata that ask for tokens bound to a key (RFC 9449, RFC 9728)."""

_JWT_BEARER, _ID_JAG = "urn:ietf:params:oauth:grant-type:jwt-bearer", "id-jag"


def dpop_fields(metadata: Mapping[str, Any]) -> dict[str, bool]:
    """Return the members of metadata that name DPoP, without their values; the SDK does not read them."""
    return {name: True for name in _DPOP if metadata.get(name)}


def unsupported(metadata: Mapping[str, Any]) -> str:
    """Return the sentence that metadata name what is not supported yet (SEP-1932, SEP-1933), or ""."""
    grants = metadata.get("grant_types_supported")
    profiles = str(metadata.get("authorization_grant_profiles_supported"))
    by_assertion = isinstance(grants, list) and _JWT_BEARER in grants and "authorization_code" not in grants
    found = ["DPoP"] if dpop_fields(metadata) else []
    found += ["workload identity"] if by_assertion and _ID_JAG not in profiles else []
    return f"Its metadata name {' and '.join(found)}, not supported yet." if found else ""


def _number(digits: str) -> float:
    """Return a number of JSON; `int` refuses thousands of digits, and infinity cannot be written again."""
    found = bounded(digits.lstrip("-"), or_text=True) or 0
    return -found if digits.startswith("-") else found


def masked_fields(fields: Mapping[str, Any] | None, size: int) -> Any:
    """Return fields with a mark for each value that may be secret; if `fields` is None, the body's size.

    A harmless field whose value is not of its type is marked too: something else is in it.
    """
    if fields is None:
        return f"[redacted:body of {size} bytes]" if size else ""
    shown = {
        name: value if is_shown(name) and _fits(name, value) else mark_of(name)
        for name, value in fields.items()
    }
    text = json.dumps(shown)
    return shown if len(text) <= MAX_SHOWN else f"[{len(text)} characters omitted]"


def _fits(name: str, value: Any) -> bool:
    """Return whether a harmless field has a value of its type: a number, a known word, or any texts."""
    if value is None or isinstance(value, int | float):
        return True
    if name in _NUMBERS:
        return isinstance(value, str) and value.isdecimal()
    if name == "token_type":
        return isinstance(value, str) and value.lower() in _TOKEN_TYPES
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def masked_address(address: str) -> str:
    """Return an address without user, fragment and the values of its query."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = "&".join(f"{name}={value if is_shown(name) else mark_of(name)}" for name, value in pairs)
    return urlunsplit((parts.scheme, host, parts.path, query, ""))


def secrets_of(fields: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the secret values among fields, by name.

    A reply may be malformed: secret fields are found at any depth, and everything in one is secret, as is
    everything in a harmless field that is more than a value.
    """
    found: dict[str, str] = {}
    waiting = [
        (name, value, name in OAUTH_SECRETS or (is_shown(name) and not _fits(name, value)))
        for name, value in (fields or {}).items()
    ]
    while waiting and len(found) < MAX_SECRETS:
        name, value, is_secret = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(one, inner, is_secret or one in OAUTH_SECRETS) for one, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(name, inner, is_secret) for inner in value]
        elif is_secret and value and not isinstance(value, bool):
            found[name if name not in found else f"{name}.{len(found)}"] = str(value)
    return found


def secrets_of_address(address: str) -> dict[str, str]:
    """Return the secret values in the query of an address."""
    try:
        pairs = parse_qsl(urlsplit(address).query, max_num_fields=64)
    except ValueError:
        return {}
    return secrets_of(dict(pairs))


def secrets_of_header(authorization: str) -> dict[str, str]:
    """Return the secrets of an Authorization header: the credentials, and a password inside of them."""
    scheme, _, credentials = authorization.partition(" ")
    if not credentials:
        return {}
    found = {"authorization": credentials}
    if scheme.lower() == "basic":
        try:
            password = b64decode(credentials).decode().partition(":")[2]
        except ValueError:
            return found
        found["client_secret"] = unquote(password)
    return found


@dataclass(frozen=True, slots=True, repr=False)
class Callback:
    """The answer of an authorization server: a code, or an error. `issuer` is its `iss` (RFC 9207)."""

    state: str
    code: str = ""
    issuer: str | None = None
    error: str = ""
    description: str = ""


def read_callback(address: str) -> Callback:
    """Read the address that the browser was sent to, whole or from its `?` on.

    Raises ServerError if it is not the answer of an authorization server.
    """
    text = address.strip()
    query = urlsplit(text).query if "?" in text else text
    pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=32) if query.count("&") < 32 else []
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ServerError(message("the response contains a parameter twice (RFC 6749, 3.1)."))
    if "state" not in found or not ("code" in found or "error" in found):
        raise ServerError(
            message("this is not the URL that the browser ended on."),
            next_step=message("Paste the complete URL, with code= and state=."),
        )
    return Callback(
        found["state"],
        "" if "error" in found else found["code"],
        found.get("iss"),
        clean_line(found.get("error", ""), 80),
        clean_line(found.get("error_description", ""), 300),
    )
