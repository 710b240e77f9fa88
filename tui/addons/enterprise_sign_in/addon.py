"""What this add-on brings: sign-in through the identity provider of an organization.

Loads the standard library only.
"""

BRINGS = {
    "service": {"enterprise sign-in": "tui.addons.enterprise_sign_in.access_tokens:AccessTokens"},
    "setting": {"identity_providers": None},
}
