"""Terminal driver, pastes, garbage collection and heap: every trick in one place."""
