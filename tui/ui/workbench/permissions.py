"""What a server may ask for: its roots and the model, shown in the overview and changed there."""

from collections.abc import Iterator
from pathlib import Path

from textual.content import Content

from tui.core.servers import SamplingRule, ServerStatus
from tui.core.text import clean_line
from tui.ui.dialogs.picker import Picker, PickerChoice
from tui.ui.workbench.calls import BenchContext

RULES = (
    (SamplingRule.NEVER, "its requests are refused"),
    (SamplingRule.ASK, "you see each request and each reply, and may change them"),
    (SamplingRule.ALLOW, "without a question, within its budget"),
)
RESTART = "A running server learns of a change from or to never when it is restarted."


def permission_facts(status: ServerStatus, roots_key: str, rule_key: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and style of each fact."""
    spec = status.spec
    roots = ", ".join(clean_line(root, 200) for root in spec.roots)
    yield "roots", f"{roots or 'none'}   {roots_key} sets them", "text" if roots else "dim"
    if spec.sampling is SamplingRule.NEVER:
        yield "sampling", f"never   {rule_key} sets it", "dim"
    else:
        limits = f"{spec.sampling_tokens:,} tokens, {spec.sampling_per_minute} requests a minute"
        yield "sampling", f"{spec.sampling}   {limits}   {rule_key} sets it", "text"


def edit_roots(shared: BenchContext) -> None:
    """Ask for the directories that the server is told it may work in."""
    status = shared.status
    if status is None:
        return

    def done(text: str) -> None:
        shared.choose(shared.runtime.server_choices.set_roots(shared.server, listed(text)))

    shared.prompt.ask(
        "roots, separated by commas",
        done,
        value=", ".join(status.spec.roots),
        placeholder="~/src, /srv/data",
        check=lambda text: next(filter(None, map(root_problem, listed(text))), ""),
    )


def choose_sampling(shared: BenchContext) -> None:
    """Ask whether the server may ask the model."""
    status = shared.status
    if status is None:
        return

    def chosen(rule: str | None) -> None:
        if rule is not None:
            choices = shared.runtime.server_choices
            shared.choose(choices.set_sampling(shared.server, SamplingRule(rule)))

    words = [PickerChoice(rule, Content.assemble(rule, (f"   {about}", "dim"))) for rule, about in RULES]
    picker = Picker("May the server ask the model?", words, status.spec.sampling, note=RESTART)
    shared.screen.app.push_screen(picker, chosen)


def listed(text: str) -> list[str]:
    """Return the paths in a typed line."""
    return [part.strip() for part in text.split(",") if part.strip()]


def root_problem(root: str) -> str:
    """Return why a typed path cannot be a root, or ""."""
    return "" if Path(root).expanduser().is_dir() else f"{clean_line(root, 60)} is not a directory"
