"""The clock jumps while agents work: states keep updating, and no time is in the future.

Only the daemon's clock jumps, which is harder than the real case, where all clocks move.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.multi_agent_scene import MultiAgentScene, open_multi_agent_scene

pytestmark = pytest.mark.live

CLOCK_PATCH = """
import time
real = time.time_ns
time.time_ns = lambda: real() + int(open({file!r}).read()) * 10**9
"""


@pytest.fixture
def clock(tmp_path) -> Path:
    """A file with the offset of the daemon's clock in seconds."""
    (tmp_path / "clock").write_text("0")
    (tmp_path / "sitecustomize.py").write_text(CLOCK_PATCH.format(file=str(tmp_path / "clock")))
    return tmp_path / "clock"


@pytest.fixture
def multi_scene(clock) -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene(PYTHONPATH=str(clock.parent), VISOR_AGENT_COMPLETED_FOR="6") as found:
        yield found


def test_states_keep_updating_when_the_clock_jumps(multi_scene, clock):
    pane = multi_scene.start(CLAUDE, multi_scene.prepare_folders("clock", CLAUDE))
    pane.wait_for_state("idle", seconds=60)
    for offset in (-7200, 10800):
        clock.write_text(str(offset))
        pane.send_prompt("MODEL slow 3")
        running = pane.wait_for_state("running", seconds=15)
        assert running["evidence_mode"] == "deterministic"
        assert 0 <= running["state_age"] < 30
        rest = pane.wait_for_state("idle", "completed", seconds=20)
        assert 0 <= rest["state_age"] < 30
        assert pane.wait_for_state("idle", seconds=30)["agent"] == "claude_code"
    assert len(pane.began_events) == 1
