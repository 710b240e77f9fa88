"""The rules screen: lists, edits and tries rules; lists and revokes earlier approvals."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from tui.core.conversation.conversation import AssistantMessage, Message
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import N_, _, localized, n_
from tui.core.matching import has_words
from tui.core.permission.rules import Rule, RuleError, Verdict, parse_rule
from tui.core.schemas.tool_names import NameTable
from tui.core.text import clean_line
from tui.ui.dialogs.confirm import Confirm
from tui.ui.dialogs.dialog import heading as title_of
from tui.ui.keys.action_table import Action, Context
from tui.ui.keys.bindings import KeyOverrides, bindings_of
from tui.ui.lists.finder import FinderScreen
from tui.ui.lists.items import FinderItem, approval_item, heading, outcome_item, rule_item, words
from tui.ui.widgets.rows import EMPTY, Row
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.core.ports import ApprovalRequest
    from tui.runtime.runtime import Runtime

EXAMPLE = "ask files/* path=/etc/*"
EMPTY_WORDS = N_(
    "No rules yet. A rule allows calls, denies them or asks for approval, by server, tool or arguments: "
    "allow weather/*, ask files/* path=/etc/*, deny */delete_*"
)
ORDER_WORDS = N_(
    "deny overrides ask, ask overrides allow. Without a rule, read-only tools of trusted servers run and "
    "other calls need approval."
)
MOST_RECENT = 20
"""Maximum calls of the conversation to try."""

TRY_WORDS = N_('To try the rules, type a call: server/tool {"argument": "value"}')


@dataclass(frozen=True, slots=True)
class TypedCall:
    """A call that the user typed; `problem` describes invalid arguments, or is ""."""

    server: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def text(self) -> str:
        """The call as typed."""
        return f"{self.server}/{self.tool} {json.dumps(self.arguments, ensure_ascii=False, default=str)}"


def typed_call(text: str) -> TypedCall | None:
    """Return the call in a text, `server/tool {json}`, or None: then the text filters the list."""
    name, brace, rest = text.strip().partition("{")
    server, slash, tool = name.strip().partition("/")
    if not (server and slash and tool) or "*" in name or "=" in name or server.split()[0] in set(Verdict):
        return None
    if not brace:
        return TypedCall(server, tool)
    if (arguments := json_value(brace + rest)) is None:
        return TypedCall(server, tool, problem=_("The arguments are not a complete JSON object."))
    return TypedCall(server, tool, arguments)


def recent_calls(messages: Sequence[Message], names: NameTable) -> Sequence[TypedCall]:
    """Return the distinct calls of a conversation, the latest first."""
    found: dict[str, TypedCall] = {}
    for message in reversed(messages):
        for call in reversed(message.calls) if isinstance(message, AssistantMessage) else ():
            tool = names.resolve(call.name)
            arguments = json_value(call.arguments or "{}")
            if tool is not None and isinstance(arguments, dict):
                one = TypedCall(tool.server, tool.name, arguments)
                found.setdefault(one.text, one)
        if len(found) >= MOST_RECENT:
            break
    return tuple(found.values())


class RulesScreen(FinderScreen[None]):
    """Lists, tries and changes the rules. The call of `request` is tried first."""

    CONTEXTS = (Context.RULES,)
    PLACEHOLDER = N_("a rule, or a call to try: server/tool {json}")
    OPENED_BY = "rules.open"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.RULES)

    def __init__(
        self, runtime: "Runtime", overrides: KeyOverrides, request: "ApprovalRequest | None" = None
    ) -> None:
        super().__init__(overrides)
        context = runtime.turn_context
        self._changes = runtime.approvals
        tool = request.tool if request is not None else None
        self._first = TypedCall(tool.server, tool.name, request.arguments) if request and tool else None
        self._tools = context.toolbox.tools
        names = NameTable(self._tools())
        self._recent = recent_calls(runtime.conversations.messages, names)
        self._tried = -1
        self._problems: Sequence[str] = [one for one in runtime.problems if " approvals" in one]
        self._rules: dict[str, Rule] = {}
        self._approvals: dict[str, bool] = {}
        self.field.max_length = 4000

    def on_mount(self) -> None:
        if self._first is not None:
            self._fill(self._first)
        self.show_items()

    def _fill(self, call: TypedCall) -> None:
        self.field.value = clean_line(call.text, 4000)
        self.field.cursor_position = len(self.field.value)

    def show_items(self, key: str = "") -> None:
        rules = self._changes.rules
        self._rules = {f"{rule.origin} {rule.number}": rule for rule in rules}
        self._approvals = self._changes.earlier
        text = self.field.value.strip()
        call = typed_call(text)
        self.label.show(_("find ›") if call is None else _("try ›"))
        items = self._tried_items(call) if call is not None else self._filtered(text)
        self.list.show(
            [*(words(clean_line(localized(one), 400), "bad") for one in self._problems), *items], key
        )
        self.title_line.show(title_of(_("Rules")), ((n_("{n} rule", "{n} rules", len(rules)), "dim"),))
        self.show_keys()

    def _filtered(self, text: str) -> list[FinderItem]:
        items = [rule_item(key, rule) for key, rule in self._rules.items() if has_words(str(rule), text)]
        if not self._rules:
            items = [words(""), words(_(EMPTY_WORDS))]
        earlier = [
            approval_item(key, always=always)
            for key, always in self._approvals.items()
            if has_words(key.rpartition("@")[0], text)
        ]
        if earlier:
            items += [heading(_("Earlier approvals"), _("apply unless a rule decides")), *earlier]
        return [*items, words(""), words(_(ORDER_WORDS)), words(_(TRY_WORDS))]

    def _tried_items(self, call: TypedCall) -> list[FinderItem]:
        if call.problem:
            return [
                words(call.problem, "warn"),
                words(""),
                *map(rule_item, self._rules, self._rules.values()),
            ]
        judgement, matching = self._changes.try_call(self._tools(), call.server, call.tool, call.arguments)
        symbols = symbols_for()
        marks = {id(rule): symbols.warning for rule in matching}
        marks |= {id(rule): symbols.running for rule in matching[:1]}
        items = [outcome_item(judgement), words("")]
        for key, rule in self._rules.items():
            mark = marks.get(id(rule), "")
            items.append(rule_item(key, rule, mark or " ", dim=not mark))
        if len(matching) > 1:
            items += [
                words(""),
                words(_("{sign} also matches, but another rule overrides it", sign=symbols.warning)),
            ]
        return items

    def about(self, key: str) -> Row:
        if (rule := self._rules.get(key)) is not None:
            file = clean_line(self._changes.path, 200)
            return ((_("{name} in {file}", name=f"approvals.{rule.origin}", file=file), "dim"),)
        return ((_("from an earlier approval"), "dim"),) if key in self._approvals else EMPTY

    def offers(self, found: Action) -> bool:
        key = self.list.current
        match found.id:
            case "rule.edit":
                return key in self._rules
            case "rule.remove":
                return key in self._rules or key in self._approvals
            case "rule.recent":
                return bool(self._recent)
        return True

    def take(self, key: str) -> None:
        if (rule := self._rules.get(key)) is not None:
            self._ask(_("edit"), str(rule), lambda text: self._changes.replace(rule, text), _("Saved."))

    def action_rule_edit(self) -> None:
        if self.list.current:
            self.choose()
        else:
            self.tell(_("No rule is selected."), "warn")

    def action_rule_add(self) -> None:
        call = typed_call(self.field.value)
        draft = str(Rule(Verdict.DENY, call.server, call.tool)) if call is not None else ""
        self._ask(_("new rule"), draft, self._changes.add, _("Added."), always=True)

    def _ask(
        self,
        label: str,
        value: str,
        save: Callable[[str], Awaitable[None]],
        done: str,
        *,
        always: bool = False,
    ) -> None:
        """Ask for a rule, and save it: with `always`, also if it is still `value`."""

        def given(text: str) -> None:
            if text.strip() and (always or text.strip() != value):
                self._carry_out(self.prompt.saving(save(text)), done)

        self.prompt.ask(label, given, value=value, placeholder=EXAMPLE, check=self._checked)

    def _checked(self, text: str) -> str:
        """Return "invalid rule" or "", and show the problem as a message: the prompt has no room for it."""
        problem = ""
        try:
            if text.strip():
                parse_rule(text)
        except RuleError as error:
            problem = clean_line(localized(error), 200)
        self.tell(problem, "bad", lasting=True)
        return _("invalid rule") if problem else ""

    def _carry_out(self, work: Awaitable[None], done: str) -> None:
        async def change() -> None:
            await work
            self._problems = ()
            self.show_items()
            self.tell(done)

        self.keep_task(change(), "change the rules")

    def action_rule_remove(self) -> None:
        key = self.list.current
        rule = self._rules.get(key)
        if key in self._approvals:
            self._carry_out(self._changes.revoke(key), _("Revoked. The tool needs approval again."))
        elif rule is None:
            self.tell(_("No rule is selected."), "warn")
        if rule is None:
            return

        def decided(yes: bool | None) -> None:
            if yes:
                self._carry_out(self._changes.remove(rule), _("Removed."))

        shown = clean_line(str(rule), 200)
        question = _("Remove the rule “{rule}” from the configuration?", rule=shown)
        about = _("Other rules then decide about its calls. Without one, the default applies.")
        self.app.push_screen(Confirm(question, yes=_("remove"), no=_("keep"), about=about), decided)

    def action_rule_recent(self) -> None:
        """Try the call before the one tried last."""
        if self._recent:
            self._tried = (self._tried + 1) % len(self._recent)
            self._fill(self._recent[self._tried])
            self.refilter()
        else:
            self.tell(_("No call in this conversation to try."), "warn")

    def action_rule_leave(self) -> None:
        text = clean_line(self._first.text, 4000) if self._first is not None else ""
        if self.field.value == text or not self.empty_field():
            self.dismiss(None)
