"""Finds native calls that an endpoint passed on as text, at the end of the reply.

From the first mark on, everything is held back. A call of an offered tool is never shown as text; anything
else is shown unchanged. Marks in code are text. A truncated call is answered with an error, so that the model
can write it again, and never run. A reply with a proper call has no leaks.
"""

import re
from collections.abc import Collection, Sequence

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ReasoningPart, TextPart
from tui.model.dialects import leaked_forms as marked
from tui.model.dialects import leaked_program_forms as programs
from tui.model.dialects.call_maker import NAME, NAMED, CallMaker
from tui.model.dialects.dialect_parser import DialectParser, Steps, any_of
from tui.model.dialects.leaked_forms import AFTER, UNKNOWN, Leak, LeakContext, Read, past
from tui.model.dialects.leaked_program_forms import ANNOUNCED_KEYS, FENCE_WORDS, PREFIX, announces

MAX_ATTEMPTS = 64
"""Maximum marks that are tried in one reply; a reply with more is about marks."""

FORMS: tuple[tuple[re.Pattern[str], Read], ...] = (
    (programs.GEMMA, programs.gemma_form),
    (programs.MARKED, programs.program_form),
    (marked.TAGS, marked.tag_form),
    (marked.XTML, marked.xtml_form),
    (marked.GLM, marked.glm_form),
    (marked.JSON, marked.json_form),
    *((pattern, marked.named_form) for pattern in marked.NAMED_OBJECT),
    (programs.TO_ALL, programs.said_form),
    (programs.NAMED_ABOVE, programs.line_form),
    *((pattern, marked.python_form) for pattern in marked.PYTHON),
    (programs.HEADER, programs.channel_form),
    (programs.STRIPPED, programs.stripped_form),
    (programs.VALUE, programs.bare_form),
    (programs.BARE_CALL, programs.bare_program_form),
    (programs.ANNOUNCED, programs.announced_form),
    (marked.BEGUN, marked.begun_form),
)
"""How each form begins, and what reads it; the first that reads something counts."""

_W, _BAR = r"\s{0,8}", r"[|｜‖]{1,4}"


def _literal(word: str) -> list[str]:
    return [re.escape(char) for char in word]


_WORDS = (
    *("<TOOLCALL>", "<function name", "<invoke ", "<tool=", "[TOOL_CALLS]", "<|python_tag|>"),
    *("<longcat_tool_call>", "<|START_ACTION|>", "<|action_start|>", "commentary to=", "<DSML"),
    *("<|python_start|>", "<|tools_prefix|>", "<|from|>assistant", "<|recipient|>", "<start_function_call>"),
    *("<|open|>tools", "<|open|>call", "<tool_code>", "<tools>", "```tool_", "```function_call"),
    *("functools[", "function call<|role_sep|>", "✿FUNCTION✿", ">>>", "call:", "declaration:default_api"),
)
_CHANNELS = ("<|channel|>", "<|start|>", "assistantcommentary")
_MARKS: tuple[list[str], ...] = (
    *map(_literal, (*_WORDS, *_CHANNELS)),
    [*_literal("<tool_call"), "s?", ">"],
    [*_literal("<function_call"), "s?", ">"],
    [*_literal("<function"), "[=(/:]"],
    ["<", "[a-z_]{1,20}", ":", *_literal("tool_call")],
    ["<", "[a-z_]{1,20}", ":", *_literal("function_calls>")],
    ["<", "[a-z_]{1,20}", ":", *_literal("invoke ")],
    ["<", _W, _BAR, _W, *_literal("DSML")],
    ["<", _BAR, _W, *_literal("tool"), "[▁_ ]", *_literal("call")],
    ["`", "`", "`", "[a-z0-9_]{0,20}", r"\s{1,8}", r"[\[{]"],
    [r"\{", _W, '"', "[a-z_]{1,20}", '"'],
)
"""The beginnings of a leak, as one pattern per first character."""

