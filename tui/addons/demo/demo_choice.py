"""Selects the tool that a sentence asks the demo model for, and fills in its arguments. Pure.

A wrong call costs more than a missed one: a tool is called only if the sentence mentions its own name (or,
for meaningless names, its description), if it does not ask for something of another kind (nothing is written
or deleted unless the sentence begins with such a verb), and if no other tool matches about as well. The
patterns search only a bounded text, each in about linear time.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from tui.core.context.built_in_tools import FIND_TOOLS
from tui.core.example_questions import MAX_LENGTH, needs_arguments, question_of
from tui.core.late_compiling import late
from tui.core.ports import ToolSpec

# ---- words


def stem(word: str) -> str:
    """Return `word` without its most common endings, so that most of its forms are equal."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    ending = next((end for end in ("ing", "ed", "ly") if word[3:].endswith(end)), "")
    word = word.removesuffix(ending)
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _table(text: str) -> dict[str, str]:
    """Return the words of a table (`meaning word word, meaning word`) with their meanings."""
    entries = [entry.split() for entry in text.split(",")]
    return {word.replace("_", " "): meaning for meaning, *words in entries for word in words}


_READ_ONLY = frozenset({"get", "list", "search"})
"""Verbs that only read. Groups of verbs are as coarse as safety allows."""

_VERBS = """
get get show read what when where who fetch tell give display view check is are was were will does how, list
list all every enumerate, search search find lookup mention contain which match grep locate query, add add
create save write insert make remember remind put append store set jot post send, change update edit change
rename modify move replace, delete delete remove erase drop destroy forget purge
"""
VERBS = {stem(word): verb for word, verb in _table(_VERBS).items()}

_STOP = """
a an the of for in on at to from by with and or but not no do does did done i me my mine we us our
you your it its this that these those there here been be am is are was were will would could should
can may might must shall have has had please now today tomorrow tonight currently current just so
then than too very some any like about as if out up down off over what whats which who whom whose
when where why how s t re ve ll d m right want need know let lets using use call run try tool server
go going get show tell give really actually still again ever always never moment far
"""
STOP_WORDS = frozenset(map(stem, _STOP.split()))

_SYNONYMS = """
weather temperature forecast rain rainy sunny snow windy hot cold humid umbrella degree, record report
history, note memo reminder remember remind, directory folder dir, time clock, add sum plus
"""
SYNONYMS = {stem(word): stem(meaning) for word, meaning in _table(_SYNONYMS).items()}

_CHINESE = _table("""
weather 天气 天气 气温 温度 下雨 下雪, record 记录, note 笔记 备忘 便签, remember 记下 记一下 记住, remind
提醒我, add 添加 新增 加一条 写一条, delete 删除 删掉 去掉, search 搜索 查找, mention 提到, contain 包含
含有, which 哪些 哪条, list 列出, all 所有 全部, show 显示 查看 看看, time 时间 几点, count 数到, file 文件,
directory 目录
""")
_FILLER = """
怎么样 怎样 如何 今天 明天 后天 现在 目前 最近 请问 请 告诉我 查一下 查询 查看 查 看看 一下 想知道 我想 知道
帮我 多少度 多少 是什么 什么 吗 呢 吧 啊 的 了 在 会 是 冷不冷 热不热 冷 热 有 我 は です か の 教えて 呀 好
那里 那边
"""
PLACES = {
    chinese: latin.replace("_", " ")
    for chinese, latin in _table("""
Beijing 北京, Shanghai 上海, Hangzhou 杭州, Guangzhou 广州, Shenzhen 深圳, Chengdu 成都, Chongqing 重庆,
Nanjing 南京, Wuhan 武汉, Xi'an 西安, Tianjin 天津, Suzhou 苏州, Qingdao 青岛, Xiamen 厦门, Changsha 长沙,
Dalian 大连, Kunming 昆明, Harbin 哈尔滨, Lhasa 拉萨, Hong_Kong 香港, Macau 澳门,
Taipei 台北, Tokyo 东京 東京, Osaka 大阪, Seoul 首尔, Singapore 新加坡, Bangkok 曼谷, London 伦敦, Paris 巴黎,
Berlin 柏林, Moscow 莫斯科, New_York 纽约, San_Francisco 旧金山, Los_Angeles 洛杉矶, Sydney 悉尼
""").items()
}
ZONES = _table("""
Asia/Shanghai beijing shanghai hangzhou, Asia/Hong_Kong hong_kong, Asia/Tokyo tokyo, Asia/Seoul seoul,
Asia/Singapore singapore, Asia/Kolkata delhi mumbai, Asia/Dubai dubai, Europe/Moscow moscow, Europe/Berlin
berlin, Europe/Paris paris, Europe/Madrid madrid, Europe/Rome rome, Europe/London london, America/New_York
new_york nyc, America/Chicago chicago, America/Denver denver, America/Los_Angeles san_francisco los_angeles,
Australia/Sydney sydney, UTC utc, Etc/GMT gmt
""")
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()


