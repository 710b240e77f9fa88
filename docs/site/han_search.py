"""Search that finds English words by their stem, and Chinese by pairs of characters: it has no spaces."""

import re

from sphinx.search.en import SearchEnglish

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_RUNS = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")


def words_of(text: str) -> list[str]:
    """Return the words of a text. A run of Chinese characters is its pairs, a single one itself."""
    words: list[str] = []
    for run in _RUNS.findall(text):
        if re.match(rf"[{_HAN}]", run) and len(run) > 1:
            words += [run[at : at + 2] for at in range(len(run) - 1)]
        else:
            words.append(run)
    return words


class EnglishAndHan(SearchEnglish):
    """The search of pages in English and Chinese."""

    lang = "en-han"  # language_name stays English: the browser's stemmer is named after it
    # The same as words_of, for what is typed. Pairs that no page has are where two words meet: left out.
    js_splitter_code = rf"""
function splitQuery(query) {{
  const runs = query.match(/[{_HAN}]+|(?:(?![{_HAN}])[\p{{L}}\p{{N}}_])+/gu) || [];
  const known = (pair) => pair in Search._index.terms || pair in Search._index.titleterms;
  return runs.flatMap((run) => {{
    if (!/[{_HAN}]/.test(run) || run.length < 2) return [run];
    const pairs = Array.from({{ length: run.length - 1 }}, (_, at) => run.slice(at, at + 2));
    return pairs.some(known) ? pairs.filter(known) : pairs;
  }});
}}
"""

    def split(self, input: str) -> list[str]:
        """Return the words of a text for the index."""
        return words_of(input)
