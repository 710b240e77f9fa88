"""Which calls run without approval."""

import pytest

from tests.unit.core.stand_ins import HintedTrust, policy_of
from tui.core.context.built_in_tools import BUILT_IN, LIST
from tui.core.context.built_in_tools import READ as READ_RESOURCE
from tui.core.permission.approval_policy import Mode, Verdict
from tui.core.permission.rules import Rules
from tui.core.ports import Answer
from tui.core.tools import Tool

READ = Tool("notes", "list", read_only=True, trusted=True, digest="r1")
WRITE = Tool("notes", "add", digest="w1", trusted=True)
DELETE = Tool("notes", "delete", destructive=True, digest="d1", trusted=True)


def test_other_tools_ask_with_the_reason():
    assert policy_of().judge(WRITE).verdict is Verdict.ASK
    assert policy_of().judge(DELETE).why == "may delete or overwrite data, according to the server"


def test_an_untrusted_read_only_hint_is_mentioned_but_not_followed():
    policy = policy_of()
    marked = policy.judge(Tool("x", "y", read_only=True))
    assert marked.by_mark and "counts only if you trust the server" in marked.why
    assert policy.judge(Tool("x", "y", destructive=False)).why == "may change something"
    assert not policy.judge(Tool("x", "y", destructive=False)).by_mark


def test_reads_mode_names_the_settings_that_would_trust_the_server():
    judgement = policy_of(mode=Mode.READS).judge(Tool("x", "y", read_only=True))
    assert judgement.verdict is Verdict.DENY
    assert "--trust x" in judgement.why and "trusted = true" in judgement.why


def test_a_read_only_hint_of_an_untrusted_server_does_not_cover_a_call_found_in_text():
    policy = policy_of(session={policy_of().key(Tool("x", "y"))})
    assert policy.judge(Tool("x", "y", read_only=True), guessed=True).verdict is Verdict.ASK


def test_an_approval_for_the_session_is_remembered_but_not_one_for_one_call():
    policy = policy_of()
    policy.remember(WRITE, Answer.ONCE)
    assert policy.judge(WRITE).verdict is Verdict.ASK
    policy.remember(WRITE, Answer.SESSION)
    assert policy.judge(WRITE).verdict is Verdict.ALLOW and not policy.always


def test_a_tool_or_a_command_that_changes_after_the_approval_asks_again():
    policy = policy_of(server_digest=lambda server: "one")
    policy.remember(WRITE, Answer.ALWAYS)
    changed = Tool("notes", "add", digest="w2", trusted=True)
    assert policy.judge(WRITE).verdict is Verdict.ALLOW and policy.judge(changed).verdict is Verdict.ASK
    moved = policy_of(server_digest=lambda server: "two", always=policy.always)
    assert moved.judge(WRITE).verdict is Verdict.ASK


@pytest.mark.parametrize(
    ("mode", "read", "write"),
    [
        (Mode.ASK, Verdict.ALLOW, Verdict.ASK),
        (Mode.READS, Verdict.ALLOW, Verdict.DENY),
        (Mode.ALL, Verdict.ALLOW, Verdict.ALLOW),
        (Mode.NONE, Verdict.DENY, Verdict.DENY),
    ],
)
def test_each_mode_decides_about_reads_and_writes(mode: Mode, read: Verdict, write: Verdict):
    policy = policy_of(mode=mode)
    assert (policy.judge(READ).verdict, policy.judge(WRITE).verdict) == (read, write)


def test_an_earlier_approval_does_not_cover_a_call_found_in_text():
    policy = policy_of(Rules.parsed(allow=("notes/*",)))
    writes = Tool("notes", "add_note")
    assert policy.judge(writes).verdict is Verdict.ALLOW
    assert policy.judge(writes, guessed=True).verdict is Verdict.ASK
    reads = Tool("notes", "search", read_only=True, trusted=True)
    assert policy.judge(reads, guessed=True).verdict is Verdict.ALLOW
    assert policy_of(mode=Mode.ALL).judge(writes, guessed=True).verdict is Verdict.ALLOW


