"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

# fmt: off
BRINGS = {
    "action": {
        "servers.doctor": ("SERVERS,BENCH_LIST", "H", "doctor",
            "Find out why the server does not work, step by step", 18, "tui.addons.doctor.screen:open_doctor",
            "tui.addons.doctor.actions:why_none"),
        "doctor.again": ("DOCTOR", "r", "again", "Check the server again", 1, "again()"),
        "doctor.copy": ("DOCTOR", "c", "copy report", "Copy the report for an issue, without secrets", 2,
            "copy()"),
        "doctor.back": ("DOCTOR", "escape,q", "back", "Stop the check, or close", 3, "back()"),
    },
}
# fmt: on


def why_none(owner: object) -> str:
    """Return why there is no server to check on the main screen, or ""; a workbench has one."""
    editing = getattr(owner, "editing", None)
    return str(editing.why_none()) if editing is not None else ""
