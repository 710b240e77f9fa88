"""Orders to a model in the text of a server, by what they are about. Pure, linear."""

import re
from collections.abc import Iterator
from enum import Enum, auto


class Order(Enum):
    """What an order is about."""

    PROMPT = auto()
    SECRECY = auto()
    OVERRIDE = auto()
    OTHER_TOOLS = auto()
    PRIVATE_FILES = auto()


_USER = r"(?:(?:the|your|any)\s+)?(?:user|human|person|operator|owner|customer)s?\b"
_TOOL = r"(?:tools?|functions?|servers?|commands?|actions?)\b"
_SECRET = (
    r"(?:\.ssh\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\.aws/credentials|\.netrc\b|\.gnupg\b|\.kube/config"
    r"|/etc/(?:passwd|shadow)\b|\.git-credentials|\.cursor/mcp\.json|\.?claude(?:_desktop_config)?\.json"
    r"|\.mcp\.json|\.bash_history|\.zsh_history|(?<![\w.])\.env\b)"
)
_PRIVATE = rf"(?:{_SECRET}|private keys?\b)"

_SPOKEN: tuple[tuple[Order, tuple[str, ...], str], ...] = (
    (
        Order.PROMPT,
        ("<", "["),
        r"<\s{0,3}(?:important|system|hidden|assistant|admin|priority|inst)\s{0,3}>"
        r"|</\s{0,3}(?:important|system|secret|hidden|tool|assistant|user|admin|priority|inst)\s{0,3}>"
        r"|<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>"
        r"|\[(?-i:IMPORTANT|SYSTEM|HIDDEN|ADMIN|PRIORITY|Important|System)(?:\s{1,3}\w{1,20})?\](?!\()",
    ),
    (
        Order.SECRECY,
        ("user", "human", "person", "operator", "owner", "customer", "secret", "silent"),
        rf"\b(?:do\s+not|don't|don’t|never|must\s+not|mustn't|should\s+not|avoid|without|nor)\s+(?:ever\s+)?"
        rf"(?:tell|inform|notify|alert|warn|telling|informing|notifying|alerting|warning)(?:\s+this\s+to)?\s+{_USER}"
        rf"|\b(?:do\s+not|don't|don’t|never|without)\s+(?:mention|reveal|disclose|show|mentioning|revealing)"
        rf"\s+(?:this|that|it|these|any\s+of\s+this|the\s+instructions?|this\s+(?:instruction|step|call))"
        rf"\s+(?:to\s+)?{_USER}"
        rf"|\b(?:no\s+need|need\s+not|needn't|needn’t|not\s+necessary|unnecessary)\s+(?:to\s+)?"
        rf"(?:tell|inform|notify|alert|warn|ask|mention|show|reveal)\s+(?:(?:this|that|it|these)\s+)?(?:to\s+)?{_USER}"
        rf"|\b(?:hide|conceal|hidden|keep)\s+(?:this|that|it|these|the fact)?\s*(?:secret\s+)?from\s+{_USER}"
        rf"|\bwithout\s+(?:the\s+)?(?:user|human|person)(?:'s|’s)?\s+(?:knowledge|knowing|noticing|consent)"
        rf"|\b(?:silently|secretly)\s+(?:send|read|call|include|append|forward|upload|copy|run|execute)",
    ),
    (
        Order.OVERRIDE,
        ("ignor", "disregard", "forget", "overrid"),
        r"\b(?:ignore|disregard|forget|override|overriding|ignoring|disregarding)\s+"
        r"(?:(?:all|any|the|your|these|those|my|of)\s+){0,3}"
        r"(?:previous|prior|above|earlier|preceding|other|existing|system|safety|developer|original)\s+"
        r"(?:\w+\s+)?(?:instructions?|rules|prompts?|messages|guidelines|directions|directives|constraints|policies)\b",
    ),
    (
        Order.OTHER_TOOLS,
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
        r"|\b(?:always|must)\s+(?:\w+\s+){0,2}?(?:call|use|invoke|run)\s+this\b[^.\n]{0,40}"
        r"\b(?:instead\s+of|in\s+place\s+of|rather\s+than)\s+(?:the\s+)?[`'\"]?\w+[_-]\w"
        rf"|\balso\s+(?:call|invoke|run|use)\s+(?:the\s+)?(?:bash|shell|exec|terminal|curl|send_\w+)\b",
    ),
    (
        Order.PRIVATE_FILES,
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
        rf"\b(?:call|invoke|run|use)\s+[`'\"]?\w+[`'\"]?\s+(?:with|on|for)\b[^.\n]{{0,32}}?[\s`'\"(/~]{_PRIVATE}"
        rf"|\b(?:read|open|cat|load|include|pass|send|attach|upload|copy|fetch|paste|append|provide|contents?\s+of)"
        rf"\b[^.\n]{{0,48}}?[\s`'\"(/~]{_PRIVATE}",
    ),
)
_PATTERNS = tuple((sign, hints, re.compile(words, re.IGNORECASE)) for sign, hints, words in _SPOKEN)


def orders_in(text: str) -> Iterator[tuple[Order, int, int]]:
    """Yield each kind of order that is in a text once, and where it is first."""
    folded = text.lower()
    for order, hints, pattern in _PATTERNS:
        if not any(hint in folded for hint in hints):
            continue
        found = pattern.search(text)
        if found is None and order is Order.PRIVATE_FILES:
            found = next((one for one in _SECRET_PATH.finditer(text) if _is_foreign(text, one)), None)
        if found is not None:
            yield order, found.start(), found.end()


_SECRET_PATH = re.compile(
    rf"(?:(?<![\w.])|(?<=[~/])){_SECRET}(?:/[\w.]{{1,40}})?|[~/][\w./-]{{0,60}}credentials\b", re.IGNORECASE
)
_SENTENCE_CHARS = 200
_STOPS = re.compile("[.!?](?=\\s)|[\n。！？]")
_LETTERS = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    "the by from and with default defaults file files path paths using this that your when key keys location "
    "example supports variables environment".split()
)
MIN_WORDS = 3
MIN_OTHER_LETTERS = 3


def _is_foreign(text: str, path: re.Match[str]) -> bool:
    """Return whether the sentence around a path is not English: what it is for cannot be told from it."""
    before = _STOPS.split(text[max(0, path.start() - _SENTENCE_CHARS) : path.start()])[-1]
    after = _STOPS.split(text[path.end() : path.end() + _SENTENCE_CHARS])[0]
    said = _LETTERS.findall(f"{before} {after}".lower())
    if any(word in _ENGLISH for word in said):
        return False
    others = sum(not char.isascii() for word in said for char in word)
    return len(said) >= MIN_WORDS or others >= MIN_OTHER_LETTERS
