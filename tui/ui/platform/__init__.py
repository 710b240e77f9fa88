"""Terminal driver, pastes, garbage collection and heap: all workarounds and private names of Textual."""
