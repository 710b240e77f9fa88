"""Everything that is exported has its name in one place, and on the page about it."""

from pathlib import Path

from tui.addons.telemetry.conventions import METRICS, SCHEMA_URL, VERSION

PAGE = (Path(__file__).parents[4] / "docs" / "telemetry.md").read_text(encoding="utf-8")


def test_the_page_names_the_release_the_metrics_and_their_attributes():
    assert f"{VERSION}" in PAGE and SCHEMA_URL in PAGE
    named = [*METRICS, *(one for metric in METRICS.values() for one in metric.dimensions)]
    assert [name for name in named if f"`{name}`" not in PAGE] == []


def test_each_metric_has_boundaries_that_grow():
    assert all(list(one.boundaries) == sorted(set(one.boundaries)) for one in METRICS.values())
