"""Between a transport and the bridge to the SDK: tap, reader, gate and inbox."""
