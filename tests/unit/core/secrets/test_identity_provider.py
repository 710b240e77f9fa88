"""The identity provider of an organization, as configured."""

from tui.core.secrets.identity_provider import IdentityProvider
from tui.settings.names import name_fault


def test_no_server_can_have_the_name_that_its_sign_in_is_stored_under():
    assert name_fault(IdentityProvider("acme", "https://idp.example", "c").account)


def test_its_secret_is_not_in_its_text():
    assert "s3cret" not in repr(IdentityProvider("acme", "https://idp.example", "c", "s3cret"))
