"""The permissions of a server, in words."""

from tui.core.servers import SamplingRule, ServerSpec, ServerStatus
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.workbench.overview import permission_facts


def facts(spec: ServerSpec) -> dict[str, str]:
    found = permission_facts(ServerStatus(spec.name, spec), KeyOverrides().first_of)
    return {name: value for name, value, _ in found}


def test_without_a_setting_there_are_no_roots_and_no_sampling() -> None:
    assert facts(ServerSpec("a")) == {
        "trust": "not trusted: each of its calls needs approval   T changes it",
        "roots": "none   deprecated   t changes them",
        "sampling": "never   deprecated   e changes it",
    }


def test_a_trusted_server_is_labelled_as_trusted() -> None:
    assert facts(ServerSpec("a", trusted=True))["trust"].startswith("its read-only marks and its results")


def test_roots_and_the_budget_are_named() -> None:
    spec = ServerSpec("a", roots=("/srv/a", "/srv/b"), sampling=SamplingRule.ASK, sampling_tokens=2000)

    assert facts(spec)["roots"].startswith("/srv/a, /srv/b")
    assert facts(spec)["sampling"].startswith("ask   2,000 tokens, 10 requests a minute")


def test_secrets_that_are_sent_to_the_model_are_noted():
    assert "secrets" not in facts(ServerSpec("s"))
    assert facts(ServerSpec("s", send_as_is=True))["secrets"].startswith("sent to the model as is")
