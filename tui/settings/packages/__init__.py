"""What servers are that others have packed, as configuration: entries of a registry, bundles."""