def _longest_first(words: list[str]) -> str:
    """Return a pattern for any of `words` that prefers the longest match."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_CHINESE_NOISE = late(_longest_first([*_CHINESE, *_FILLER.split()]))
_CAMEL = late(r"(?<=[a-z0-9])(?=[A-Z])")
_CJK = late("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PIECE = late(rf"[a-z0-9]+|{_longest_first([*_CHINESE])}")


def is_cjk(text: str) -> bool:
    """Whether `text` is at least partly Chinese, Japanese or Korean."""
    return _CJK.search(text) is not None


def words(text: str) -> list[str]:
    """Return the words of `text` in order: lower case, stemmed, camelCase split, Chinese ones in English."""
    pieces = _PIECE.findall(_CAMEL.sub(" ", text).lower().replace("'s", " "))
    return [stem(_CHINESE.get(piece, piece)) for piece in pieces]


def meanings(tokens: list[str]) -> set[str]:
    """Return the topic words of `tokens`: without stop words, with synonyms."""
    about = {token for token in tokens if token not in STOP_WORDS}
    return about | {SYNONYMS[token] for token in tokens if token in SYNONYMS}


# ---- the choice

MARGIN = 0.4
"""The score by which the best tool must exceed the second."""

MAX_TOOLS = 512
"""Maximum tools that are considered; more would delay a keystroke."""

MAX_PROPERTIES = 64
MAX_TEXT = 4000
"""Maximum characters of a sentence that are read, so that the patterns stay cheap."""

MAX_PLACE_WORDS = 5
MAX_BARE_WORDS = 3
"""In a sentence this short, a lower-case word may be a place too ("weather nyc")."""

EDGE = " \t\n\"'`“”「」.,;!?。，；！？"
PLACE_WORDS = "location city place town region country where destination area"
_TEXT_WORDS = "text content message note body msg comment input description summary value"

_POLITE = late(
    r"^\s*(?:(?:hi|hello|hey|ok|okay|well|so|and|now|then|also|please|pls)\b[\s,!.]*"
    r"|(?:can|could|would|will) you\b\s*(?:please\b)?\s*"
    r"|i(?:'d| would) like (?:you )?to\b\s*|i (?:want|need) (?:you )?to\b\s*|let'?s\b\s*|help me\b\s*)+",
    re.I,
)
_TALK = late(
    r"\b(?:joke|poem|poetry|story|essay|song|haiku|limerick|opinion|philosophy|meaning|translate|summari[sz]e"
    r"|explain|why|love|hate|feel|feeling|think|believe|code|program|function|recipe|advice|recommend"
    r"|history of|difference between|metaphor|novel|lyrics|riddle|count on|favou?rite)\b"
    r"|笑话|诗|故事|为什么|翻译|解释|小说|歌词|意义"
    r"|^\s*(?:i|we|he|she|they|it|you)(?:['’]\w+)?\s"
    r"|^\s*(?:my|his|her|our|their|that|this|the|there)\b.*"
    r"\b(?:is|are|was|were|am|has|had|seems?|looks?|feels?|got)\b"
    r"|^\s*(?:do not|don['’]?t|never|no need|should i|shall i|what if|what happens"
    r"|how (?:do|can|would|should|to|long|often|come)\b(?! you)|what(?:['’]s| is) an? )"
    r"|^\s*(?:不要|别|不用|不想|不必|怎么(?!样))",
    re.I,
)
"""Conversation: a request that no tool could fulfil, a statement, a question about doing something."""

_NOTE_DOWN = late(r"^\s*(?:note|todo)(?:\s+(?:(?:it|this)\s+)?(?:that|down)\b|\s*[:：])", re.I)

_QUOTED = late(r"\"([^\"]{1,2000})\"|“([^”]{1,2000})”|「([^」]{1,2000})」|`([^`]{1,2000})`")
_NUMBER = late(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)")
_PAYLOADS = (
    late(r"^.{2,80}?(?<!https)(?<!http)[:：](?!//)\s*(\S.*)$", re.S),
    late(
        r"\b(?:(?:note|memo|todo|reminder|message)s?\s+(?:that\s+says|saying|that|to|about)"
        r"|remember\s+(?:to|that)|remind\s+me\s+(?:to|that|about))\s+(.+)$",
        re.I | re.S,
    ),
    late(
        r"(?:记一下|记下来?|记住|提醒我|(?:添加|新增|加|写)(?:一条|一个)?(?:笔记|备忘录?|便签))[\s,，:：]*(\S.*)$",
        re.S,
    ),
)
"""What follows is content ("buy milk" in "add a note: buy milk")."""

_KINDS = {
    "url uri link": (late(r"\b(https?://[^\s\"'<>)\]]+)"),),
    "email mail": (late(r"([\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),),
    "date day since until": (late(r"\b(\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?)\b"),),
    "time clock": (late(r"(?<!\d)((?:[01]?\d|2[0-3]):[0-5]\d)(?!\d)"),),
    "path file filename filepath directory dir folder": (
        late(r"(?<!\w)((?:~|\.{1,2})?/[^\s\"'`,;?!]*|\b[\w-]+(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}\b)"),
    ),
    "query q search keyword keywords term terms pattern phrase needle word": (
        _QUOTED,
        late(
            r"\b(?:mention(?:s|ed|ing)?|contain(?:s|ing)?|about|matching|with(?: the word)?|for)"
            r"\s+(?:(?:the|a|an|my|word)\s+)?(.+)$",
            re.I,
        ),
        late(r"\b(?:find|search|look up|grep|locate)\s+(?!(?:for|in|my|the)\b)(.+)$", re.I),
        late(
            r"(?:提到|关于|包含|含有|搜索|查找|有)了?(.+?)(?:的?(?:笔记|备忘|便签|文件).*)?[?？。!！吗呢]*$"
        ),
    ),
    _TEXT_WORDS: (
        *_PAYLOADS,
        _QUOTED,
        late(
            r"\b(?:add|put|save|write|store|note|jot)\s+(.+?)\s+"
            r"(?:(?:to|in|into|on)\s+(?:my|the)\s+\w+|as\s+an?\s+\w+|down)\W*$",
            re.I,
        ),
    ),
    "id key number uuid slug identifier": (
        _QUOTED,
        late(r"#(\w[\w-]*)|(?<![\w-])((?=[\w-]*\d)\w[\w-]*)", re.I),
        late(r"(?<!about)(?<! on)(?<! for)\s(\w+(?:[-_]\w+)+)\W*$"),
    ),
}
"""By the words of a property's name, what its value looks like: the first group of the first match."""

