"""The real `codex exec --json` without a session file: only the events that it prints in its pane are used."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.live.agents.agent_programs import CODEX
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, build_shell_command, open_multi_agent_scene
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live

RUN = ("exec", "--json", "--ephemeral", "--skip-git-repo-check")
FORGED = "01a1e3ce-a7c5-79e1-ab79-000000000000"
LINES = f"""\
{{"type":"thread.started","thread_id":"{FORGED}"}}
{{"type":"turn.started"}}
{{"type":"turn.completed","usage":{{"input_tokens":7,"output_tokens":7}}}}
"""


@pytest.fixture(scope="module")
def multi_scene() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


def build_exec_command(multi_scene: MultiAgentScene, name: str, *words: str, wrap: str = "{}") -> str:
    """Return the command line that a user types."""
    return build_shell_command(CODEX, multi_scene.prepare_folders(name, CODEX), *RUN, *words, wrap=wrap)


def start_in_pane(multi_scene: MultiAgentScene, line: str) -> ShellPane:
    pane = multi_scene.open_pane()
    pane.scene.wait_until_captured(pane.mux_id)
    pane.type(line)
    return pane


def list_sessions(pane: ShellPane) -> list[dict]:
    return call_robot(pane.scene.visor, "agents", "sessions", "--pane", str(pane.id))["items"]


def wait_for_ended_sessions(pane: ShellPane) -> list[dict]:
    return wait_until(lambda: [item for item in list_sessions(pane) if item["ended_at"]], timeout_s=40)


def write_forged_lines(multi_scene: MultiAgentScene) -> str:
    path = multi_scene.folder / "forged.jsonl"
    path.write_text(LINES)
    return str(path)


def test_a_codex_exec_run_is_tracked_by_its_printed_events(multi_scene):
    pane = start_in_pane(multi_scene, build_exec_command(multi_scene, "slow", "MODEL slow 4"))
    row = pane.wait_for_state("running")
    assert (row["agent"], row["source"], row["evidence_mode"]) == ("codex", "printed", "deterministic")
    signal = next(item for item in pane.explanation["witnesses"] if item["role"] == "decides")
    assert (signal["source"], signal["evidence"]["session"]) == ("printed", list_sessions(pane)[0]["external_id"])
    listed = call_robot(multi_scene.scene.visor, "list-sources", "--agent", "codex")["items"]
    assert {item["status"] for item in listed if item["source"] == "printed"} == {"well"}
    (session,) = wait_for_ended_sessions(pane)
    assert (session["end_reason"], session["tokens"]) == ("completed", 1525)
    assert f'"thread_id":"{session["external_id"]}"' in pane.screen


def test_the_last_event_counts_if_it_is_recorded_after_the_exit(multi_scene):
    pane = start_in_pane(multi_scene, f"{build_exec_command(multi_scene, 'late', 'MODEL stall 3')}; echo do''ne")
    pane.wait_for_state("running")
    recorder = multi_scene.scene.visor.recorder_pid
    os.kill(recorder, signal.SIGSTOP)
    try:
        pane.wait_for_text("done")
    finally:
        os.kill(recorder, signal.SIGCONT)
    (session,) = wait_for_ended_sessions(pane)
    assert (session["end_reason"], session["tokens"]) == ("completed", 1525)


def test_a_failing_codex_exec_run_in_a_pipe_ends_with_an_error(multi_scene):
    retry_args = ("-c", "model_providers.scripted.request_max_retries=4")
    (session,) = wait_for_ended_sessions(
        start_in_pane(
            multi_scene, build_exec_command(multi_scene, "fails", *retry_args, "MODEL fail 500", wrap="{} | tee out")
        )
    )
    assert session["end_reason"] == "error"
    assert session["external_id"]


def test_event_lines_printed_before_and_after_a_run_are_ignored(multi_scene):
    forged_file = write_forged_lines(multi_scene)
    # The lines count as earlier than the run if they are recorded before it starts.
    pane = start_in_pane(
        multi_scene,
        f"cat {forged_file}; read -r; {build_exec_command(multi_scene, 'around', 'MODEL stall 3')}; cat {forged_file}",
    )
    multi_scene.scene.visor.call_robot("wait-for", str(pane.id), FORGED, "--timeout-secs", "20")
    pane.press("Enter")
    assert pane.wait_for_state("running")["source"] == "printed"
    (session,) = wait_for_ended_sessions(pane)
    assert session["external_id"] != FORGED
    assert session["tokens"] == 1525


def test_event_lines_printed_during_a_background_run_are_ignored(multi_scene):
    pane = start_in_pane(
        multi_scene, build_exec_command(multi_scene, "behind", "MODEL stall 15", wrap="{} > printed 2>&1 &")
    )
    wait_until(
        lambda: pane.press("Enter") or pane.pane_row["state"] == "unknown"
    )  # a pane without output is sampled rarely
    pane.type(f"cat {write_forged_lines(multi_scene)}")
    pane.wait_for_text(FORGED)
    states: list[str | None] = []
    wait_until(lambda: states.append(pane.pane_row["state"]) or None in states, timeout_s=60)
    assert set(states) == {"unknown", None}
    (session,) = wait_for_ended_sessions(pane)
    assert (session["external_id"], session["tokens"]) == ("", None)


def test_event_lines_without_a_run_are_ignored(multi_scene):
    pane = start_in_pane(multi_scene, f"cat {write_forged_lines(multi_scene)}; sleep 2; echo do''ne")
    pane.wait_for_text("done")
    assert (pane.pane_row["agent"], list_sessions(pane)) == (None, [])
