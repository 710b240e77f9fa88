"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

BRINGS = {
    "action": {
        "servers.doctor": {
            "contexts": ("SERVERS", "BENCH_LIST"),
            "keys": "H",
            "label": "doctor",
            "help": "Find out why the server does not work, step by step",
            "footer": 18,
            "call": "tui.addons.doctor.screen:open_doctor",
            "when": "tui.addons.doctor.actions:why_none",
        },
        "doctor.again": {
            "contexts": ("DOCTOR",),
            "keys": "r",
            "label": "again",
            "help": "Check the server again",
            "footer": 1,
            "call": "again()",
        },
        "doctor.copy": {
            "contexts": ("DOCTOR",),
            "keys": "c",
            "label": "copy report",
            "help": "Copy the report for an issue, without secrets",
            "footer": 2,
            "call": "copy()",
        },
        "doctor.back": {
            "contexts": ("DOCTOR",),
            "keys": "escape,q",
            "label": "back",
            "help": "Stop the check, or close",
            "footer": 3,
            "call": "back()",
        },
    },
}


def why_none(owner: object) -> str:
    """Return why there is no server to check on the main screen, or ""; a workbench has one."""
    editing = getattr(owner, "editing", None)
    return str(editing.why_none()) if editing is not None else ""
