"""Finds instructions to the model in the text of a server, by topic. Pure, linear."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from tui.core.hidden_text.readable import as_latin
from tui.core.language.translate import N_


class Sign(StrEnum):
    """The sign of hidden or suspicious text, in the words on screen."""

    TAGS = N_("hidden tag characters")
    TERMINAL = N_("text that a terminal would hide")
    ESCAPES = N_("control characters")
    DIRECTION = N_("text direction overrides")
    INVISIBLE_TEXT = N_("text in invisible characters")
    INVISIBLE = N_("invisible characters")
    MIXED = N_("words with look-alike letters")
    FAR = N_("text placed out of view")
    COMMENT = N_("HTML comment")
    PROMPT = N_("imitates a prompt")
    SECRECY = N_("asks the model to hide something from you")
    OVERRIDE = N_("overrides other instructions")
    OTHER_TOOLS = N_("instructions about other tools")
    PRIVATE_FILES = N_("asks for private files")
    UNREAD = N_("too long to scan")


_USER = r"(?:(?:the|your|any)\s+)?(?:user|human|person|operator|owner|customer)s?\b"
_TOOL = r"(?:tools?|functions?|servers?|commands?|actions?)\b"
_SECRET = (
    r"(?:\.ssh\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\.aws/credentials|\.netrc\b|\.gnupg\b|\.kube/config"
    r"|/etc/(?:passwd|shadow)\b|\.git-credentials|\.cursor/mcp\.json|\.?claude(?:_desktop_config)?\.json"
    r"|\.mcp\.json|\.bash_history|\.zsh_history|(?<![\w.])\.env\b)"
)
_PRIVATE = rf"(?:{_SECRET}|private keys?\b)"

_SPOKEN: tuple[tuple[Sign, str, str], ...] = (
    (
        Sign.PROMPT,
        "<|[|#",
        r"<\s{0,3}(?:important|system|hidden|assistant|admin|priority|inst)\s{0,3}>"
        r"|</\s{0,3}(?:important|system|secret|hidden|tool|assistant|user|admin|priority|inst)\s{0,3}>"
        r"|<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>"
        r"|\[(?-i:IMPORTANT|SYSTEM|HIDDEN|ADMIN|PRIORITY|Important|System)(?:\s{1,3}\w{1,20})?\](?!\()"
        r"|(?:^|\n)[ \t]{0,3}#{1,6}\s{0,3}(?:system|assistant|developer)"
        r"(?:\s(?:prompt|message|note|override|instructions?))?\s{0,2}:",
    ),
    (
        Sign.SECRECY,
        "user|human|person|operator|owner|customer|secret|silent|quiet|covert|say nothing|"
        "tell no|between us|out of your|in your|act as if",
        rf"\b(?:do\s+not|don't|don’t|never|must\s+not|mustn't|should\s+not|avoid|without|nor)\s+(?:ever\s+)?"
        rf"(?:tell|inform|notify|alert|warn|telling|informing|notifying|alerting|warning)(?:\s+this\s+to)?\s+{_USER}"
        rf"|\b(?:do\s+not|don't|don’t|never|without)\s+(?:mention|reveal|disclose|show|mentioning|revealing)"
        rf"\s+(?:this|that|it|these|any\s+of\s+this|the\s+instructions?|this\s+(?:instruction|step|call))"
        rf"\s+(?:to\s+)?{_USER}"
        rf"|\b(?:no\s+need|need\s+not|needn't|needn’t|not\s+necessary|unnecessary)\s+(?:to\s+)?"
        rf"(?:tell|inform|notify|alert|warn|ask|mention|show|reveal)\s+(?:(?:this|that|it|these)\s+)?(?:to\s+)?{_USER}"
        rf"|\b(?:hide|conceal|hidden|keep)\s+(?:this|that|it|these|the fact)?\s*(?:secret\s+)?from\s+{_USER}"
        rf"|\bwithout\s+(?:the\s+)?(?:user|human|person)(?:'s|’s)?\s+(?:knowledge|knowing|noticing|consent)"
        rf"|\b(?:silently|secretly)\s+(?:send|read|call|include|append|forward|upload|copy|run|execute)"
        r"|\b(?:do|perform)\s+(?:this|that|it|so)\s+(?:\w+\s+)?(?:silently|secretly|quietly|covertly|in\s+secret)\b"
        r"|\b(?:silently|secretly|quietly|covertly)\s+(?:do|perform)\s+(?:this|that|it|so)\b"
        rf"|\b(?:do\s+not|don't|don’t|never)\s+let\s+{_USER}\s+(?:know|find\s+out|notice|learn)\b"
        rf"|\b{_USER}\s+(?:must|should)\s+(?:not|never)\s+(?:know|find\s+out|notice|learn|be\s+(?:told|informed|aware))\b"
        rf"|\bmake\s+sure\s+(?:that\s+)?{_USER}\s+(?:never|does\s+not|doesn't|doesn’t)\s+"
        rf"(?:sees?|knows?|learns?|notices?|finds?\s+out)\b"
        rf"|\b{_USER}\s+(?:stays?|remains?|is\s+kept)\s+(?:unaware|in\s+the\s+dark)\b"
        rf"|\b(?:refrain|abstain)\s+from\s+(?:telling|informing|notifying|alerting|warning)\s+{_USER}"
        rf"|\bwithhold\s+(?:this|that|it|these)\s+from\s+{_USER}"
        rf"|\b(?:keep\s+quiet|say\s+nothing|tell\s+(?:nobody|no\s+one))\s+(?:of|about)\s+(?:this|that|it)\b"
        rf"|\b(?:stay|remain|keep\s+this)s?\s+between\s+us\b"
        rf"|\bbring(?:ing)?\s+(?:this|it)\s+up\s+with\s+{_USER}"
        rf"|\b(?:leave|keep)\s+(?:this|it)\s+out\s+of\s+your\s+(?:answer|reply|response|summary|output)\b"
        rf"|\b(?:do\s+not|don't|don’t|never)\s+(?:include|mention|list)\s+(?:this|the)\s+(?:step|call|instruction|request)"
        rf"\s+in\s+your\b|\bact\s+as\s+if\s+nothing\s+(?:had\s+)?happened\b",
    ),
    (
        Sign.OVERRIDE,
        "ignor|disregard|forget|overrid|longer|apply|precedence|now on|aside|follow",
        r"\b(?:ignore|disregard|forget|override|overriding|ignoring|disregarding)\s+"
        r"(?:(?:all|any|the|your|these|those|my|of)\s+){0,3}"
        r"(?:previous|prior|above|earlier|preceding|other|existing|system|safety|developer|original)\s+"
        r"(?:\w+\s+)?(?:instructions?|guidance|rules|prompts?|messages|guidelines|directions|directives|constraints|policies)\b"
        r"|\b(?:your|all)\s+(?:earlier|previous|prior|original|other)\s+(?:instructions?|guidance|rules|directives?)\s+"
        r"(?:no\s+longer|do\s+not|don't|does\s+not)\s+appl(?:y|ies)\b"
        r"|\bfrom\s+now\s+on,?\s+(?:you\s+)?(?:must\s+)?(?:only\s+)?(?:follow|obey)\s+(?:only\s+)?(?:these|my)\b"
        r"|\bthese\s+(?:instructions|rules|orders)\s+(?:take\s+precedence\s+over|override|supersede)\s+(?:all|any|every)\b"
        r"|\b(?:set|put)\s+aside\s+(?:whatever|everything|anything|all)\s+(?:that\s+)?you\s+(?:were|have\s+been)\s+told\b"
        r"|\b(?:do\s+not|don't|don’t|never)\s+(?:follow|obey)\s+(?:the|your|any)\s+"
        r"(?:system|previous|earlier|original)\s+(?:prompt|instructions?|rules)\b",
    ),
    (
        Sign.OTHER_TOOLS,
        "any|every|each|all|other|available|must|always|bcc|blind|forward|also",
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
        Sign.PRIVATE_FILES,
        ".ssh|id_|.aws|.netrc|.gnupg|.kube|/etc/|.git-|.json|_history|.env|private key",
        rf"\b(?:call|invoke|run|use)\s+[`'\"]?\w+[`'\"]?\s+(?:with|on|for)\b[^.\n]{{0,32}}?[\s`'\"(/~]{_PRIVATE}"
        rf"|\b(?:read|open|cat|load|include|pass|send|attach|upload|copy|fetch|paste|append|provide|contents?\s+of)"
        rf"\b[^.\n]{{0,48}}?[\s`'\"(/~]{_PRIVATE}",
    ),
)
_IN_OTHER_LANGUAGES: tuple[tuple[Sign, str, str], ...] = (
    (
        Sign.SECRECY,
        "nutzer|anwender|utilisateur|usuari|usuári|пользовател|用户|ユーザ",
        r"\b(?:sag|erzähl|verrat|teil)\w{0,3}\s+(?:(?:es|das|dies)\s+)?(?:dem|der|den)\s+(?:benutzer|nutzer|anwender)\w{0,3}\s+nichts?\b"
        r"|\bne\s+(?:dis|dites|inform\w{1,3}|prév\w{2,5}|mentionn\w{1,3})\s+[^.\n]{0,30}\bl['’]utilisat"
        r"|\bno\s+(?:le\s+)?(?:digas?|informes?|menciones?|avises?)\s+[^.\n]{0,30}\busuari[oa]\b"
        r"|\bnão\s+(?:diga|informe|conte|mencione|avise)\s+[^.\n]{0,30}\busuári[oa]\b"
        r"|\bне\s+(?:говори|сообщай|рассказывай|упоминай)\w{0,3}\s+[^.\n]{0,30}\bпользовател"
        r"|(?:不要|别|不得|切勿)(?:告诉|通知|告知)用户|(?:不要|别|不得|切勿)让用户(?:知道|发现)"
        r"|ユーザー?には?(?:知らせ|伝え|言わ|教え)(?:ない|ず|てはいけ|るな)",
    ),
    (
        Sign.OVERRIDE,
        "anweisungen|instructions|instrucciones|instruções|инструкции|указания|指令|指示|提示|命令",
        r"\bignorier\w{0,3}\s+(?:alle\s+)?(?:vorherigen|bisherigen|früheren)\s+anweisungen\b"
        r"|\bignore[rz]?\s+(?:toutes\s+)?les\s+instructions\s+(?:précédentes|antérieures)"
        r"|\bignor[ae]n?\s+(?:todas\s+)?(?:las\s+)?instrucciones\s+(?:anteriores|previas)\b"
        r"|\bignore\s+(?:todas\s+)?(?:as\s+)?instruções\s+(?:anteriores|prévias)"
        r"|\b(?:игнорируй|забудь)\w{0,3}\s+(?:все\s+)?(?:предыдущие|прежние)\s+(?:инструкции|указания)"
        r"|(?:忽略|无视)(?:之前|以上|先前|此前)的?(?:所有)?(?:指令|指示|提示)"
        r"|(?:以前|これまで)の(?:すべての)?(?:指示|命令)を(?:無視|忘れ)",
    ),
)


def _compiled(
    table: tuple[tuple[Sign, str, str], ...],
) -> Sequence[tuple[Sign, list[str], re.Pattern[str]]]:
    return [(sign, hints.split("|"), re.compile(words, re.IGNORECASE)) for sign, hints, words in table]


_PATTERNS, _OTHER_PATTERNS = _compiled(_SPOKEN), _compiled(_IN_OTHER_LANGUAGES)


def orders_in(text: str) -> Iterator[tuple[Sign, int, int]]:
    """Yield each topic of an instruction in a text once, with its first position.

    Letters that look like Latin ones count as those.
    """
    latin = as_latin(text)
    seen = set()
    for read, patterns in ((latin, _PATTERNS), (text, _OTHER_PATTERNS)):
        folded = read.lower()
        for sign, hints, pattern in patterns:
            if sign in seen or not any(hint in folded for hint in hints):
                continue
            found = pattern.search(read)
            if found is None and sign is Sign.PRIVATE_FILES:
                found = next((one for one in _SECRET_PATH.finditer(read) if _is_foreign(text, one)), None)
            if found is not None:
                seen.add(sign)
                yield sign, found.start(), found.end()


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
    """Return whether the sentence around a path is not English, so that its purpose cannot be recognized."""
    before = _STOPS.split(text[max(0, path.start() - _SENTENCE_CHARS) : path.start()])[-1]
    after = _STOPS.split(text[path.end() : path.end() + _SENTENCE_CHARS])[0]
    said = _LETTERS.findall(f"{before} {after}".lower())
    if any(word in _ENGLISH for word in said):
        return False
    others = sum(not char.isascii() for word in said for char in word)
    return len(said) >= MIN_WORDS or others >= MIN_OTHER_LETTERS
