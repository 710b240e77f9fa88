"""What a person can do on the workbench: the part of the table of actions that its screen reads. Pure."""

from tui.ui.keys.action import Action, Context


def _bench(id: str, keys: str, label: str, help: str, footer: int = 0, run: str = "") -> Action:
    run = f"screen.{run or id.replace('.', '_')}"  # a method of the screen
    return Action(id, keys, Context.WORKBENCH, label, help, footer, run=run)


def _list(id: str, keys: str, label: str, help: str, footer: int = 0, run: str = "") -> Action:
    run = f"screen.{run or id.replace('.', '_')}"
    return Action(id, keys, Context.BENCH_LIST, label, help, footer, run=run)


def _form(id: str, keys: str, label: str, help: str, footer: int = 0) -> Action:
    run = id.replace(".", "_")  # a method of the form
    return Action(id, keys, Context.BENCH_FORM, label, help, footer, run=run, palette=False)


WORKBENCH_ACTIONS: tuple[Action, ...] = (
    # ---- everywhere on the workbench ----
    _bench(
        "bench.call", "ctrl+j,ctrl+enter,f9", "call", "Call the tool, read the resource, get the prompt", 3
    ),
    _bench("bench.back", "escape", "back", "Stop the call, leave the form, leave the workbench", 4),
    _bench(
        "bench.raw",
        "ctrl+r",
        "raw JSON",
        "Write the arguments as raw JSON, or in the form again",
        5,
        run="on_bench('raw')",
    ),
    _bench("bench.keep", "ctrl+k", "keep", "Keep these arguments under a name", 9, run="on_bench('keep')"),
    _bench("bench.saved", "ctrl+o", "kept", "Take arguments that were kept", 10, run="on_bench('saved')"),
    _bench("bench.frames", "f4", "frames", "Show the frames of this call, or the traffic of the server", 6),
    _bench("bench.hand", "ctrl+g", "to chat", "Put the result into the message to the model", 7),
    _bench("bench.start", "ctrl+s", "start/stop", "Start or stop the server", 14, run="bench_toggle"),
    _bench("bench.next_tab", "ctrl+pagedown", "next tab", "Go to the next tab", run="bench_step_tab(1)"),
    _bench("bench.last_tab", "ctrl+pageup", "last tab", "Go to the tab before", run="bench_step_tab(-1)"),
    # ---- lists and results ----
    _list("bench.open", "enter", "open", "List: go to the form. Call: take its arguments. Tree: fold", 1),
    _list("bench.filter", "slash", "filter", "Filter the list while typing", 2),
    _list("bench.next", "n", "next find", "Go to the next find", 0, run="bench_find(1)"),
    _list("bench.previous", "N", "last find", "Go to the find before", 0, run="bench_find(-1)"),
    _list("bench.right", "right,l", "tabs", "Go to the next tab", 2, run="bench_step_tab(1)"),
    _list("bench.left", "left,h", "last tab", "Go to the tab before", run="bench_step_tab(-1)"),
    _list("bench.overview", "1", "overview", "Go to the overview", run="bench_tab('overview')"),
    _list("bench.tools", "2", "tools", "Go to the tools", run="bench_tab('tools')"),
    _list("bench.resources", "3", "resources", "Go to the resources", run="bench_tab('resources')"),
    _list("bench.prompts", "4", "prompts", "Go to the prompts", run="bench_tab('prompts')"),
    _list("bench.log", "5", "log", "Go to the log", run="bench_tab('log')"),
    _list("bench.traffic", "6", "traffic", "Go to the traffic of the server", run="bench_tab('traffic')"),
    _list(
        "bench.diff",
        "d",
        "compare",
        "Compare this result with the one before, or the marked one",
        8,
        run="on_bench('diff')",
    ),
    _list("bench.mark", "m", "mark", "Mark a call, to compare others with it", 12, run="on_bench('mark')"),
    _list("bench.copy", "y", "copy", "Copy the value that the mark stands on", 11),
    _list("bench.copy_all", "Y", "copy all", "Copy the whole result as JSON", 0, run="on_bench('copy_all')"),
    _list(
        "bench.save",
        "w",
        "save",
        "Save the image, the text or the whole result to a file",
        11,
        run="on_bench('save')",
    ),
    _list(
        "bench.maximise",
        "z",
        "whole screen",
        "Give the result the whole screen, and back",
        13,
        run="on_bench('maximise')",
    ),
    _list("bench.toggle", "s", "start/stop", "Start or stop the server", 15),
    _list("bench.restart", "r", "restart", "Restart the server", 16),
    _list("bench.reload", "R", "list again", "Ask the server again for what it offers", 17),
    _list("bench.leave", "q", "back", "Leave the workbench", 0),
    # ---- a form ----
    _form("form.choose", "enter", "next, choose", "Next field; choose; unfold; on the last line: call", 1),
    _form("form.next", "tab,down", "next", "Go to the next field", 0),
    _form("form.previous", "shift+tab,up", "before", "Go to the field before", 0),
    _form("form.add", "ctrl+n", "add", "Add an item to the list, or an optional field", 8),
    _form("form.remove", "ctrl+d", "remove", "Take the item, or the value of the field, away", 8),
    _form("form.cycle", "ctrl+a", "another", "Take the next choice, or the next arm of a union", 11),
)
