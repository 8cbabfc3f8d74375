"""The machine's clock is set while agents work: nothing freezes, nothing is of the future.

The daemon alone has the other clock, which is harder than what happens to a machine: there all
clocks move.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.multi_agent_scene import MultiAgentScene, open_multi_agent_scene

pytestmark = pytest.mark.live

SET = """
import time
real = time.time_ns
time.time_ns = lambda: real() + int(open({file!r}).read()) * 10**9
"""


@pytest.fixture
def clock(tmp_path) -> Path:
    """Seconds by which the daemon's clock is wrong."""
    (tmp_path / "clock").write_text("0")
    (tmp_path / "sitecustomize.py").write_text(SET.format(file=str(tmp_path / "clock")))
    return tmp_path / "clock"


@pytest.fixture
def one(clock) -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene(PYTHONPATH=str(clock.parent), VISOR_AGENT_COMPLETED_FOR="6") as found:
        yield found


def test_states_go_on_when_the_clock_is_set(one, clock):
    seat = one.start(CLAUDE, one.prepare_folders("clock", CLAUDE))
    seat.wait_for_state("idle", seconds=60)
    for wrong in (-7200, 10800):
        clock.write_text(str(wrong))
        seat.send_prompt("MODEL slow 3")
        running = seat.wait_for_state("running", seconds=15)
        assert running["evidence_mode"] == "deterministic"
        assert 0 <= running["state_age"] < 30
        rest = seat.wait_for_state("idle", "completed", seconds=20)
        assert 0 <= rest["state_age"] < 30
        assert seat.wait_for_state("idle", seconds=30)["agent"] == "claude_code"
    assert len(seat.began_events) == 1
