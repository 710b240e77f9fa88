"""Between a transport and the SDK's session: tap, intake, gate and inbox."""
