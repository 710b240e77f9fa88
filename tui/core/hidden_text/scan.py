"""Scans a text of a server for what a person does not see, or what orders a model about. Pure, linear.

Honest descriptions say what a tool does and when to use it, so only what they have no reason to contain is
found: characters without a shape, text moved out of sight, comments, tags that imitate a prompt, and orders
about secrecy, other tools, earlier instructions or private files.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from tui.core.text import clean, clean_line

MAX_CHARS = 64 * 1024
"""Characters of a text that are scanned; a model reads fewer."""

FAR_BLANKS = 60
"""Blanks in a row that move what follows off a screen."""

FAR_LINES = 8
EXCERPT_CHARS = 80
_NEAR = 24


class Sign(StrEnum):
    """What was found, as a person reads it."""

    TAGS = "hidden tag characters"
    ESCAPES = "control characters"
    DIRECTION = "text direction overrides"
    INVISIBLE = "invisible characters"
    FAR = "text out of sight"
    COMMENT = "HTML comment"
    PROMPT = "imitates a prompt"
    SECRECY = "asks to keep something from you"
    OVERRIDE = "overrides other instructions"
    OTHER_TOOLS = "instructions about other tools"
    PRIVATE_FILES = "asks for private files"


DOUBTFUL = frozenset(
    {Sign.TAGS, Sign.FAR, Sign.COMMENT, Sign.PROMPT, Sign.SECRECY, Sign.OVERRIDE, Sign.PRIVATE_FILES}
)
"""Signs of a definition that no honest server has: it is not offered before somebody has read it."""


@dataclass(frozen=True, slots=True)
class HiddenText:
    """A finding: what, in which part of a definition, and an excerpt with symbols for what has no shape."""

    sign: Sign
    place: str
    excerpt: str

    def __str__(self) -> str:
        return f"{self.place}: {self.sign}"


def signs_of(found: Iterable[HiddenText]) -> str:
    """Return findings by place: "description: text out of sight, HTML comment; title: …"."""
    places: dict[str, list[str]] = {}
    for one in found:
        signs = places.setdefault(one.place, [])
        if one.sign not in signs:
            signs.append(one.sign)
    return "; ".join(f"{place}: {', '.join(signs)}" for place, signs in places.items())


def is_doubtful(found: Iterable[HiddenText]) -> bool:
    """Return whether somebody has to read the text before a model does."""
    return any(one.sign in DOUBTFUL for one in found)


_ODD = re.compile("[^\n\t -~]")
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]|[\u200e\u200f\u061c]")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_ESCAPES = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_FLAGS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:{}|{}|{})\U000e007f".format(
        "\U000e0065\U000e006e\U000e0067", "\U000e0073\U000e0063\U000e0074", "\U000e0077\U000e006c\U000e0073"
    )
)
"""England, Scotland and Wales: the flags that are written with tag characters."""
_BLANKS = re.compile(rf"[\s\u2800\u3164\uffa0]{{{FAR_LINES + 1},}}")
_LINES = str.maketrans(dict.fromkeys("\x0b\x0c\x85\u2028\u2029", "\n"))
_COMMENT = re.compile(
    r"<!--(?=[^>]{0,400}?\w+\s+\w)"
    r"|^\[(?://|comment)\]:[ \t]{0,9}(?:#|<>)[ \t]{0,9}[(\"'](?=[^\n]{0,400}?\w+\s+\w)",
    re.MULTILINE,
)

_USER = r"(?:(?:the|your|any)\s+)?(?:user|human|person|operator|owner|customer)s?\b"
_TOOL = r"(?:tools?|functions?|servers?|commands?|actions?)\b"
_PRIVATE = (
    r"(?:\.ssh\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\.aws/credentials|\.netrc\b|\.gnupg\b|\.kube/config"
    r"|/etc/(?:passwd|shadow)\b|\.git-credentials|\.cursor/mcp\.json|\.?claude(?:_desktop_config)?\.json"
    r"|\.mcp\.json|\.bash_history|\.zsh_history|(?<![\w.])\.env\b|private keys?\b)"
)

_SPOKEN: tuple[tuple[Sign, tuple[str, ...], str], ...] = (
    (
        Sign.PROMPT,
        ("<", "["),
        r"<\s{0,3}(?:important|system|hidden|assistant|admin|priority|inst)\s{0,3}>"
        r"|</\s{0,3}(?:important|system|secret|hidden|tool|assistant|user|admin|priority|inst)\s{0,3}>"
        r"|<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>",
    ),
    (
        Sign.SECRECY,
        ("user", "human", "person", "operator", "owner", "customer", "secret", "silent"),
        rf"\bno\s+need\s+to\s+(?:tell|inform|notify|mention\s+(?:this|that|it)\s+to)\s+{_USER}|"
        rf"\b(?:do\s+not|don't|don’t|never|must\s+not|mustn't|should\s+not|avoid|without|nor)\s+(?:ever\s+)?"
        rf"(?:tell|inform|notify|alert|warn|telling|informing|notifying|alerting|warning)(?:\s+this\s+to)?\s+{_USER}"
        rf"|\b(?:do\s+not|don't|don’t|never|without)\s+(?:mention|reveal|disclose|show|mentioning|revealing)"
        rf"\s+(?:this|that|it|these|any\s+of\s+this|the\s+instructions?|this\s+(?:instruction|step|call))"
        rf"\s+(?:to\s+)?{_USER}"
        rf"|\b(?:hide|conceal|hidden|keep)\s+(?:this|that|it|these|the fact)?\s*(?:secret\s+)?from\s+{_USER}"
        rf"|\bwithout\s+(?:the\s+)?(?:user|human|person)(?:'s|’s)?\s+(?:knowledge|knowing|noticing|consent)"
        rf"|\b(?:silently|secretly)\s+(?:send|read|call|include|append|forward|upload|copy|run|execute)",
    ),
    (
        Sign.OVERRIDE,
        ("ignor", "disregard", "forget", "overrid"),
        r"\b(?:ignore|disregard|forget|override|overriding|ignoring|disregarding)\s+"
        r"(?:(?:all|any|the|your|these|those|my|of)\s+){0,3}"
        r"(?:previous|prior|above|earlier|preceding|other|existing|system|safety|developer|original)\s+"
        r"(?:\w+\s+)?(?:instructions?|rules|prompts?|messages|guidelines|directions|directives|constraints|policies)\b",
    ),
    (
        Sign.OTHER_TOOLS,
        (
            "any",
            "every",
            "each",
            "all",
            "other",
            "available",
            "must",
            "always",
            "bcc",
            "blind",
            "forward",
            "also",
        ),
        r"\balways\s{1,3}(?:call|use|run|invoke)\s{1,3}this(?:\s{1,3}(?:tool|function))?(?:\s{1,3}first)?,?"
        r"\s{1,3}(?:instead|in place)\s{1,3}of\s{1,3}\w{1,40}_\w|"
        rf"\b(?:before|prior to|instead of|in place of|whenever|each time|every time)\s+(?:you\s+)?"
        rf"(?:using|calling|invoking|running|executing|use|call|invoke|run)\s+"
        rf"(?:any|every|each|all)(?:\s+of)?(?:\s+the)?(?:\s+other)?\s+{_TOOL}"
        rf"|\b(?:before|prior to|instead of)\s+(?:using|calling|invoking|running)\s+"
        rf"(?:the\s+)?other\s+{_TOOL}"
        r"|\bwhen(?:ever)?\s+(?:the\s+)?[\w'’. -]{1,60}\b(?:tools?|servers?)\s+(?:is|are)\s+"
        r"(?:available|called|used|present|invoked|connected)\b[^.\n]{0,40}\b(?:must|always|first|instead)\b"
        r"|\b(?:emails?|mails?|messages?|payments?|transfers?)\b[^.\n]{0,40}\b(?:must|should)\s+(?:always\s+)?"
        r"(?:go|be sent|be forwarded|be copied)\s+to\b"
        r"|\b(?:bcc|blind copy|forward)\b[^.\n]{0,30}\s[\w.+-]{1,64}@[\w-]{1,64}\.\w"
        rf"|\balso\s+(?:call|invoke|run|use)\s+(?:the\s+)?(?:bash|shell|exec|terminal|curl|send_\w+)\b",
    ),
    (
        Sign.PRIVATE_FILES,
        (
            ".ssh",
            "id_",
            ".aws",
            ".netrc",
            ".gnupg",
            ".kube",
            "/etc/",
            ".git-",
            ".json",
            "_history",
            ".env",
            "private key",
        ),
        rf"\b(?:read|open|cat|load|include|pass|send|attach|upload|copy|fetch|paste|append|provide|contents?\s+of)"
        rf"\b[^.\n]{{0,48}}?[\s`'\"(/~]{_PRIVATE}",
    ),
)
_PATTERNS = tuple((sign, hints, re.compile(words, re.IGNORECASE)) for sign, hints, words in _SPOKEN)


def scan(text: str, place: str) -> Iterator[HiddenText]:
    """Yield each sign that is in a text once, where it is first; `place` is in the person's words."""
    head = text[:MAX_CHARS]
    if _ODD.search(head):
        yield from _unseen(head, place)
    if end := _end_of_gap(head):
        yield HiddenText(Sign.FAR, place, _after(head, end))
    if ("<!--" in head or "]:" in head) and (found := _COMMENT.search(head)):
        yield HiddenText(Sign.COMMENT, place, _after(head, found.start()))
    folded = head.lower()
    for sign, hints, pattern in _PATTERNS:
        if any(hint in folded for hint in hints) and (found := pattern.search(head)):
            yield HiddenText(sign, place, _around(head, found.start(), found.end()))


