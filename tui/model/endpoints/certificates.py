"""The certificates for verifying endpoints: read once, and only if TLS is used."""

import ssl
import threading

from tui.model.endpoints.providers import is_local

_contexts: dict[bool, ssl.SSLContext] = {}
_loading = threading.Lock()


def tls_context(base_url: str) -> ssl.SSLContext:
    """Return the TLS context for an endpoint. Imports httpx2 and may read the certificates: use a thread.

    SSL_CERT_FILE and SSL_CERT_DIR apply, like proxies, except to an endpoint on the local network. Reading
    the certificates takes 50 ms and 2 MB (measured), so an endpoint with plain HTTP gets a context without
    certificates.
    """
    import httpx2

    private = is_local(base_url)
    if private and base_url.lower().startswith("http:"):  # no proxy, so no TLS to a proxy either
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with _loading:
        if private not in _contexts:
            _contexts[private] = httpx2.create_ssl_context(trust_env=not private)
        return _contexts[private]
