"""What docs/keys.md says around its tables, in each language."""

from typing import NamedTuple


class PageTexts(NamedTuple):
    """The texts of the page in one language."""

    language: str
    folder: str
    head: str
    commands: str
    panes: str
    columns: tuple[str, str, str]
    command_columns: tuple[str, str]
    anywhere: str


_EXAMPLE = """
```toml
[ui.keys]
"servers.restart" = "ctrl+r"
"chat.new" = ["ctrl+n", "alt+n"]
```
"""

ENGLISH = PageTexts(
    language="",
    folder="",
    head=f"""# Keys

<!-- Written by `python -m tests.unit.keys_page`. Edit tui/ui/keys/action_table.py instead. -->

## In a minute

1. `f1` shows the keys of the screen that you are on. Type a word to filter them.
2. `ctrl+p` finds every command by its name, and runs it with `enter`.
3. `mcptui config init` writes a configuration file. Add the lines below and restart mcptui: `ctrl+r` restarts
   the selected server.

The name of an action is in the last column of the tables. More in
[Configuration](configuration.md#theme-and-keys).
{_EXAMPLE}
An answer to a question (`question.*`, `ask.*`) cannot be bound to a key that scrolls, such as `enter`,
or to one that gives another answer by default.
""",
    commands="""
## Commands

A command is at the start of a message. A message that begins with `/` but is not in the form of a command
(`/etc/hosts`, `// a comment`) is sent unchanged. An unknown command (`/lookup`) is not sent. To send it as a
message, put a space before it.
""",
    panes="""
## In every pane

| key | action |
| --- | --- |
| `up` `down` `k` `j` | Scroll by a line |
| `page up` `page down` | Scroll by a page |
| `home` `g` | Go to the start |
| `end` `G` | Go to the end and follow |
| `enter` `space` | Expand or collapse |
| `tab` | Focus the next pane |

**Mouse:** a click selects, a double click does what `enter` does, the wheel scrolls the pane under the pointer.
In a menu or the palette, one click takes the choice. Dragging selects text in a pane, a double click a word, a
third click the line; `ctrl+c` copies. Hold `shift` to use the terminal's own selection.
""",
    columns=("key", "action", "name"),
    command_columns=("command", "action"),
    anywhere=", anywhere ",
)

CHINESE = PageTexts(
    language="zh_CN",
    folder="zh-CN",
    head=f"""# 按键

<!-- Written by `python -m tests.unit.keys_page`. Edit tui/ui/keys/action_table.py instead. -->

## 一分钟

1. `f1` 显示当前界面的按键。输入文字即可过滤。
2. `ctrl+p` 按名称查找任何命令，`enter` 执行。
3. `mcptui config init` 写出一个配置文件。加入下面几行，重启 mcptui，`ctrl+r` 就会重启选中的服务器。

操作的名称在各表的最后一列。详见 [Configuration](../configuration.md#theme-and-keys)（英文）。
{_EXAMPLE}
回答问题的操作（`question.*`、`ask.*`）不能绑定到滚动用的按键，例如 `enter`，也不能绑定到默认表示另一个回答的按键。
""",
    commands="""
## 命令

命令写在消息开头。以 `/` 开头但不符合命令格式的消息（`/etc/hosts`、`// a comment`）会原样发送。未知的命令（`/lookup`）不会发送；想把它当作消息发出，就在前面加一个空格。
""",
    panes="""
## 在每个窗格里

| 按键 | 操作 |
| --- | --- |
| `up` `down` `k` `j` | 滚动一行 |
| `page up` `page down` | 滚动一页 |
| `home` `g` | 到开头 |
| `end` `G` | 到末尾并跟随 |
| `enter` `space` | 展开或收起 |
| `tab` | 切换到下一个窗格 |

**鼠标：**单击选中，双击等同于 `enter`，滚轮滚动指针下的窗格。在菜单和命令面板里，单击即可选定。在窗格里拖动选择文字，双击选一个词，第三次单击选整行；`ctrl+c` 复制。按住 `shift` 可使用终端自带的选择功能。
""",
    columns=("按键", "操作", "名称"),
    command_columns=("命令", "操作"),
    anywhere="，在任何界面 ",
)

PAGES = (ENGLISH, CHINESE)
