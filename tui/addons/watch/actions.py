"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

BRINGS = {
    "action": {
        "watch.toggle": {
            "contexts": ("BENCH_LIST",),
            "keys": "W",
            "label": "watch",
            "help": "Restart the server when its files change, or stop that",
            "call": "tui.addons.watch.line:toggle",
        },
        "watch.changes": {
            "contexts": ("BENCH_LIST",),
            "keys": "D",
            "label": "changes",
            "help": "Show what changed in the definitions at the last restart",
            "call": "tui.addons.watch.line:show_changes",
        },
        "watch.auto": {
            "contexts": ("BENCH_LIST",),
            "keys": "full_stop",
            "label": "auto",
            "help": "Repeat the last call after each restart, or stop that",
            "call": "tui.addons.watch.line:toggle_auto",
        },
        "watch.accept": {
            "contexts": ("BENCH_LIST",),
            "keys": "L",
            "label": "accept",
            "help": "Accept the definitions of the server as they change, or ask",
            "call": "tui.addons.watch.line:toggle_accepting",
        },
    },
}
