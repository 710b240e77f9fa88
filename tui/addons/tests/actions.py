"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

# fmt: off
BRINGS = {
    "action": {
        "keep.call": ("CONVERSATION,TRACE,TRAFFIC,ENTRY,BENCH_LIST", "C", "keep",
            "Keep the call and its result, a list, or a whole turn, as a test", 4,
            "tui.addons.tests.screens.keep_places:keep", "tui.addons.tests.actions:why_no_call"),
        "tests.open": ("ANYWHERE", "alt+t", "tests", "Tests: show and run all kept calls", 39,
            "tui.addons.tests.screens.cases_screen:open_cases"),
        "bench.tests": ("BENCH_LIST", "7", "tests", "Show the kept calls of the server", 0,
            "tui.addons.tests.screens.cases_tab:show_tab"),
        "tests.turns": ("TESTS", "t", "turns", "Turn cases by model, with pass rate, cost and conversations",
            5, "browser.show_turns()"),
        "tests.review": ("TESTS", "enter", "open", "Compare the result with what is expected, and review it",
            1, "browser.review()"),
        "tests.run": ("TESTS", "r", "run", "Run the selected case", 2, "browser.run_selected()"),
        "tests.run_all": ("TESTS", "R", "all", "Run all listed cases", 3, "browser.run_all()"),
        "tests.filter": ("TESTS", "slash", "filter", "Filter by name, tool, tag, file or state", 4,
            "browser.ask_filter()"),
        "tests.copy": ("TESTS", "c", "copy as…", "Copy the case, or its request as a command or a script", 7,
            "browser.copy()"),
        "tests.traffic": ("TESTS", "f4", "messages", "Show the messages of the last run of the case", 5,
            "browser.show_messages()"),
        "tests.undo": ("TESTS", "ctrl+z", "undo", "Undo the last change that the review made to a file", 0,
            "browser.undo()"),
        "tests.back": ("TESTS", "escape,q", "back", "Cancel the run, clear the filter, or close", 6,
            "back()"),
        "review.accept": ("REVIEW", "a", "accept", "Accept: the new result becomes the expectation", 1,
            "accept()"),
        "review.vary": ("REVIEW", "m", "varies",
            "The selected difference varies: expect a placeholder of its type", 2, "vary()"),
        "review.skip": ("REVIEW", "x", "fail", "Let this case fail, and go to the next one", 3, "skip()"),
        "review.next": ("REVIEW", "n", "next", "Next case", 5, "step(1)"),
        "review.previous": ("REVIEW", "N", "previous", "Previous case", 0, "step(-1)"),
        "review.traffic": ("REVIEW", "f4", "messages", "Show the messages of the case", 6, "show_messages()"),
        "review.copy": ("REVIEW", "c", "copy as…", "Copy the case, or its request as a command or a script",
            0, "copy()"),
        "review.undo": ("REVIEW", "ctrl+z", "undo", "Undo the last change of a file", 4, "undo()"),
        "review.write": ("REVIEW", "enter", "write", "Write the proposed change to the file", 1,
            "write_proposed()"),
        "review.back": ("REVIEW", "escape,q", "back", "Discard the proposed change, or close", 7, "back()"),
    },
}
# fmt: on


def why_no_call(owner: object) -> str:
    """Return why there is nothing to keep in the conversation, or ""; other screens say it themselves."""
    current = getattr(owner, "current", None)
    return str(current.why_none()) if current is not None else ""
