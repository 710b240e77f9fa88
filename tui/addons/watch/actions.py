"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

BRINGS = {
    "action": {
        "watch.toggle": {
            "contexts": ("BENCH_LIST",),
            "keys": "W",
            "label": "watch",
            "help": "Restart when files change, or stop that",
            "footer": 9,
            "call": "tui.addons.watch.line:toggle",
        },
        "watch.changes": {
            "contexts": ("BENCH_LIST",),
            "keys": "D",
            "label": "changes",
            "help": "Show what the last restart changed",
            "call": "tui.addons.watch.line:show_changes",
        },
        "watch.auto": {
            "contexts": ("BENCH_LIST",),
            "keys": "full_stop",
            "label": "auto",
            "help": "Repeat the last call on restart, or not",
            "call": "tui.addons.watch.line:toggle_auto",
        },
        "watch.accept": {
            "contexts": ("BENCH_LIST",),
            "keys": "L",
            "label": "accept",
            "help": "Accept changed definitions, or ask",
            "call": "tui.addons.watch.line:toggle_accepting",
        },
    },
}