def test_each_verdict_of_a_rule_names_the_rule():
    policy = policy_of(
        Rules.parsed(["allow notes/add", "ask notes/* text=*secret*", "deny notes/* path=/etc/*"])
    )
    allowed, asked, denied = (
        policy.judge(WRITE, arguments)
        for arguments in ({"text": "milk"}, {"text": "a secret"}, {"path": "/tmp/../etc/passwd"})
    )
    assert (allowed.verdict, allowed.rule) == (Verdict.ALLOW, "allow notes/add")
    assert asked.rule == "ask notes/* text=*secret*"
    assert asked.why == "the rule “ask notes/* text=*secret*” asks for approval"
    assert (denied.verdict, denied.rule) == (Verdict.DENY, "deny notes/* path=/etc/*")
    assert denied.why == "a rule in the configuration forbids this call"  # the model gets no pattern


def test_an_ask_rule_denies_in_reads_mode():
    policy = policy_of(Rules.parsed(ask=["notes/list"]), Mode.READS)
    judgement = policy.judge(READ)
    assert (judgement.verdict, judgement.rule) == (Verdict.DENY, "ask notes/list")
    assert "--approve reads" in judgement.why


def test_an_earlier_approval_does_not_override_a_rule():
    policy = policy_of(Rules.parsed(ask=["notes/add text=*!*"]))
    policy.remember(WRITE, Answer.ALWAYS)
    assert policy.judge(WRITE, {"text": "hi"}).verdict is Verdict.ALLOW
    assert policy.judge(WRITE, {"text": "hi!"}).verdict is Verdict.ASK


FETCH = ("fetch",)
AFTER_FETCH = "This conversation contains a result from the server “fetch”, which you do not trust"


def test_an_earlier_approval_does_not_cover_a_call_after_untrusted_content():
    policy = policy_of()
    policy.remember(WRITE, Answer.ALWAYS)
    policy.remember(DELETE, Answer.SESSION)
    assert policy.judge(WRITE).verdict is Verdict.ALLOW
    for tool in (WRITE, DELETE):
        asked = policy.judge(tool, after=FETCH)
        assert (asked.verdict, asked.why) == (Verdict.ASK, AFTER_FETCH)


def test_an_approval_given_after_the_same_content_covers_the_next_call():
    policy = policy_of()
    policy.remember(WRITE, Answer.SESSION, FETCH)
    assert policy.judge(WRITE, after=FETCH).verdict is Verdict.ALLOW
    assert policy.judge(WRITE, after=("fetch", "mail")).verdict is Verdict.ASK
    policy.remember(DELETE, Answer.ONCE, FETCH)
    assert policy.judge(DELETE, after=FETCH).verdict is Verdict.ASK


def test_a_call_that_asks_anyway_names_the_untrusted_content_of_other_servers():
    assert policy_of().judge(Tool("x", "y"), after=FETCH).why == f"may change something. {AFTER_FETCH}"
    policy = policy_of()
    policy.remember(WRITE, Answer.SESSION)
    assert policy.judge(WRITE, after=("notes",)).verdict is Verdict.ALLOW


def test_trusted_reads_and_configured_rules_apply_after_any_content():
    assert policy_of().judge(READ, after=FETCH).verdict is Verdict.ALLOW
    assert policy_of(mode=Mode.READS).judge(READ, after=FETCH).verdict is Verdict.ALLOW
    policy = policy_of(Rules.parsed(allow=("notes/*",), deny=("*/delete",)))
    assert policy.judge(WRITE, after=FETCH).verdict is Verdict.ALLOW
    assert policy.judge(DELETE, after=FETCH).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("mode", "verdict"), [(Mode.READS, Verdict.DENY), (Mode.ALL, Verdict.ALLOW), (Mode.NONE, Verdict.DENY)]
)
def test_flags_decide_without_a_question_after_untrusted_content(mode: Mode, verdict: Verdict):
    policy = policy_of(mode=mode)
    policy.remember(WRITE, Answer.ALWAYS)
    judgement = policy.judge(WRITE, after=FETCH)
    assert judgement.verdict is verdict
    assert (AFTER_FETCH in judgement.why) is (mode is Mode.READS)