_ZONE = late(
    r"\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Za-z_/+-]+"
    rf"|(?<!\w)(?:{_longest_first([*ZONES])})(?!\w)",
    re.I,
)
_TAIL = late(r"\b(?:for|of|in|named|called|to|with|about|from|on|at)\s+(.+)$", re.I)
_PLACE_TAIL = late(r"\b(?:in|for|at|of|near|around)\s+(?:the\s+(?:(?:city|town)\s+of\s+)?)?", re.I)
_POSSESSIVE = late(r"\b([A-Z][\w-]*(?: [A-Z][\w-]*){0,3})['’]s\b")
_WHEN = late(
    r"(?:\b(?:right now|at the moment|this (?:morning|afternoon|evening|week|weekend)|next week|today"
    r"|tomorrow|tonight|currently|now|please|like|thanks|thank you|and|then|going to be|be)(?:\W+|$))+$",
    re.I,
)
_CJK_RUN = late("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,8}|[A-Za-z][A-Za-z .'-]*[A-Za-z]")
_PLACE_NAME = late("|".join(PLACES))


class DemoChoice(NamedTuple):
    """The tool for a sentence and its arguments.

    Attributes:
        values: the arguments that were found, by property name.
        missing: required properties that were not found, in the schema's order.
        rivals: the names of tools that match as well, so that no call is made.
    """

    tool: ToolSpec
    values: Mapping[str, Any]
    missing: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()


