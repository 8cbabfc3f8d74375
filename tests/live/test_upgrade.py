"""The data and configuration folders of an older version work after an upgrade.

`tests/recordings/upgrade/0.1.0.tar.gz` was written by 0.1.0 before its modules were renamed: a demo with two agents, an
approval request, a rule pack and a workflow of the user, whose run was sleeping when the daemon was killed.
"""

import subprocess
from pathlib import Path

import pytest

from termvisor.recorder import process
from termvisor.testing.private_tmux import make_short_folder
from termvisor.testing.visor_instance import VisorInstance
from tests.live.conftest import run_compiled_instance
from tests.live.polling import wait_until

FOLDERS = Path(__file__).parents[1] / "recordings" / "upgrade" / "0.1.0.tar.gz"


@pytest.fixture(scope="module")
def upgraded():
    with make_short_folder() as folder:
        # Not tarfile: extraction filters are missing in Python 3.11.2 and demanded by later versions.
        subprocess.run(["tar", "-xzf", FOLDERS, "-C", folder], check=True)
        for name in ("c", "d"):
            Path(folder, name).chmod(0o700)
        with run_compiled_instance(folder, f"{folder}/no-tmux") as visor:
            visor.start()
            yield visor


def test_output_stored_by_the_older_version_is_found(upgraded: VisorInstance) -> None:
    found = upgraded.call_robot("search", '"albatross one"')["items"]
    assert "albatross one" in {hit["text"] for hit in found}


def test_agents_states_and_sessions_of_the_older_version_are_read(upgraded: VisorInstance) -> None:
    sessions = upgraded.call_robot("agents", "sessions")["items"]
    assert sorted(session["agent"] for session in sessions) == ["claude_code", "codex"]
    changed = [
        event["data"]["after"]
        for event in upgraded.call_robot("events", "--limit", "200")["items"]
        if event["kind"] == "state_changed"
    ]
    assert {"waiting_approval", "running"} <= set(changed)


def test_the_audit_log_of_the_older_version_verifies(upgraded: VisorInstance) -> None:
    assert upgraded.run("audit", "verify")[0] == 0


def test_settings_rules_and_workflows_of_the_user_are_loaded(upgraded: VisorInstance) -> None:
    assert "VISOR_AGENT_IDLE_AFTER" in upgraded.run_checked("config", "show")
    assert "deploy.rollout.stuck" in {rule["id"] for rule in upgraded.call_robot("rules", "list")["items"]}
    assert "on_stuck" in {workflow["name"] for workflow in upgraded.call_robot("workflow", "list")["items"]}


def test_a_sleeping_workflow_run_is_resumed_after_the_upgrade(upgraded: VisorInstance) -> None:
    def is_over() -> bool:
        runs = upgraded.call_robot("workflow", "status", "--all")["items"]
        (status,) = (run["status"] for run in runs if run["workflow"] == "on_stuck")
        return status not in ("running", "waiting")

    assert wait_until(is_over)


def test_a_recorder_of_the_older_version_can_replace_itself() -> None:
    """It starts `from termvisor.recorder.process import main` of the installed package."""
    assert callable(process.main)
