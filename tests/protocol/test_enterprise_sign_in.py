"""A whole host with servers that share an identity provider."""

from pathlib import Path

from tests.configurations import config_file, table
from tests.conftest import until
from tests.hosts import host_of
from tests.protocol.command import mcptui
from tests.protocol.enterprise import AT_IDP, AT_SERVER, EnterpriseServer, IdentityProvider
from tests.unit.addons.enterprise_sign_in.organization import settings
from tests.unit.host.sign_in.people import Person, browse
from tui.core.jsonrpc.extensions import ENTERPRISE
from tui.core.servers import OAuthSpec, ServerSpec, ServerState, StopReason, Transport
from tui.core.traffic import Captured
from tui.host.host import Host
from tui.host.server.host_context import Answerers, Remembered
from tui.host.sign_in.token_store import TokenStore

ACCOUNT = "identity_providers/acme"


def host_for(
    folder: Path, idp: IdentityProvider, *servers: EnterpriseServer, seen: list[Captured] | None = None
) -> Host:
    specs = [
        ServerSpec(f"s{n}", transport=Transport.HTTP, url=one.url, oauth=OAuthSpec(**settings(idp, one)))
        for n, one in enumerate(servers)
    ]
    host = host_of(
        *specs,
        sink=(seen if seen is not None else []).append,
        answerers=Answerers(questioner=Person()),
        remembered=Remembered(tokens=TokenStore(folder, use_keychain=False)),
    )
    assert host.sign_ins is not None
    host.sign_ins.open_browser = browse
    return host


async def test_two_servers_run_after_one_sign_in(tmp_path: Path) -> None:
    async with (
        IdentityProvider() as idp,
        EnterpriseServer(trusts=idp) as a,
        EnterpriseServer(trusts=idp) as b,
    ):
        host = host_for(tmp_path, idp, a, b)
        try:
            for name in ("s0", "s1"):
                await host.start(name)
                assert host.status(name).state is ServerState.RUNNING
                assert host.status(name).sign_in.startswith("signed in through acme")
            assert len(idp.asked("/authorize")) == 1
        finally:
            await host.shutdown()


async def test_servers_that_wait_for_the_provider_start_once_the_user_has_signed_in(tmp_path: Path) -> None:
    async with (
        IdentityProvider() as idp,
        EnterpriseServer(trusts=idp) as a,
        EnterpriseServer(trusts=idp) as b,
    ):
        host = host_for(tmp_path, idp, a, b)
        try:
            await host.start_all(quiet=True)
            assert {one.reason for one in host.statuses()} == {StopReason.NEEDS_SIGN_IN}
            await host.start("s1")
            await until(lambda: host.status("s0").state is ServerState.RUNNING, 10.0, "the other one runs")
            assert len(idp.asked("/authorize")) == 1
        finally:
            await host.shutdown()


async def test_signing_out_of_a_server_leaves_the_provider(tmp_path: Path) -> None:
    async with IdentityProvider() as idp, EnterpriseServer(trusts=idp, revokes=True) as server:
        host = host_for(tmp_path, idp, server)
        try:
            await host.start("s0")
            found = await host.sign_out("s0")
            assert (found.count, found.problem) == (1, "") and server.valid == {}
            await host.start("s0")
            assert host.status("s0").state is ServerState.RUNNING and len(idp.asked("/authorize")) == 1
        finally:
            await host.shutdown()


async def test_signing_out_of_the_provider_signs_out_its_servers_and_revokes(tmp_path: Path) -> None:
    async with IdentityProvider(revokes=True) as idp, EnterpriseServer(trusts=idp, revokes=True) as server:
        host = host_for(tmp_path, idp, server)
        try:
            await host.start("s0")
            found = await host.sign_out(ACCOUNT)
            assert (found.count, found.problem) == (2, ""), found
            assert server.valid == {} and host.status("s0").state is ServerState.STOPPED
            revoked = [one.form["token_type_hint"] for one in idp.asked("/revoke")]
            assert revoked == ["refresh_token"]
            assert await TokenStore(tmp_path, use_keychain=False).listed() == []
        finally:
            await host.shutdown()


async def test_signing_out_names_the_provider_only_while_signed_in_there(tmp_path: Path) -> None:
    async with IdentityProvider() as idp, EnterpriseServer(trusts=idp) as server:
        host = host_for(tmp_path, idp, server)
        try:
            assert (await host.sign_out("s0")).still_at == ""
            await host.start("s0")
            assert (await host.sign_out("s0")).still_at == "acme"
            await host.start("s0")
            assert (await host.sign_out(ACCOUNT)).still_at == ""
        finally:
            await host.shutdown()


async def test_signing_out_says_how_many_tokens_still_work(tmp_path: Path) -> None:
    async with (
        IdentityProvider(revokes=True, refresh=False) as idp,  # nothing of an ID token can be revoked
        EnterpriseServer(trusts=idp, revokes=True) as a,
        EnterpriseServer(trusts=idp) as b,
    ):
        host = host_for(tmp_path, idp, a, b)
        try:
            for name in ("s0", "s1"):
                await host.start(name)
            found = await host.sign_out(ACCOUNT)
        finally:
            await host.shutdown()
    assert (found.count, found.revocable, found.lasting, found.problem) == (3, 1, 1, "")
    assert found.told.startswith(" Revoked: the tokens of 1. The others work until they expire")


async def test_a_provider_without_a_sign_in_can_be_signed_out(tmp_path: Path) -> None:
    async with IdentityProvider() as idp, EnterpriseServer(trusts=idp) as server:
        host = host_for(tmp_path, idp, server)
        try:
            assert (await host.sign_out(ACCOUNT)).count == 0
        finally:
            await host.shutdown()


async def test_the_extension_is_declared_to_the_server(tmp_path: Path) -> None:
    async with IdentityProvider() as idp, EnterpriseServer(trusts=idp) as server:
        host = host_for(tmp_path, idp, server)
        try:
            await host.start("s0")
        finally:
            await host.shutdown()
        first = next(one for one in server.asked("/mcp") if one.method == "POST" and one.body)
        assert ENTERPRISE in first.body.decode()


async def test_no_token_is_in_what_the_host_reports(tmp_path: Path) -> None:
    seen: list[Captured] = []
    async with IdentityProvider() as idp, EnterpriseServer(trusts=idp) as server:
        host = host_for(tmp_path, idp, server, seen=seen)
        try:
            await host.start("s0")
        finally:
            await host.shutdown()
        events = str([one.detail for one in seen if one.detail.get("event") == "sign-in"])
        assert "token-exchange" in events
        assert not any(one in events for one in (*idp.issued, *server.issued, AT_IDP[1], AT_SERVER[1]))


async def test_login_to_a_provider_names_one_of_its_servers(tmp_path: Path) -> None:
    provider = {"issuer": "https://idp.example", "client_id": "mcptui"}
    oauth = {"identity_provider": "acme", "issuer": "https://auth.example", "client_id": "c"}
    path = config_file(
        tmp_path,
        table("identity_providers.acme", **provider),
        table("servers.wiki", url="https://wiki.example/mcp", oauth=oauth),
    )
    done = await mcptui("login", ACCOUNT, "--config", path)
    assert done.code == 2 and "Sign in to one of its servers: mcptui login wiki" in done.err
