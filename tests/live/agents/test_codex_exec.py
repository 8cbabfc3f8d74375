"""The real `codex exec --json`, without a file that tells of it: what it prints in its pane does, and nothing else."""

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
def one() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        yield found


def run(one: MultiAgentScene, name: str, *words: str, wrap: str = "{}") -> str:
    """What a person types."""
    return build_shell_command(CODEX, one.prepare_folders(name, CODEX), *RUN, *words, wrap=wrap)


def start(one: MultiAgentScene, line: str) -> ShellPane:
    seat = one.open_pane()
    seat.scene.wait_until_captured(seat.mux_id)
    seat.type(line)
    return seat


def sessions(seat: ShellPane) -> list[dict]:
    return call_robot(seat.scene.visor, "agents", "sessions", "--pane", str(seat.id))["items"]


def ended(seat: ShellPane) -> list[dict]:
    return wait_until(lambda: [item for item in sessions(seat) if item["ended_at"]], timeout_s=40)


def forged(one: MultiAgentScene) -> str:
    path = one.folder / "forged.jsonl"
    path.write_text(LINES)
    return str(path)


def test_a_run_is_known_by_what_it_prints(one):
    seat = start(one, run(one, "slow", "MODEL slow 4"))
    row = seat.wait_for_state("running")
    assert (row["agent"], row["source"], row["evidence_mode"]) == ("codex", "printed", "deterministic")
    witness = next(one for one in seat.explanation["witnesses"] if one["role"] == "decides")
    assert (witness["source"], witness["evidence"]["session"]) == ("printed", sessions(seat)[0]["external_id"])
    listed = call_robot(one.scene.visor, "list-sources", "--agent", "codex")["items"]
    assert {item["status"] for item in listed if item["source"] == "printed"} == {"well"}
    (session,) = ended(seat)
    assert (session["end_reason"], session["tokens"]) == ("completed", 1525)
    assert f'"thread_id":"{session["external_id"]}"' in seat.screen


def test_a_run_in_a_pipe_that_fails(one):
    again = ("-c", "model_providers.scripted.request_max_retries=4")
    (session,) = ended(start(one, run(one, "fails", *again, "MODEL fail 500", wrap="{} | tee out")))
    assert session["end_reason"] == "error"
    assert session["external_id"]


def test_the_same_lines_shown_just_before_and_after_it_say_nothing(one):
    place = forged(one)
    seat = start(one, f"cat {place}; {run(one, 'around', 'MODEL stall 3')}; cat {place}")
    assert seat.wait_for_state("running")["source"] == "printed"
    (session,) = ended(seat)
    assert session["external_id"] != FORGED
    assert session["tokens"] == 1525


def test_nor_while_one_goes_on_behind_another_program(one):
    seat = start(one, run(one, "behind", "MODEL stall 15", wrap="{} > printed 2>&1 &"))
    wait_until(
        lambda: seat.press("Enter") or seat.pane_row["state"] == "unknown"
    )  # a pane that prints nothing is looked at seldom
    seat.type(f"cat {forged(one)}")
    seat.wait_for_text(FORGED)
    states: list[str | None] = []
    wait_until(lambda: states.append(seat.pane_row["state"]) or None in states, timeout_s=60)
    assert set(states) == {"unknown", None}
    (session,) = ended(seat)
    assert (session["external_id"], session["tokens"]) == ("", None)


def test_nor_where_there_is_no_run_at_all(one):
    seat = start(one, f"cat {forged(one)}; sleep 2; echo do''ne")
    seat.wait_for_text("done")
    assert (seat.pane_row["agent"], sessions(seat)) == (None, [])