_MARK = re.compile("|".join("".join(atoms) for atoms in _MARKS))
_CHANNEL_MARK = any_of(_CHANNELS)
_PARTIAL = re.compile(
    "(?:" + "|".join("(?:".join(atoms) + ")?" * (len(atoms) - 1) for atoms in _MARKS) + r")\Z"
)
_FIRST = re.compile(r"[<\[acdf>`{✿]")
_NAMES = re.compile(
    rf"(?:<tool_calls?>|<function_calls?>|<[a-z_]{{1,20}}:(?:tool_call|function_calls)>|\s)*"
    rf"(?:(<(?:function|tool)[=(/:][\"']?|<(?:[a-z_]{{1,20}}:)?(?:function|invoke)\s+name=[\"']?"
    rf"|\[TOOL_CALLS\](?=[A-Za-z_]))|\[TOOL_CALLS\]\s*(?=[A-Za-z_])|<tool_call>\s*(?=[A-Za-z_]))"
    rf"({NAME})(?=[^\w.\-/])"
)
_NO_BODY = re.compile(
    r"(?:<(?:tool_calls?|function_calls?|TOOLCALL)>|\[TOOL_CALLS\])\s*[^\s{\[<`A-Za-z_]"
    r"|<(?:tool_calls|function_calls?|TOOLCALL)>\s*(?![\w.\-/]{1,128}(?:\(|\Z))[A-Za-z_]"
    r"|<invoke\s+[^\sn]|<function name[^\s=]"
)
_BARE = re.compile(
    r'(?:\[\s*)?\{\s*"(?:name|type|id|parameters|arguments|function|tool_calls|tool_uses|tool|tool_name'
    r'|recipient_name|input)"'
)
_BARE_SO_FAR = re.compile(r'(?:\[\s*)?(?:\{\s*(?:"\w{0,14})?)?\Z')
_MAX_HEAD = 400


class LeakParser(DialectParser):
    """Finds leaked calls in text."""

    def __init__(self, maker: CallMaker) -> None:
        super().__init__(maker)
        self._none = False
        self._mark = _MARK if maker.offered.tools else _CHANNEL_MARK
        self._tries = 0
        self._names = [tool.name for tool in maker.offered.tools]
        self._bare = False
        """Whether the text held back is the beginning of the reply, without a mark."""

    def give_up(self) -> None:
        """Treat everything from here on as text, because the model made a proper call."""
        self._none = True

    def _parse(self) -> Steps[None]:
        start = yield from self._space(0)
        code = self.visible.code.inside_behind(self._part(0, start))
        if not code and (yield from self._begins_like_a_call(start)):
            self._bare = True
            yield from self._hold(start)
            self._bare = False
        yield from self._read_each(self._mark)

    def _read(self, opener: str) -> Steps[bool]:
        return self._hold(0)

    def _begins_like_a_call(self, start: int) -> Steps[bool]:
        """Whether a reply begins with a leak without any mark."""
        if (yield from self._starts(start, ("analysis",))):
            return True
        while self._maker.offered.tools and not self._none:
            head = self._part(start, start + _MAX_HEAD)
            named = _may_begin(head, self._names)
            if _BARE.match(head) or named:
                return True
            if not (_BARE_SO_FAR.match(head) or named is None) or not (yield from self._more()):
                break
        return False

    def _say_open(self, words: Sequence[str]) -> None:
        end = "" if self._none else self._part(max(0, self._size - 64))
        begun = (one.start() for one in _FIRST.finditer(end) if _PARTIAL.match(end, one.start()))
        self._say(self._size - len(end) + next(begun, len(end)))

    def _hold(self, start: int) -> Steps[bool]:
        """Hold back a possible leak until it is decided; remove it if it is one."""
        self.busy = True
        while not (none := self._none or self._hopeless()) and (yield from self._more()):
            pass
        self.busy = False
        if none or self._tries == MAX_ATTEMPTS:
            return False
        self._tries += 1
        found = self._found(start)
        if found is None:
            return False
        if not found.items:
            self._say(found.end)
            return True
        for item in found.items:
            match item:
                case CallRequest():
                    self._call(item, 0)
                case TextPart(text):
                    self.visible.block()
                    if text := self.visible.say(text):
                        self._out.append(TextPart(text))
                case ReasoningPart():
                    self._out.append(item)
        self._skip(found.end)
        return True

    def _hopeless(self) -> bool:
        """Whether the text held back can no longer be a leak."""
        head = self._part(0, _MAX_HEAD)
        if _NO_BODY.match(head) or (not self._bare and _is_dead_end(head, self._scene())):
            return True
        named = _NAMES.match(head)
        if named is None or self._maker.offered.find(named[2]) is not None:
            return False
        self._none = bool(named[1])  # text inside a call of another tool is not a call either
        return True

    def _scene(self) -> LeakContext:
        return LeakContext(self._maker, self._cut, self._before, self.visible.code.line_start)

    def _found(self, start: int) -> Leak | None:
        """Return the leak at an offset, with its end as an offset; None if there is none."""
        text, at = self._text, self._at
        scene = self._scene()
        for pattern, read in FORMS:
            if (opener := pattern.match(text, at + start)) is None:
                continue
            tool = scene.tool(opener["tool"]) if "tool" in pattern.groupindex else UNKNOWN
            if tool is not None and (found := read(opener, tool, scene)) is not None:
                return Leak(past(AFTER, text, found.end) - at, found.items)
        return None


