"""The words that the demo model knows, and how it cuts text into them. Data and pure functions."""

import re
from enum import Enum


class Verb(Enum):
    """What a sentence asks for, or a tool does, in the coarsest words that matter for safety."""

    GET = "get"
    LIST = "list"
    SEARCH = "search"
    ADD = "add"
    CHANGE = "change"
    DELETE = "delete"

    @property
    def reads(self) -> bool:
        """Whether nothing is changed by it."""
        return self in (Verb.GET, Verb.LIST, Verb.SEARCH)


def stem(word: str) -> str:
    """Return `word` without its commonest endings; the same for all forms of most words."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


_VERB_WORDS = {
    Verb.GET: "get show read what when where who fetch tell give display view check is are was will does how",
    Verb.LIST: "list all every enumerate",
    Verb.SEARCH: "search find lookup mention contain which match grep locate query",
    Verb.ADD: "add create save write insert make remember remind put append store set jot post send",
    Verb.CHANGE: "update edit change rename modify move replace",
    Verb.DELETE: "delete remove erase drop destroy forget purge",
}
VERBS: dict[str, Verb] = {stem(word): verb for verb, words in _VERB_WORDS.items() for word in words.split()}

_STOP = """
a an the of for in on at to from by with and or but not no do does did done i me my mine we us our
you your it its this that these those there here be been am is are was were will would could should
can may might must shall have has had please now today tomorrow tonight currently current just so
then than too very some any like about as if out up down off over what whats which who whom whose
when where why how s t re ve ll d m right want need know let lets using use call run try tool server
go going get show tell give really actually still again ever always never moment far
"""
STOP_WORDS = frozenset(map(stem, _STOP.split()))

_SYNONYMS = {
    "temperature": "weather",
    "forecast": "weather",
    "rain": "weather",
    "rainy": "weather",
    "sunny": "weather",
    "snow": "weather",
    "windy": "weather",
    "hot": "weather",
    "cold": "weather",
    "humid": "weather",
    "umbrella": "weather",
    "degree": "weather",
    "report": "record",
    "history": "record",
    "memo": "note",
    "reminder": "note",
    "remember": "note",
    "remind": "note",
    "folder": "directory",
    "dir": "directory",
    "clock": "time",
    "sum": "add",
    "plus": "add",
}

SYNONYMS = {stem(word): stem(meaning) for word, meaning in _SYNONYMS.items()}

CHINESE = {
    "天气": "weather",
    "天気": "weather",
    "气温": "weather",
    "温度": "weather",
    "下雨": "weather",
    "下雪": "weather",
    "记录": "record",
    "笔记": "note",
    "备忘": "note",
    "便签": "note",
    "记下": "remember",
    "记一下": "remember",
    "记住": "remember",
    "提醒我": "remind",
    "添加": "add",
    "新增": "add",
    "加一条": "add",
    "写一条": "add",
    "删除": "delete",
    "删掉": "delete",
    "去掉": "delete",
    "搜索": "search",
    "查找": "search",
    "提到": "mention",
    "包含": "contain",
    "含有": "contain",
    "哪些": "which",
    "哪条": "which",
    "列出": "list",
    "所有": "all",
    "全部": "all",
    "显示": "show",
    "查看": "show",
    "看看": "show",
    "时间": "time",
    "几点": "time",
    "数到": "count",
    "文件": "file",
    "目录": "directory",
}
CHINESE_FILLER = (
    "怎么样 怎样 如何 今天 明天 后天 现在 目前 最近 请问 请 告诉我 查一下 查询 查看 查 看看 一下 想知道 我想 "
    "知道 帮我 多少度 多少 是什么 什么 吗 呢 吧 啊 的 了 在 会 是 冷不冷 热不热 冷 热 有 我 は です か の "
    "教えて 呀 好 那里 那边"
).split()

PLACES = {
    "北京": "Beijing",
    "上海": "Shanghai",
    "杭州": "Hangzhou",
    "广州": "Guangzhou",
    "深圳": "Shenzhen",
    "成都": "Chengdu",
    "重庆": "Chongqing",
    "南京": "Nanjing",
    "武汉": "Wuhan",
    "西安": "Xi'an",
    "天津": "Tianjin",
    "苏州": "Suzhou",
    "青岛": "Qingdao",
    "厦门": "Xiamen",
    "长沙": "Changsha",
    "大连": "Dalian",
    "昆明": "Kunming",
    "哈尔滨": "Harbin",
    "拉萨": "Lhasa",
    "香港": "Hong Kong",
    "澳门": "Macau",
    "台北": "Taipei",
    "东京": "Tokyo",
    "東京": "Tokyo",
    "大阪": "Osaka",
    "首尔": "Seoul",
    "新加坡": "Singapore",
    "曼谷": "Bangkok",
    "伦敦": "London",
    "巴黎": "Paris",
    "柏林": "Berlin",
    "莫斯科": "Moscow",
    "纽约": "New York",
    "旧金山": "San Francisco",
    "洛杉矶": "Los Angeles",
    "悉尼": "Sydney",
}

ZONES = {
    "beijing": "Asia/Shanghai",
    "shanghai": "Asia/Shanghai",
    "hangzhou": "Asia/Shanghai",
    "hong kong": "Asia/Hong_Kong",
    "tokyo": "Asia/Tokyo",
    "seoul": "Asia/Seoul",
    "singapore": "Asia/Singapore",
    "delhi": "Asia/Kolkata",
    "mumbai": "Asia/Kolkata",
    "dubai": "Asia/Dubai",
    "moscow": "Europe/Moscow",
    "berlin": "Europe/Berlin",
    "paris": "Europe/Paris",
    "madrid": "Europe/Madrid",
    "rome": "Europe/Rome",
    "london": "Europe/London",
    "new york": "America/New_York",
    "nyc": "America/New_York",
    "chicago": "America/Chicago",
    "denver": "America/Denver",
    "san francisco": "America/Los_Angeles",
    "los angeles": "America/Los_Angeles",
    "sydney": "Australia/Sydney",
    "utc": "UTC",
    "gmt": "Etc/GMT",
}

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CHINESE_WORD = re.compile("|".join(map(re.escape, sorted(CHINESE, key=len, reverse=True))))
_PIECE = re.compile(rf"(?P<word>[a-z0-9]+)|(?P<chinese>{_CHINESE_WORD.pattern})")


def is_cjk(text: str) -> bool:
    """Whether `text` is written in Chinese, Japanese or Korean, at least in part."""
    return _CJK.search(text) is not None


def words(text: str) -> list[str]:
    """Return the words of `text` in order: lower case, stems, camelCase cut, Chinese ones in English."""
    found: list[str] = []
    for piece in _PIECE.finditer(_CAMEL.sub(" ", text).lower().replace("'s", " ")):
        chinese = piece["chinese"]
        found.append(stem(CHINESE[chinese] if chinese else piece["word"]))
    return found


def meanings(tokens: list[str]) -> set[str]:
    """Return what `tokens` are about: without stop words, with synonyms."""
    about = {token for token in tokens if token not in STOP_WORDS}
    return about | {SYNONYMS[token] for token in tokens if token in SYNONYMS}
