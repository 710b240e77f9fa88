"""The table of keys: its examples are what the reader accepts."""

from pathlib import Path

from tests.cases import each_case
from tui.addons.tests.suite.keys import SECTIONS, Key
from tui.addons.tests.suite.read import suite_of

HOLDERS = {
    "server": "[server]\n{}",
    "call": "[[call]]\n{}",
    "then": '[[call]]\ntool = "a"\nthen = [{{ {} }}]',
    "content": '[[call]]\ntool = "a"\ncontent = [{{ {} }}]',
    "answers": '[[call]]\ntool = "a"\nanswers = {{ {} }}',
    "turn": "[[turn]]\n{}",
    "contract": "[contract]\n{}",
}
OTHERS = {
    "url": "",
    "headers": 'url = "http://localhost/"',
    "transport": 'url = "http://localhost/"',
}
NEEDED = {
    "server": 'command = ["a"]',
    "call": 'tool = "a"',
    "then": 'tool = "a"',
    "content": 'type = "image"',
    "turn": 'question = "q"',
} | {"contract": 'lock = "a"'}


@each_case(
    ("section", "name", "key"),
    [
        (section, name, key)
        for section, keys in SECTIONS.items()
        for name, key in keys.items()
        if section and key.example
    ],
)
def test_the_example_of_a_key_is_accepted(section: str, name: str, key: Key):
    needed = OTHERS.get(name, NEEDED.get(section, ""))
    alone = name in ("tool", "read", "prompt", "list") or needed.startswith(f"{name} =") or not needed
    joint = "\n" if "{{" not in HOLDERS[section] else ", "
    suite_of(HOLDERS[section].format(key.example if alone else f"{needed}{joint}{key.example}"), Path("a"))


def test_every_key_has_a_description_that_is_a_sentence():
    for keys in SECTIONS.values():
        assert all(key.description[0].isupper() or key.description[0] == "`" for key in keys.values())
        assert all(key.description.endswith(".") for key in keys.values())