def choose_tool(text: str, tools: Sequence[ToolSpec]) -> DemoChoice | None:
    """Return the tool that `text` asks for, if there is one."""
    bare = _POLITE.sub("", text)[:MAX_TEXT]
    content = next(filter(None, (pattern.search(bare) for pattern in _PAYLOADS)), None)
    head = bare[: content.start(1)] if content else _QUOTED.sub(" ", bare)
    tokens = words(head)
    intent = "add" if _NOTE_DOWN.match(bare) else next((VERBS[one] for one in tokens if one in VERBS), None)
    if not meanings(tokens) or (_TALK.search(head) and not (content and intent == "add")):
        return None
    found = [_judged(text, tokens, intent, tool) for tool in tools[:MAX_TOOLS] if tool.tool != FIND_TOOLS]
    ranked = sorted(filter(None, found), key=lambda entry: -entry[0])
    if not ranked:
        return None
    rivals = [own_name(choice.tool) for score, choice in ranked if ranked[0][0] - score < MARGIN]
    return ranked[0][1]._replace(rivals=tuple(rivals) if len(rivals) > 1 else ())


def _judged(
    text: str, tokens: list[str], intent: str | None, tool: ToolSpec
) -> tuple[float, DemoChoice] | None:
    """Return the evidence for a tool, with its arguments; None if the sentence may not run it at all.

    `tokens` are the words of the sentence, without the content that it quotes.
    """
    about, content = meanings(tokens), [token for token in tokens if token not in STOP_WORDS]
    name, description = words(own_name(tool)), meanings(words(tool.description[:400]))
    description -= {*name}
    verb = next((VERBS[token] for token in name if token in VERBS), None)
    own = {*name} - VERBS.keys() - STOP_WORDS
    named = about & own

    reads = verb is None or verb in _READ_ONLY
    if intent not in (None, *_READ_ONLY) if reads else intent != verb:
        if verb is not None or intent != "add":
            return None
    if not named and (own or tokens[0] not in name):
        things = about - VERBS.keys()
        described = len(things & description)
        if described < (1 if intent == verb == "list" else 2) or described * 2 < len(things):
            return None
    # A question, an order, or little more than its name selects a tool without arguments.
    properties = _properties(tool)
    if not properties and intent is None and content[0] not in named and about - named:
        return None

    choice = fill(tool, text, name)
    said = {*name, *description, *words(" ".join(map(str, (*properties, *choice.values.values()))))}
    unexplained = sum(not {word, SYNONYMS.get(word)} & said for word in about)
    # "delete the note buy milk" is about notes, not about milk: the words after the tool's own say which
    # note, and a tool that needs more information than that asks for it.
    if intent == verb == "delete" and own and content[0] in VERBS and {*content[1 : 1 + len(own)]} == own:
        unexplained = 0
    if unexplained * 2 >= len(about) and not choice.values:
        return None
    verbs = [VERBS[token] for token in tokens if token in VERBS]
    score = 3.0 * len(named) + len(about & description) - 1.2 * len(own - about) - 0.7 * unexplained
    score += (verb in verbs) - (verb not in verbs and intent in ("search", "list"))
    score += -0.4 * len(choice.missing) if choice.missing else 1.2 if choice.values else 0.2
    return (score, choice) if score > 0 else None


