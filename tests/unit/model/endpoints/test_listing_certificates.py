"""The certificates for verifying endpoints."""

import ssl

import pytest

from tui.model.endpoints.listing import certified, tls_context


@pytest.fixture(autouse=True)
def nothing_read_yet():
    certified.cache_clear()


def test_a_plain_http_endpoint_on_this_machine_needs_no_certificates():
    context = tls_context("http://127.0.0.1:11434/v1")
    assert context.get_ca_certs() == []
    assert not certified.cache_info().currsize


def test_a_context_without_certificates_trusts_nobody():
    context = tls_context("http://localhost/v1")
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


@pytest.mark.parametrize(
    "url", ["https://api.example.org/v1", "https://localhost/v1", "http://example.org/v1"]
)
def test_peers_are_verified_wherever_tls_may_be_used(url):
    """Also for a proxy in front of a plain HTTP endpoint."""
    context = tls_context(url)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert certified.cache_info().currsize == 1


def test_certificates_are_read_once():
    assert tls_context("https://api.example.org/v1") is tls_context("https://api.example.com/v1")


def test_certificates_from_the_environment_are_not_read_for_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing"))
    tls_context("https://localhost/v1")
    with pytest.raises(OSError):
        tls_context("https://api.example.org/v1")
