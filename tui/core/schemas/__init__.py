"""Tool names and input schemas, adapted to what models accept."""
