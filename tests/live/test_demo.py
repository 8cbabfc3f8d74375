"""The demo: two agents are detected, and one of them waits for an approval."""

from collections.abc import Iterator

import pytest

from termvisor.testing.private_tmux import make_short_folder
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.pattern_cache import install_pattern_cache


@pytest.fixture
def visor() -> Iterator[VisorInstance]:
    with make_short_folder() as folder, run_instance(folder, f"{folder}/none") as one:
        install_pattern_cache(one.paths)
        yield one


def list_states(visor: VisorInstance) -> dict[str, str]:
    rows = visor.call_robot("state")["items"]
    return {row["agent"]: row["state"] for row in rows if row["agent"]}


@pytest.mark.live
def test_approving_in_the_inbox_lets_the_demo_agent_continue(visor: VisorInstance) -> None:
    visor.run_checked("demo")
    visor.run_checked("up", "--once")
    wait_until(lambda: list_states(visor) == {"claude_code": "waiting_approval", "codex": "running"}, timeout_s=40)
    request = wait_until(lambda: call_robot(visor, "inbox")["items"])[0]
    assert "python -m unittest importer" in request["what"]
    visor.run_at_terminal(f"approve {request['id']}", " approved")
    wait_until(lambda: call_robot(visor, "inbox", "--all")["items"][-1]["state"] == "used")
    wait_until(lambda: list_states(visor)["claude_code"] in ("running", "completed"))
    assert "All checks passed" in wait_until(lambda: call_robot(visor, "search", '"checks passed"')["items"])[0]["text"]
