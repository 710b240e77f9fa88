"""The vocabulary of the demo model, and splitting text into words. Data and pure functions."""

import re
from collections.abc import Iterator
from enum import Enum


class Verb(Enum):
    """What a sentence asks for, or a tool does, as coarse as safety needs."""

    GET = "get"
    LIST = "list"
    SEARCH = "search"
    ADD = "add"
    CHANGE = "change"
    DELETE = "delete"

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self in (Verb.GET, Verb.LIST, Verb.SEARCH)


def stem(word: str) -> str:
    """Return `word` without its most common endings; the same for most of its forms."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _pairs(table: str) -> Iterator[tuple[str, str]]:
    """Yield the entries of a table, each split at its first blank."""
    for entry in table.strip().replace("\n", " ").split(", "):
        first, _, second = entry.partition(" ")
        yield first, second


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
    "weather": "temperature forecast rain rainy sunny snow windy hot cold humid umbrella degree",
    "record": "report history",
    "note": "memo reminder remember remind",
    "directory": "folder dir",
    "time": "clock",
    "add": "sum plus",
}

SYNONYMS = {stem(word): stem(meaning) for meaning, words in _SYNONYMS.items() for word in words.split()}

_CHINESE = {
    "weather": "天气 天気 气温 温度 下雨 下雪",
    "record": "记录",
    "note": "笔记 备忘 便签",
    "remember": "记下 记一下 记住",
    "remind": "提醒我",
    "add": "添加 新增 加一条 写一条",
    "delete": "删除 删掉 去掉",
    "search": "搜索 查找",
    "mention": "提到",
    "contain": "包含 含有",
    "which": "哪些 哪条",
    "list": "列出",
    "all": "所有 全部",
    "show": "显示 查看 看看",
    "time": "时间 几点",
    "count": "数到",
    "file": "文件",
    "directory": "目录",
}
CHINESE = {word: meaning for meaning, words in _CHINESE.items() for word in words.split()}
CHINESE_FILLER = (
    "怎么样 怎样 如何 今天 明天 后天 现在 目前 最近 请问 请 告诉我 查一下 查询 查看 查 看看 一下 想知道 我想 "
    "知道 帮我 多少度 多少 是什么 什么 吗 呢 吧 啊 的 了 在 会 是 冷不冷 热不热 冷 热 有 我 は です か の "
    "教えて 呀 好 那里 那边"
).split()

_PLACES = """
北京 Beijing, 上海 Shanghai, 杭州 Hangzhou, 广州 Guangzhou, 深圳 Shenzhen, 成都 Chengdu,
重庆 Chongqing, 南京 Nanjing, 武汉 Wuhan, 西安 Xi'an, 天津 Tianjin, 苏州 Suzhou,
青岛 Qingdao, 厦门 Xiamen, 长沙 Changsha, 大连 Dalian, 昆明 Kunming, 哈尔滨 Harbin,
拉萨 Lhasa, 香港 Hong Kong, 澳门 Macau, 台北 Taipei, 东京 Tokyo, 東京 Tokyo, 大阪 Osaka,
首尔 Seoul, 新加坡 Singapore, 曼谷 Bangkok, 伦敦 London, 巴黎 Paris, 柏林 Berlin,
莫斯科 Moscow, 纽约 New York, 旧金山 San Francisco, 洛杉矶 Los Angeles, 悉尼 Sydney
"""
PLACES = dict(_pairs(_PLACES))

_ZONES = """
Asia/Shanghai beijing, Asia/Shanghai shanghai, Asia/Shanghai hangzhou, Asia/Hong_Kong hong kong,
Asia/Tokyo tokyo, Asia/Seoul seoul, Asia/Singapore singapore, Asia/Kolkata delhi,
Asia/Kolkata mumbai, Asia/Dubai dubai, Europe/Moscow moscow, Europe/Berlin berlin,
Europe/Paris paris, Europe/Madrid madrid, Europe/Rome rome, Europe/London london,
America/New_York new york, America/New_York nyc, America/Chicago chicago, America/Denver denver,
America/Los_Angeles san francisco, America/Los_Angeles los angeles, Australia/Sydney sydney, UTC utc,
Etc/GMT gmt
"""
ZONES = {city: zone for zone, city in _pairs(_ZONES)}

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
    """Whether `text` is at least partly Chinese, Japanese or Korean."""
    return _CJK.search(text) is not None


def words(text: str) -> list[str]:
    """Return the words of `text` in order: lower case, stemmed, camelCase split, Chinese ones in English."""
    found: list[str] = []
    for piece in _PIECE.finditer(_CAMEL.sub(" ", text).lower().replace("'s", " ")):
        chinese = piece["chinese"]
        found.append(stem(CHINESE[chinese] if chinese else piece["word"]))
    return found


def meanings(tokens: list[str]) -> set[str]:
    """Return what `tokens` are about: without stop words, with synonyms."""
    about = {token for token in tokens if token not in STOP_WORDS}
    return about | {SYNONYMS[token] for token in tokens if token in SYNONYMS}
