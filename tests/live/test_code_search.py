"""The code that an agent is stuck at, found by the real ast-grep: through the gate, and set up by nobody's project."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from termvisor.actions.executor import run_program
from termvisor.daemon.workflows.code_search import search_code
from tests.live.fake_agent_host import run_fake_agent_host
from tests.live.scenario_runner import ScenarioRunner
from tests.live.workflow_scenarios import ScenarioCue, WorkflowScenario

SETTINGS = {"workflow_modes": "*=on", "workflow_unstick_after": "1"}
STUCK = WorkflowScenario(
    workflow="unstick", cue="work", next_cues=(ScenarioCue("wait_for", 1, "finish"),), failure_state="running"
)
CALLER = "from rules import parse_rule\n\n\ndef main():\n    return parse_rule('x')\n"
RULES = "def parse_rule(text):\n    return text  # parse_rule in a comment is no place\n"
pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def ast_grep(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(sys.executable).parent
    assert shutil.which("ast-grep", path=str(folder)), "ast-grep is missing. Install it with: .ci/setup live"
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def project(folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "main.py").write_text(CALLER)
    (folder / "rules.py").write_text(RULES)
    return str(folder)


async def test_definitions_come_first_and_places_are_below_the_folder(tmp_path):
    told = await search_code(["parse_rule"], project(tmp_path / "a folder"), run_program)
    assert told.places == (
        "rules.py:1: def parse_rule(text):",
        "main.py:1: from rules import parse_rule",
        "main.py:5: return parse_rule('x')",
    )
    assert told.trouble == ""


async def test_nothing_found_is_no_trouble(tmp_path):
    told = await search_code(["no_such_name"], project(tmp_path), run_program)
    assert (told.places, told.trouble) == ((), "")


async def test_the_settings_of_a_project_are_not_read(tmp_path):
    """One that names a library to load would be run by whoever looks into the folder."""
    (tmp_path / "sgconfig.yml").write_text("ruleDirs: [rules]\ncustomLanguages: {x: {libraryPath: ./x.so}}\n")
    told = await search_code(["parse_rule"], project(tmp_path), run_program)
    assert (len(told.places), told.trouble) == (3, "")


async def test_an_answer_that_is_too_long_is_left_out(tmp_path):
    (tmp_path / "long.py").write_text("common_name = common_name\n" * 10_000)
    told = await search_code(["common_name"], str(tmp_path), run_program)
    assert (told.places, told.trouble) == ((), "the output of ast-grep is longer than 4096 KiB")


@pytest.mark.timeout(180)
def test_an_agent_that_is_stuck_is_told_where_to_look_and_that_is_on_record():
    with run_fake_agent_host(**SETTINGS) as stage:
        show = ScenarioRunner(stage, [STUCK])
        parts = show.open_scenarios()
        role = parts[0].agent_pane
        project(role.folder / "work")
        show.start_agents(parts)
        role.send_cue("say Why does `parse_rule` fail?")
        show.run_undisturbed(parts)
        assert "These places may help: rules.py:1; main.py:1; main.py:5." in role.read_input()
        asked = stage.query_database("SELECT stage, entry FROM audit WHERE kind = 'run_program' ORDER BY id")
        assert [one for one, _ in asked] == ["intent", "outcome"]
        assert json.loads(asked[0][1])["action"]["argv"][:2] == ["ast-grep", "run"]
