"""Enterprise-managed authorization (SEP-990): one sign-in at an identity provider for many servers."""
