"""Files that describe agents: good ones become adapters, bad ones are reported with line, key and reason."""

import pytest

from termvisor.agents.adapters import description_files
from termvisor.agents.adapters.description_files import load_builtin_descriptions, load_descriptions, read_description
from termvisor.detection.packs.pack import RuleProblem
from tests.unit.agents.adapters.adapter_inputs import build_process, build_screen
from tests.unit.agents.adapters.described_agent import DESCRIPTION, write_description

BUILTIN = load_builtin_descriptions()
MINIMAL = 'about = "x"\n[process]\nprograms = ["x"]\n'


def test_builtin_files_have_no_problems():
    assert BUILTIN.problems == ()
    problems = {name: list(description_files.find_problems(one)) for name, one in BUILTIN.adapters.items()}
    assert {name: found for name, found in problems.items() if found} == {}


def test_at_least_21_kinds_of_agents_are_known():
    coded = set(description_files.BUILTIN_AGENTS) - {"generic"}
    assert len(coded | set(BUILTIN.adapters)) >= 21


@pytest.mark.parametrize(
    ("agent", "argv"),
    [
        ("qwen_code", "node /usr/lib/node_modules/@qwen-code/qwen-code/cli.js"),
        ("qwen_code", "node /usr/local/bin/qwen -i hello"),
        ("aider", "/venv/bin/python /venv/bin/aider --model x"),
        ("aider", "python3.12 -m aider"),
        ("pi", "pi"),
        ("crush", "/usr/bin/crush"),
        ("goose", "goose session"),
        ("kiro", "q chat"),
        ("kimi_cli", "/venv/bin/python3 /venv/bin/kimi"),
        ("mistral_vibe", "/v/bin/python /v/bin/vibe"),
        ("continue_cli", "node /usr/lib/node_modules/@continuedev/cli/dist/cn.js"),
    ],
)
def test_a_command_line_is_recognized_by_one_agent_only(agent, argv):
    process = build_process(*argv.split())
    assert [name for name, one in BUILTIN.adapters.items() if one.find_process([process])] == [agent]


@pytest.mark.parametrize(
    "argv", ["goose up", "goose", "q", "qwen mcp list", "aider --help", "python app.py", "droid exec x"]
)
def test_other_programs_and_subcommands_are_not_recognized(argv):
    process = build_process(*argv.split())
    assert [name for name, one in BUILTIN.adapters.items() if one.find_process([process])] == []


def test_a_resumed_session_is_read_from_the_command_line_and_resumed(tmp_path):
    adapter = read_description(str(write_description(str(tmp_path))))
    assert adapter.find_resumed_session(build_process("toy-coder", "--resume", "toy-7")) == "toy-7"
    assert adapter.build_resume_command("toy-7") == ("toy-coder", "--resume", "toy-7")
    assert adapter.matches_title("Toy Coder - api")
    assert not adapter.matches_title("bash")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (MINIMAL + "program = 3\n", ":4: program: is unknown; did you mean programs?"),
        ("abuot = 'x'\n", ":1: abuot: is unknown; did you mean about?"),
        (MINIMAL + "[keys]\ninterupt = ['Escape']\n", ":5: interupt: is unknown; did you mean interrupt?"),
        (MINIMAL + "[[screen]]\nnam = 'x'\n", ":5: nam: is unknown; did you mean name?"),
        ('about = "x"\n', ": process: is missing"),
        (
            MINIMAL + "scripts = ['(']\n",
            ":4: scripts: '(' is not a regular expression: missing ), unterminated subpattern",
        ),
        (MINIMAL + "scripts = ['(?:a+)+$']\n", ":4: scripts: '(?:a+)+$' cannot be used: "),
        (MINIMAL + "[keys]\nexit = ['Enter']\n", ":5: exit: must not press Enter"),
        (MINIMAL + "[session]\nresume = ['x']\n", ":5: resume: needs {} for the session id"),
        (
            MINIMAL + "[[screen]]\nname='a'\npart='top'\npattern='x'\nstate='idle'\n",
            ":6: part: invalid enum value 'top'",
        ),
        (
            MINIMAL + "[[example]]\nstate='running'\nscreen='$ ls'\n",
            "example: number 1 shows running, but is classified",
        ),
        (MINIMAL + "[[prompt]]\nquestion = 'x'\npart = 'foot'\n", "enter: must be false for part foot"),
        ("about = \n", ":1: is not valid TOML: "),
    ],
)
def test_a_bad_file_is_reported_with_line_key_and_reason(tmp_path, text, problem):
    found = read_description(str(write_description(str(tmp_path), text)))
    assert isinstance(found, RuleProblem)
    assert problem in str(found)


@pytest.mark.parametrize(
    ("name", "why"), [("codex", "is a built-in adapter"), ("My-Agent", "must be named after the agent")]
)
def test_a_file_cannot_have_the_name_of_an_adapter_or_an_invalid_one(tmp_path, name, why):
    path = tmp_path / f"{name}.toml"
    path.write_text(DESCRIPTION)
    assert why in str(read_description(str(path)))


def test_a_users_file_is_added_or_replaces_a_builtin_one_and_a_bad_one_is_left_out(tmp_path, caplog):
    (tmp_path / "aider.toml").write_text(DESCRIPTION)
    (tmp_path / "mine.toml").write_text(DESCRIPTION)
    (tmp_path / "bad.toml").write_text("x = 1\n")
    found = load_descriptions(str(tmp_path))
    assert set(found.adapters) == {*BUILTIN.adapters, "mine"}
    assert found.adapters["aider"].description.about == "A toy for tests"
    assert [problem.line for problem in found.problems] == [1]
    assert "bad.toml:1: x: is unknown" in caplog.text


def test_own_rules_come_before_those_for_all_agents_and_survive_other_rule_packs():
    screen = build_screen(" → [1] Approve once\n   [2] Approve for this session\n   [3] Reject")
    kimi = BUILTIN.adapters["kimi_cli"]
    assert kimi.classify_screen(screen).rule == "kimi_cli.screen.approval_asked"
    assert kimi.with_rules(lambda agent: ()).classify_screen(screen).state == "waiting_approval"
    assert BUILTIN.adapters["pi"].classify_screen(screen).state == "unknown"
