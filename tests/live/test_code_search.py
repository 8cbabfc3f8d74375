"""Code search for stuck agents with the real ast-grep: through the gate, and without the project's settings."""

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


def create_project(folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "main.py").write_text(CALLER)
    (folder / "rules.py").write_text(RULES)
    return str(folder)


async def test_code_search_lists_definitions_first_with_relative_paths(tmp_path):
    result = await search_code(["parse_rule"], create_project(tmp_path / "a folder"), run_program)
    assert result.places == (
        "rules.py:1: def parse_rule(text):",
        "main.py:1: from rules import parse_rule",
        "main.py:5: return parse_rule('x')",
    )
    assert result.trouble == ""


async def test_code_search_without_matches_is_no_error(tmp_path):
    result = await search_code(["no_such_name"], create_project(tmp_path), run_program)
    assert (result.places, result.trouble) == ((), "")


async def test_code_search_ignores_the_ast_grep_settings_of_a_project(tmp_path):
    """A project's settings could name a library, which ast-grep would load and run."""
    (tmp_path / "sgconfig.yml").write_text("ruleDirs: [rules]\ncustomLanguages: {x: {libraryPath: ./x.so}}\n")
    result = await search_code(["parse_rule"], create_project(tmp_path), run_program)
    assert (len(result.places), result.trouble) == (3, "")


async def test_code_search_drops_output_that_is_too_long(tmp_path):
    (tmp_path / "long.py").write_text("common_name = common_name\n" * 10_000)
    result = await search_code(["common_name"], str(tmp_path), run_program)
    assert (result.places, result.trouble) == ((), "the output of ast-grep is longer than 4096 KiB")


@pytest.mark.timeout(180)
def test_a_stuck_agent_gets_code_locations_and_the_search_is_audited():
    with run_fake_agent_host(**SETTINGS) as host:
        runner = ScenarioRunner(host, [STUCK])
        scenarios = runner.open_scenarios()
        agent = scenarios[0].agent_pane
        create_project(agent.folder / "work")
        runner.start_agents(scenarios)
        agent.send_cue("say Why does `parse_rule` fail?")
        runner.run_undisturbed(scenarios)
        assert "These places may help: rules.py:1; main.py:1; main.py:5." in agent.read_input()
        entries = host.query_database("SELECT stage, entry FROM audit WHERE kind = 'run_program' ORDER BY id")
        assert [one for one, _ in entries] == ["intent", "outcome"]
        assert json.loads(entries[0][1])["action"]["argv"][:2] == ["ast-grep", "run"]
