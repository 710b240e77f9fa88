"""Server cards (SEP-2127): what a domain says about its servers, before anyone connects to them."""
