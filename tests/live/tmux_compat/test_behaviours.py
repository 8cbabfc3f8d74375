"""Watching changes nothing of what users and their tools do: every row of the table has the same outcome."""

import pytest

from tests.live.tmux_compat.behaviour_runner import Comparison, compare_behaviours
from tests.live.tmux_compat.server_scripts import ServerScript, read_scripts

pytestmark = pytest.mark.live
BEHAVIOURS = read_scripts("behaviours.txt")


@pytest.fixture(scope="module")
def comparisons(request: pytest.FixtureRequest) -> dict[str, Comparison]:
    """Run the rows that were selected, all at once."""
    names = {item.callspec.params["row"].name for item in request.session.items if item.module is request.module}
    return compare_behaviours([row for row in BEHAVIOURS if row.name in names])


@pytest.mark.parametrize("row", BEHAVIOURS, ids=lambda row: row.name)
def test_watching_changes_no_outcome(comparisons: dict[str, Comparison], row: ServerScript) -> None:
    found = comparisons[row.name]
    assert found.watched == found.alone
    assert found.timed_out == []