def _end_of_gap(text: str) -> int:
    """Return where text goes on behind so many blanks or empty lines that it is out of sight, or 0."""
    last = len(text.rstrip())
    for gap in _BLANKS.finditer(text, 0, last):
        blank = gap.group().translate(_LINES).expandtabs(8)
        if blank.count("\n") > FAR_LINES or max(map(len, blank.split("\n"))) >= FAR_BLANKS:
            return gap.end() if gap.end() < last else 0
    return 0


def _unseen(text: str, place: str) -> Iterator[HiddenText]:
    rest = text = _FLAGS.sub("?", text)
    if found := _TAGS.search(text):
        written = "".join(chr(ord(char) - 0xE0000) for one in _TAGS.findall(text) for char in one)
        yield HiddenText(Sign.TAGS, place, clean_line(written, EXCERPT_CHARS))
        rest = _TAGS.sub("", rest)
    if found := _ESCAPES.search(rest):
        yield HiddenText(Sign.ESCAPES, place, _around(rest, found.start(), found.end()))
        rest = _ESCAPES.sub("", rest)
    found = _DIRECTION.search(rest)
    if found and (found.group() not in "\u200e\u200f\u061c" or not _RIGHT_TO_LEFT.search(rest)):
        yield HiddenText(Sign.DIRECTION, place, _around(rest, found.start(), found.end()))
    shown = clean(_DIRECTION.sub("", rest).replace("\ufffd", "?"))
    if "\ufffd" in shown:
        at = shown.index("\ufffd")
        yield HiddenText(Sign.INVISIBLE, place, _around(shown, at, at + 1))


def _around(text: str, start: int, end: int) -> str:
    return clean_line(text[max(0, start - _NEAR) : end + _NEAR], EXCERPT_CHARS)


def _after(text: str, start: int) -> str:
    return clean_line(text[start : start + 4 * EXCERPT_CHARS], EXCERPT_CHARS)
