from tests.unit.addons.tests.manual_tables import MANUAL, with_tables


def test_the_tables_of_the_manual_are_those_of_the_program():
    """After a change of tui/addons/tests/suite/keys.py: python -m tests.unit.addons.tests.manual_tables"""
    manual = MANUAL.read_text(encoding="utf-8")
    assert with_tables(manual) == manual
