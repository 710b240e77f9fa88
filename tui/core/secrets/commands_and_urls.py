"""Finds and masks secrets in command lines, URLs and headers. Pure.

The rules use names (`secret_names`) and positions, so they also find values that are too short to be searched
for everywhere.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote

from tui.core.secrets.secret_names import (
    is_about_a_secret,
    is_secret_header,
    mark_name,
    mark_of,
    may_be_secret,
    names_a_secret,
)
from tui.core.secrets.secret_shapes import is_plain, shapes_in
from tui.core.traffic import Redaction

LONGEST_PLAIN = 1000
"""Characters up to which the value of a name that may be secret may be harmless."""

_SHOWN = re.compile(r"(?:\w{1,40}\s{1,40})?(?:\[redacted:[^\]]{0,200}\]|\*{3}|\$\{[A-Za-z_]\w{0,200}\})")
"""Text that already replaces a secret: a mark, or a reference to a variable."""


_VALUE = r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s;&,"'`]+))"""
_ASSIGNED = re.compile(r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]*)=(?=[^\s;&,`])")
_ASSIGNED_TO = re.compile(_VALUE)
_MEMBER = re.compile(r'"(?P<name>[\w.-]+)"\s*:\s*"(?P<value>(?:[^"\\]|\\.)*)"')
_FLAG_IN_LINE = re.compile(rf"(?<!\S)--?(?P<name>[A-Za-z][\w-]*)\s+(?!-){_VALUE}")
_USER = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://(?:[^\s:/?#@]*:(?P<password>[^\s/?#]+)|(?P<user>[^\s:/?#@]+))@",
    re.IGNORECASE,
)
_FLAG = re.compile(r"--?(?P<name>[A-Za-z][\w-]*)(?:=(?P<value>.*))?", re.DOTALL)
_WHOLE = re.compile(r"(?P<name>[A-Za-z_][\w.-]*)(?:=(?=\S*\Z)|:\s*)(?P<value>.*)", re.DOTALL)
"""`NAME=VALUE`, as for `docker -e`, or `Name: value`, as for `curl -H`: the value is the rest."""

_ATTACHED_HEADER = re.compile(r"-H(?=[A-Za-z][\w.-]*:)")
"""As in `-HX-Api-Key: value`."""

_USER_FLAGS = frozenset({"u", "user", "proxy-user"})
_ATTACHED_USER = re.compile(r"-[uU](?=[^:\s=]+:)")
_PASSWORD = re.compile(
    r"(?P<user>[^:\s/]+):(?!(?P=user)\Z)(?P<password>(?!//|\\|\d+(?:/.*)?\Z).+)", re.DOTALL
)
"""`user:password`, as for `curl -u`; not an address, nor `1000:1000` or `node:node`, as for `docker -u`."""

_SIGNED = frozenset({"sig"})
"""Names of secrets in the query of a URL only."""

_SCHEME = re.compile(r"\A(?:bearer|basic|token|apikey)\s+(?=\S)", re.IGNORECASE)

_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "CREDENTIAL")
"""Variables with these words in their names have secret values."""


def values_of_header(name: str, value: str) -> list[str]:
    """Return the credential of a header, with and without its scheme; [] if its name does not suggest one."""
    if not is_secret_header(name) or not _is_secret(name, value):
        return []
    return list(dict.fromkeys((value, _SCHEME.sub("", value, count=1))))


def places_in(text: str) -> list[Redaction]:
    """Return the secrets in a text such as a URL or a connection string, in order, not overlapping."""
    return _in_order((*_inside(text), *_shaped(text)))


def places_in_arguments(arguments: Sequence[str]) -> list[list[Redaction]]:
    """Return the secrets in each argument of a command line."""
    found: list[list[Redaction]] = []
    expected = ""
    for argument in arguments:
        flag = _FLAG.fullmatch(argument)
        places = list(_inside(argument))
        if flag is None and expected and _is_secret(expected, argument):
            places.append(Redaction(0, len(argument), expected))
        elif flag is None:
            start = attached.end() if (attached := _ATTACHED_HEADER.match(argument)) else 0
            places += _assigned(argument, start)
        elif flag["value"]:
            if _is_secret(flag["name"], flag["value"]):
                places.append(Redaction(*flag.span("value"), flag["name"]))
            places += _assigned(argument, flag.start("value"))
        places += _password(argument, flag, expected)
        places += _shaped(argument)
        found.append(_in_order(places))
        negated = flag is not None and flag["name"].startswith("no-")
        expected = flag["name"] if flag is not None and flag["value"] is None and not negated else ""
    return found


def _assigned(argument: str, start: int) -> Iterator[Redaction]:
    """Yield the rest of an argument from `start` if it is `NAME=VALUE` or `Name: value` of a secret."""
    whole = _WHOLE.fullmatch(argument, start)
    if whole is not None and whole["value"] and _is_secret(whole["name"], whole["value"]):
        yield Redaction(*whole.span("value"), whole["name"])


def _password(argument: str, flag: re.Match[str] | None, expected: str) -> Iterator[Redaction]:
    """Yield the password of `-u user:password`, which may follow the flag, a blank or a `=`."""
    if flag is not None and flag["value"] and flag["name"].lower() in _USER_FLAGS:
        start = flag.start("value")
    elif flag is None and expected.lower() in _USER_FLAGS:
        start = 0
    elif flag is None and (attached := _ATTACHED_USER.match(argument)):
        start = attached.end()
    else:
        return
    found = _PASSWORD.fullmatch(argument, start)
    if found is not None and not _SHOWN.fullmatch(found["password"]):
        yield Redaction(*found.span("password"), "password")


def replaced(
    raw: bytes, spans: Sequence[tuple[int, int, str]], quote: bytes = b""
) -> tuple[bytes, tuple[Redaction, ...]]:
    """Return `raw` with a mark for each of the spans, and where these are.

    Overlapping ones become one, named as the first one found. A `quote` is put around each mark.
    """
    if not spans:
        return raw, ()
    merged: list[tuple[int, int, int]] = []
    for start, end, number in sorted((start, end, number) for number, (start, end, _) in enumerate(spans)):
        if merged and start < merged[-1][1]:
            first, last, named = merged.pop()
            start, end, number = first, max(last, end), min(named, number)
        merged.append((start, end, number))
    parts: list[bytes] = []
    redactions: list[Redaction] = []
    done = length = 0
    for start, end, number in merged:
        name = spans[number][2]
        mark = mark_of(name).encode()
        length += start - done + len(quote)
        parts += (raw[done:start], quote, mark, quote)
        redactions.append(Redaction(length, length + len(mark), mark_name(name)))
        length += len(mark) + len(quote)
        done = end
    parts.append(raw[done:])
    return b"".join(parts), tuple(redactions)


def masked(text: str, places: Iterable[Redaction] | None = None) -> str:
    """Return `text` with a mark for each of the places; without `places`, for the secrets found in it."""
    parts: list[str] = []
    done = 0
    for place in places_in(text) if places is None else places:
        parts += (text[done : place.start], mark_of(place.name))
        done = place.end
    return "".join((*parts, text[done:]))


def blanked_arguments(arguments: Sequence[str]) -> list[str]:
    """Return a command line with "-" in place of the arguments that contain a secret."""
    places = places_in_arguments(arguments)
    return ["-" if found else argument for argument, found in zip(arguments, places, strict=True)]


def masked_arguments(arguments: Sequence[str]) -> list[str]:
    """Return a command line with a mark for each secret."""
    return [
        masked(argument, places)
        for argument, places in zip(arguments, places_in_arguments(arguments), strict=True)
    ]


def secrets_in(text: str) -> list[str]:
    """Return the secrets in a text such as a URL, as written and without percent escapes."""
    return _values(text, places_in(text))


def secrets_in_arguments(arguments: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the index of an argument and a secret in it."""
    for number, places in enumerate(places_in_arguments(arguments)):
        for value in _values(arguments[number], places):
            yield number, value


def secrets_in_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets in variables, by displayable names."""
    found: dict[str, str] = {}
    for name, value in env.items():
        certain = any(word in name.upper() for word in _SECRET_WORDS)
        if may_be_secret(name) and (certain or not is_plain(value)):
            found[name] = value
        elif "://" in value:
            found |= {f"{name}.{number}": one for number, one in enumerate(secrets_in(value))}
    return found


def _values(text: str, places: Iterable[Redaction]) -> list[str]:
    found = [text[place.start : place.end] for place in places]
    # A server that echoes its token rarely echoes the word "Bearer" before it.
    found = [form for value in found for form in (value, _SCHEME.sub("", value, count=1))]
    return list(dict.fromkeys(form for value in found for form in (value, unquote(value))))


def places_in_urls(text: str) -> Iterator[Redaction]:
    """Yield the passwords of URLs, and the users that are not plain words."""
    for found in _USER.finditer(text):
        if found["password"] or not is_plain(found["user"] or "a"):
            group = "password" if found["password"] else "user"
            yield Redaction(*found.span(group), group)


def _inside(text: str) -> Iterator[Redaction]:
    yield from places_in_urls(text)
    yield from _assigned_in(text)
    for found in _FLAG_IN_LINE.finditer(text):
        group = next(name for name in ("double", "single", "bare") if found[name] is not None)
        if _is_secret(found["name"], found[group]):
            yield Redaction(*found.span(group), found["name"])
    for found in _MEMBER.finditer(text):
        if _is_secret(found["name"], found["value"]):
            yield Redaction(*found.span("value"), found["name"])


def _assigned_in(text: str) -> Iterator[Redaction]:
    """Yield the values of `NAME=VALUE`, also within the value of a harmless name: `url=https://h?token=x`.

    Values may be nested as deeply as the text is long. So only those of names that may be secret are read,
    and what is in a secret is not searched.
    """
    done = 0
    for found in _ASSIGNED.finditer(text):
        name = found["name"]
        signed = text[max(0, found.start() - 1) : found.start()] in ("?", "&") and name.lower() in _SIGNED
        names_one = _may_name_one if len(name) <= 64 else _may_name_one.__wrapped__
        if found.end() < done or not (signed or names_one(name)):
            continue
        value = _ASSIGNED_TO.match(text, found.end(), found.end() + LONGEST_PLAIN + 1)
        if value is None or value.end() > found.end() + LONGEST_PLAIN:
            value = _ASSIGNED_TO.match(text, found.end())
        if value is None:
            continue
        group = next(name for name in ("double", "single", "bare") if value[name] is not None)
        if _is_secret("signature" if signed else name, value[group]):
            yield Redaction(*value.span(group), name)
            done = value.end(group)


def _shaped(text: str) -> Iterator[Redaction]:
    """Yield the secrets of a known shape; a name in the text says more about them."""
    octets = text.encode("utf-8", "surrogatepass")
    place = at = 0
    for start, end, name in sorted(shapes_in(octets, placeholders=False), key=lambda one: one[0]):
        place += len(octets[at:start].decode("utf-8", "surrogatepass"))
        at = start
        yield Redaction(place, place + len(octets[start:end].decode("utf-8", "surrogatepass")), name)


@lru_cache(1024)
def _may_name_one(name: str) -> bool:
    return (names_a_secret(name) or may_be_secret(name)) and not is_about_a_secret(name)


def _is_secret(name: str, value: str) -> bool:
    if not value or _SHOWN.fullmatch(value) or is_about_a_secret(name):
        return False
    if names_a_secret(name):
        return True
    return may_be_secret(name) and (len(value) > LONGEST_PLAIN or not is_plain(value))


def _in_order(places: Iterable[Redaction]) -> list[Redaction]:
    """Return places in order; where some overlap, the first and the rest of the others, longest first."""
    kept: list[Redaction] = []
    done = 0
    for place in sorted(places, key=lambda one: (one.start, -one.end)):
        if place.end > max(done, place.start):
            kept.append(place._replace(start=max(done, place.start)))
            done = place.end
    return kept