# ---- what must follow a mark that is also a word

_EXPECTED = (
    (">>>", re.compile(rf">>>\s?(?:\Z|({NAME})\s*(?:\Z|\n))")),
    ("call:", re.compile(rf"call:\s?(?:default_api[:.])?(?:\Z|({NAME}?)\s*(?:\Z|[{{(]))")),
    ("<tools>", re.compile(r"<tools>\s*(?:\Z|[\[{])")),
    ("functools[", re.compile(r"functools\[\s*(?:\Z|\{)")),
    (
        "```",
        re.compile(
            rf"```(?:[a-z0-9_]{{0,20}}\Z|(?:json[5c]?|tool|{FENCE_WORDS})?"
            rf"\s+(?:\Z|[\[{{]|(?:\[\s*)?(?:print\(\s*)?{PREFIX}(?:\Z|({NAME})(?:\Z|\())))"
        ),
    ),
)
_FIRST_KEY = re.compile(
    r'(?:```[a-z0-9_]{0,20}\s{1,8})?(?:\[\s*\Z|(?:\[\s*)?\{\s*(?:\Z|"([a-z_]{0,20})(?:\Z|")))'
)
_FENCE_NATIVE = re.compile(rf"```(?:(?:{FENCE_WORDS})\b|[a-z0-9_]{{0,20}}\Z)")


def _is_dead_end(head: str, scene: LeakContext) -> bool:
    """Whether a text that begins with a mark cannot become a call of these forms any more."""
    for word, expected in _EXPECTED:
        if not head.startswith(word):
            continue
        if (found := expected.match(head)) is None:
            return True
        name = found[1] if found.re.groups else None
        ended = found.end() < len(head) or head[-1:] in ("{", "(", "\n")
        if name and ended and name != "all" and scene.tool(name) is None:
            return True
    if not head.startswith(("{", "```")) or _FENCE_NATIVE.match(head):
        return False
    if not announces(scene.before) or (head.startswith("{") and not scene.before.strip()):
        return True
    key = _FIRST_KEY.match(head)
    if key is None or (key[1] and key.end() < len(head) and key[1] not in ANNOUNCED_KEYS):
        return True
    named = NAMED.search(head)
    return named is not None and scene.exact(named[1]) is None


def _may_begin(head: str, names: Collection[str]) -> bool | None:
    """Whether a reply begins with the name of a tool and what follows one; None if that is not known yet."""
    found = _BEGINS.match(head)
    if found is None:
        return False
    word, rest = found[1], head[found.end() :]
    if not rest:
        return None if any(name.startswith(word) for name in names) else False
    if word not in names or "__" not in word:
        return False
    if rest[0] == "(":
        return True
    below = rest.lstrip(" \t")
    if below and below[0] != "\n":
        return False
    bare = below.lstrip()
    return None if not bare and len(rest) < 20 else bare.startswith("{")


_BEGINS = re.compile(r"(?:\[\s{0,8})?([\w.\-]{0,128})")
