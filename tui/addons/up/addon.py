"""What this add-on brings: `mcptui up`, the door of a running mcptui, and asking at one. Standard library only."""

BRINGS = {
    "door": {
        "servers": "tui.addons.up.methods:servers",
        "log": "tui.addons.up.methods:log",
    },
    "service": {
        "door": "tui.addons.up.door:Door",
        "running": "tui.addons.up.running:running",
    },
    "setting": {"up": None},
}
