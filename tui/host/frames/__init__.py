"""Between a transport and the session: tap, reader, gate and inbox."""
