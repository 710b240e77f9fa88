"""Identity providers in the configuration, and the servers that name one."""

from pathlib import Path

import pytest

from tui.core.jsonrpc.extensions import ENTERPRISE
from tui.core.servers import ServerSpec
from tui.settings.load import Loaded, load
from tui.settings.server_warnings import server_warnings
from tui.settings.specs import server_specs

PROVIDER = """
[identity_providers.acme]
issuer = "https://idp.example"
client_id = "mcptui"
client_secret = "${IDP_SECRET}"
"""
OAUTH = 'identity_provider = "acme", issuer = "https://auth.example", client_id = "c"'


def loaded(folder: Path, text: str) -> Loaded:
    path = folder / "c.toml"
    path.write_text(text)
    path.chmod(0o600)
    return load(path, {"IDP_SECRET": "very-secret-value"})


def server(oauth: str) -> str:
    return f'[servers.wiki]\nurl = "https://wiki.example/mcp"\noauth = {{ {oauth} }}\n'


def only(found: Loaded) -> ServerSpec:
    assert not found.problems, found.problems
    (spec,) = server_specs(found)
    return spec


def test_a_server_gets_the_provider_that_it_names(tmp_path: Path):
    spec = only(loaded(tmp_path, PROVIDER + server(OAUTH)))
    provider = spec.oauth.identity_provider
    assert provider is not None and (provider.name, provider.issuer) == ("acme", "https://idp.example")
    assert provider.client_secret == "very-secret-value" and provider.account == "identity_providers/acme"
    assert "oauth.identity_provider.client_secret" in spec.references


def test_the_extension_is_declared_only_to_servers_that_name_a_provider(tmp_path: Path):
    spec = only(loaded(tmp_path, PROVIDER + server(OAUTH)))
    assert ENTERPRISE in spec.our_side("2026-07-28").declared
    assert ENTERPRISE in spec.our_side("2025-11-25").declared
    plain = ServerSpec("plain", url="https://wiki.example/mcp")
    assert ENTERPRISE not in plain.our_side("2026-07-28").declared


def test_the_secret_of_a_provider_is_known_as_a_secret(tmp_path: Path):
    assert "very-secret-value" in loaded(tmp_path, PROVIDER).secrets.values()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (server(OAUTH), r"identity_providers.acme] not found"),
        (PROVIDER + server('identity_provider = "acmee", issuer = "https://a.example"'), "acme"),
        (PROVIDER + server('identity_provider = "acme", client_id = "c"'), "needs an `issuer`"),
        (
            PROVIDER + server(f'{OAUTH}, grant = "client_credentials", client_secret = "x"'),
            "which the grant client_credentials cannot use",
        ),
        (PROVIDER + server(OAUTH.replace("https", "http")), "must be an https URL"),
        (PROVIDER.replace("https", "http") + server(OAUTH), "must be an https URL"),
        (PROVIDER.replace("issuer", "isuer"), "isuer"),
        (PROVIDER.replace('client_id = "mcptui"', ""), "client_id"),
    ],
)
def test_what_cannot_work_is_a_problem_of_its_setting(tmp_path: Path, text: str, why: str):
    found = loaded(tmp_path, text)
    assert why in "\n".join(map(str, found.errors)), found.problems


def test_a_server_with_an_unknown_provider_is_not_signed_in_to_another_way(tmp_path: Path):
    assert server_specs(loaded(tmp_path, server(OAUTH))) == ()
    (spec,) = server_specs(loaded(tmp_path, server(OAUTH)), disabled=True)
    assert "invalid configuration" in spec.problem


def test_an_issuer_on_this_machine_needs_no_encryption(tmp_path: Path):
    text = (PROVIDER + server(OAUTH)).replace("https://idp.example", "http://127.0.0.1:1")
    only(loaded(tmp_path, text.replace("https://auth.example", "http://localhost:2")))


@pytest.mark.parametrize(
    ("client", "said"),
    [
        (
            "",
            ["needs a `client_id` with `identity_provider`, or a `client_metadata_url`"],
        ),
        (', client_id = "c"', []),
        (', client_metadata_url = "https://example.com/client.json"', []),
    ],
)
def test_a_server_with_a_provider_and_no_client_is_reported(tmp_path: Path, client: str, said: list[str]):
    oauth = f'identity_provider = "acme", issuer = "https://auth.example"{client}'
    found = server_warnings(loaded(tmp_path, PROVIDER + server(oauth)))
    assert [one.message for one in found if one.path == "servers.wiki.oauth"] == said


def test_the_document_of_all_servers_is_a_client(tmp_path: Path):
    text = '[oauth]\nclient_metadata_url = "https://example.com/client.json"\n' + PROVIDER
    oauth = 'identity_provider = "acme", issuer = "https://auth.example"'
    assert server_warnings(loaded(tmp_path, text + server(oauth))) == []
