"""The certificates for verifying endpoints."""

import ssl

import httpx2
import pytest

from tui.core.web import certified, tls_context
from tui.model.endpoints.listing import context_for


@pytest.fixture(autouse=True)
def nothing_read_yet():
    certified.cache_clear()


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://api.example.org/v1", 1),
        ("https://localhost/v1", 1),
        ("http://example.org/v1", 1),  # there may be a proxy with TLS in front of it
        ("http://127.0.0.1:11434/v1", 0),
    ],
)
def test_peers_are_verified_and_certificates_read_wherever_tls_may_be_used(url, read):
    context = context_for(url)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert certified.cache_info().currsize == read == bool(context.get_ca_certs())


def test_certificates_are_read_once_for_endpoints_and_servers():
    ours = tls_context(httpx2.create_ssl_context, trust_env=True)
    assert context_for("https://api.example.org/v1") is context_for("https://api.example.com/v1") is ours


def test_certificates_from_the_environment_are_not_read_for_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing"))
    context_for("https://localhost/v1")
    with pytest.raises(OSError):
        context_for("https://api.example.org/v1")
