"""HTTPS: certificates from the environment, and the error for untrusted ones."""

import re
import ssl
import subprocess
from dataclasses import replace

import pytest

from tests.hosts import far, running
from tests.http_server import http_server
from tui.core.servers import ServerState
from tui.core.web import certified


@pytest.fixture
def certificate(tmp_path, monkeypatch):
    """Create a self-signed certificate for 127.0.0.1 and clear the cached ones."""
    certified.cache_clear()
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    curve = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]  # an RSA key takes 50 times as long
    how = ["openssl", "req", "-x509", "-newkey", *curve, "-nodes", "-days", "2"]
    try:
        subprocess.run([*how, "-keyout", key, "-out", cert, *subject], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    yield cert, context
    certified.cache_clear()


async def started(server):
    spec = far(server)
    async with running(replace(spec, url=spec.url.replace("http:", "https:"))) as host:
        return host.status("far")


async def test_a_certificate_from_the_environment_is_trusted(certificate, monkeypatch):
    cert, context = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    async with http_server(tls=context) as server:
        status = await started(server)
    assert status.state is ServerState.RUNNING
    assert status.reach.status == 200
    assert certified.cache_info().currsize == 1


async def test_an_untrusted_certificate_is_rejected_with_the_reason(certificate, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    async with http_server(tls=certificate[1]) as server:
        status = await started(server)
    assert re.match(r"TLS connection to https://127\.0\.0\.1:\d+ failed: ", status.detail)
    assert "self" in status.detail and "signed certificate" in status.detail
    assert "Trust additional certificates with SSL_CERT_FILE" in status.next_step
    assert server.asked == []


async def test_unreadable_certificates_are_reported_without_the_words_of_the_library(monkeypatch):
    certified.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", "/dev/null")
    async with http_server() as server:
        status = await started(server)
    assert "cannot read the certificates: " in status.detail and "_ssl.c" not in status.detail
    assert "Correct SSL_CERT_FILE" in status.next_step
