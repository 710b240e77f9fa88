"""The vocabulary of the demo model, and splitting text into words. Data and pure functions."""

import re

from tui.core.late_compiling import late


def stem(word: str) -> str:
    """Return `word` without its most common endings, so that most of its forms are equal."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    word = re.sub(r"(?<=...)(?:ing|ed|ly)$", "", word)
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _table(text: str) -> dict[str, str]:
    """Return the words of a table (`meaning word word, meaning word`) with their meanings."""
    entries = [entry.split() for entry in text.split(",")]
    return {word.replace("_", " "): meaning for meaning, *words in entries for word in words}


READ_ONLY = frozenset({"get", "list", "search"})
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
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {word: str(number) for number, word in enumerate(_NUMBERS.split())}


def longest_first(words: list[str]) -> str:
    """Return a pattern for any of `words` that prefers the longest match."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


CHINESE_NOISE = late(longest_first([*_CHINESE, *_FILLER.split()]))
_CAMEL = late(r"(?<=[a-z0-9])(?=[A-Z])")
_CJK = late("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PIECE = late(rf"[a-z0-9]+|{longest_first([*_CHINESE])}")


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
