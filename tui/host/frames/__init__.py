"""Between a transport and the SDK's session: tap, reader, gate and inbox."""