def own_name(tool: ToolSpec) -> str:
    """Return the name that a tool's server gave it."""
    return tool.tool or tool.name


def suggested(text: str, tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool whose description is the question `text`, as the start screen suggests it."""
    wanted = text.strip().rstrip(".").casefold()
    asked = (tool for tool in tools[:MAX_TOOLS] if 0 < len(wanted) <= MAX_LENGTH)
    bare = (tool for tool in asked if question_of(tool.description).casefold() == wanted)
    return next((tool for tool in bare if not needs_arguments(tool.schema)), None)


def _properties(tool: ToolSpec) -> dict[str, Mapping[str, Any]]:
    """Return the properties of a schema, which may be anything."""
    found = tool.schema.get("properties")
    items = list(found.items())[:MAX_PROPERTIES] if isinstance(found, Mapping) else []
    return {str(name): schema if isinstance(schema, Mapping) else {} for name, schema in items}


def fill(tool: ToolSpec, text: str, taken: Collection[str] = ()) -> DemoChoice:
    """Find the arguments of `tool` in `text`. Words in `taken` name the tool and are therefore not values."""
    properties, names = _properties(tool), tool.schema.get("required")
    required = [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else []
    required = sorted(required[:MAX_PROPERTIES], key=[*properties, *required].index)
    text = text[:MAX_TEXT].strip()
    spelled = _QUOTED.sub(" ", text.lower())
    for number, word in enumerate(NUMBERS):
        spelled = re.sub(rf"\b{word}\b", str(number), spelled)
    numbers = _NUMBER.findall(spelled)
    values: dict[str, Any] = {}
    for name in sorted(properties, key=lambda name: name not in required):
        schema = properties[name]
        value = _named(text, name, schema)
        kind = _type(schema)
        if value is None and isinstance(enum := schema.get("enum"), list):
            said = re.findall(r"\w+", text.casefold())
            value = next((one for one in enum if isinstance(one, str) and one.casefold() in said), None)
        elif value is None and kind in ("integer", "number") and numbers:
            spoken = words(text)
            if name in required or not required or any(word in spoken for word in words(name)):
                value = _coerce(numbers.pop(0), schema)
        elif value is None and kind == "string":
            value = _string(name, text, tool, taken, required)
        if value is not None:
            values[name] = value
    return DemoChoice(tool, values, tuple(name for name in required if name not in values))


def _named(text: str, name: str, schema: Mapping[str, Any]) -> Any:
    """Return a value that a sentence names: `city=Oslo`, `days: 3`, `id is x`, `content "hi"`."""
    label = re.escape(name).replace("_", "[_ ]")
    between = r"(?:\s*(?:=|[:：](?!//)|\s(?:is|of)\s)\s*|\s+(?=\"|[\w-]*\d))"
    found = re.search(rf"(?<!\w){label}{between}(\"[^\"]*\"|'[^']*'|[^\s,;，；]+)", text, re.I)
    return None if found is None else _coerce(found[1].strip(EDGE), schema)


def _coerce(raw: str, schema: Mapping[str, Any]) -> Any:
    """Return `raw` as the schema's type, or None if it cannot be that."""
    if isinstance(enum := schema.get("enum"), list):
        return next((item for item in enum if str(item).casefold() == raw.casefold()), None)
    match _type(schema):
        case "integer" | "number" as kind:
            number = float(raw) if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?", raw) else None
            is_whole = number is not None and number.is_integer()
            return int(raw.partition(".")[0]) if is_whole else number if kind == "number" else None
        case "boolean":
            return {"true": True, "yes": True, "on": True, "false": False, "no": False}.get(raw.casefold())
        case "array":
            return [item.strip() for item in raw.split(",") if item.strip()] or None
        case "object" | "null":
            return None
    return raw or None


def _type(schema: Mapping[str, Any]) -> str:
    """Return the first type that the schema names besides null; "string" if it names none."""
    kinds, options = schema.get("type"), schema.get("anyOf") or schema.get("oneOf")
    if not kinds and isinstance(options, list):
        kinds = [option.get("type") for option in options if isinstance(option, Mapping)]
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return next((kind for kind in kinds if isinstance(kind, str) and kind != "null"), "string")


def _string(
    name: str, text: str, tool: ToolSpec, taken: Collection[str], required: Collection[str]
) -> str | None:
    """Return a string by the kind of value that the property's name suggests."""
    kinds = set(re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]", " ", name).lower().split())
    if kinds & {"timezone", "tz", "zone"}:  # the first or second, by its IANA name or that of a large city
        for chinese, latin in PLACES.items():
            text = text.replace(chinese, f" {latin} ")
        zones = [ZONES.get(found[0].casefold(), found[0]) for found in _ZONE.finditer(text)]
        place = bool(kinds & {"target", "to", "destination"})
        return zones[place] if len(zones) > place else None
    if kinds.intersection(PLACE_WORDS.split()):
        return _place(text, tool, taken)
    label = next((label for label in _KINDS if kinds.intersection(label.split())), "")
    if name not in required and label in ("", _TEXT_WORDS):
        return None
    if not label:
        return _first((_QUOTED, *(() if len(required) > 1 else (*_PAYLOADS, _TAIL))), text)
    first, _, rest = text.partition(" ")
    is_named = label == _TEXT_WORDS and words(first) == words(own_name(tool))  # "echo hello"
    return _first(_KINDS[label], text) or (rest if is_named else None)


def _first(patterns: Collection[re.Pattern[str]], text: str) -> str | None:
    """Return the group of the first pattern that matches."""
    found = next(filter(None, (pattern.search(text) for pattern in patterns)), None)
    return None if found is None else found[found.lastindex or 0].strip(EDGE) or None


def _place(text: str, tool: ToolSpec, taken: Collection[str]) -> str | None:
    """Return the place in a sentence.

    A Chinese name in the tool's description is kept, others are written in Latin letters if they are known.
    """
    if is_cjk(text):
        if named := _PLACE_NAME.search(text):
            return named[0] if named[0] in tool.description else PLACES[named[0]]
        rest = _CJK_RUN.search(_CHINESE_NOISE.sub(" ", text))
        return rest[0].removesuffix("市") if rest else None
    for found in _POSSESSIVE.finditer(text):
        if not STOP_WORDS.intersection(words(found[1])):
            return found[1]
    for tail in reversed(_PLACE_TAIL.split(text)[1:]):
        name = re.split(r"[?!;:\n]|[.,](?:\s|$)(?!\s*[A-Z])", tail, maxsplit=1)[0]
        name = _WHEN.sub("", name).strip(" .,'\"`")
        is_place = not STOP_WORDS.issuperset(words(name)) and re.match(r"[^\W\d]", name)
        if is_place and len(name.split()) <= MAX_PLACE_WORDS:
            return name
    # Otherwise, what is left without common words and those that name the tool.
    common = STOP_WORDS.union(taken)
    found_words = ((raw, words(raw)) for raw in re.findall(r"[\w'-]+", text))
    left = [raw for raw, said in found_words if common.isdisjoint({*said, *meanings(said)})]
    joined = " ".join(left)
    if not 0 < len(left) <= 3 or joined not in text or re.search(r"\d", joined):
        return None
    return joined if joined[0].isupper() or len(text.split()) <= MAX_BARE_WORDS else None
