"""Everything that is exported has its name in one place, and on the page about it."""

from pathlib import Path

from tui.addons.telemetry.conventions import DIMENSIONS, METRICS, SCHEMA_URL, VERSION

PAGE = (Path(__file__).parents[4] / "docs" / "telemetry.md").read_text(encoding="utf-8")


def test_the_page_names_the_release_the_metrics_and_their_attributes():
    assert f"{VERSION}" in PAGE and SCHEMA_URL in PAGE
    named = [*METRICS, *(one for names in DIMENSIONS.values() for one in names)]
    assert [name for name in named if f"`{name}`" not in PAGE] == []


def test_each_metric_has_boundaries_that_grow():
    assert METRICS.keys() == DIMENSIONS.keys()
    assert all(list(bounds) == sorted(set(bounds)) for _, bounds in METRICS.values())