def resource_tool(name: str) -> Tool:
    return Tool("mcptui", name, read_only=True, trusted=True, digest=BUILT_IN + name)


FILE = {"server": "files", "uri": "file:///etc/passwd"}


@pytest.mark.parametrize("name", [READ_RESOURCE, LIST])
@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("deny files/*", Verdict.DENY),
        ("deny files/* server=files", Verdict.DENY),
        ("ask files/*", Verdict.ASK),
        ("deny files/* uri=file:///etc/*", Verdict.DENY),
        ("deny files/* uri=file:///srv/*", Verdict.ALLOW),
        ("deny mcptui/*", Verdict.DENY),
        ("deny notes/*", Verdict.ALLOW),
    ],
)
def test_a_rule_for_a_server_also_applies_to_its_resources(rule: str, verdict: Verdict, name: str):
    policy = policy_of(Rules.parsed([rule]))
    assert policy.judge(resource_tool(name), FILE).verdict is verdict


class OnlyWeather(HintedTrust):
    """Trusts trusted tools and the server `weather`."""

    def trusted(self, server: str) -> bool:
        return server == "weather"


def test_after_untrusted_content_a_resource_of_another_untrusted_server_asks():
    read = resource_tool(READ_RESOURCE)
    policy = policy_of(trust=OnlyWeather())
    asked = policy.judge(read, FILE, after=["web"])
    assert asked.verdict is Verdict.ASK and "a result from the server “web”" in asked.why
    assert policy.judge(read, FILE, after=["web"], listed=True).verdict is Verdict.ALLOW
    assert policy.judge(read, {**FILE, "server": "weather"}, after=["web"]).verdict is Verdict.ALLOW
    assert policy.judge(resource_tool(LIST), FILE, after=["web"]).verdict is Verdict.ALLOW
    policy.remember(read, Answer.ALWAYS, ["web"])
    assert policy.judge(read, FILE, after=["web"]).verdict is Verdict.ASK
    reads = policy_of(mode=Mode.READS, trust=OnlyWeather())
    assert reads.judge(read, FILE, after=["web"]).verdict is Verdict.DENY


def test_a_resource_that_was_not_listed_asks_unless_the_server_is_trusted():
    read = resource_tool(READ_RESOURCE)
    policy = policy_of(trust=OnlyWeather())
    asked = policy.judge(read, FILE)
    assert asked.verdict is Verdict.ASK and "does not list" in asked.why
    assert policy.judge(read, FILE, listed=True).verdict is Verdict.ALLOW
    assert policy.judge(read, {**FILE, "server": "weather"}).verdict is Verdict.ALLOW
    refused = policy_of(mode=Mode.READS, trust=OnlyWeather()).judge(read, FILE)
    assert refused.verdict is Verdict.DENY and "“files” is not trusted" in refused.why


def test_a_lasting_answer_is_offered_only_if_the_same_call_would_not_ask_again():
    read = resource_tool(READ_RESOURCE)
    policy = policy_of(trust=OnlyWeather(), rules=Rules.parsed(ask=("notes/delete",)))
    assert policy.can_last(Tool("notes", "add"), {}) and policy.can_last(Tool("notes", "add"), {}, ["web"])
    assert policy.can_last(read, FILE)
    assert not policy.can_last(read, FILE, ["web"])
    assert policy.can_last(read, FILE, ["web"], listed=True)
    assert not policy.can_last(Tool("notes", "delete"), {})
    assert not (policy.session or policy.cleared)


def test_approving_a_resource_covers_only_its_server():
    read = resource_tool(READ_RESOURCE)
    policy = policy_of(trust=OnlyWeather())
    policy.remember(read, Answer.SESSION, arguments=FILE)
    assert policy.judge(read, FILE).verdict is Verdict.ALLOW
    assert policy.judge(read, {**FILE, "server": "mail"}).verdict is Verdict.ASK
