"""Programs defined by user rules."""

from termvisor.agents.adapters.generic.adapter import ADAPTER, GenericAdapter
from termvisor.model.agent.agent_program import AgentProgram
from tests.unit.agents.adapters.adapter_inputs import build_process, build_screen, read_source_record

AIDER = GenericAdapter(
    [
        AgentProgram(
            command=r"\baider\b",
            states={"waiting_approval": r"\(Y\)es/\(N\)o", "waiting_input": ("^[a-z]*> $", "^> ?$")},
        )
    ]
)


def test_without_rules_nothing_is_recognised():
    assert ADAPTER.find_process([build_process("aider")]) is None
    assert ADAPTER.classify_screen(build_screen("> ")).state == "unknown"


def test_a_program_is_known_by_its_command_line():
    assert (
        AIDER.find_process([build_process("bash"), build_process("python", "-m", "aider", "--dark-mode")]) is not None
    )
    assert AIDER.find_process([build_process("bash"), build_process("vim", "raider.py")]) is None


def test_the_first_matching_rule_gives_the_state():
    assert AIDER.classify_screen(build_screen("Run shell command? (Y)es/(N)o [Yes]:\n> ")).state == "waiting_approval"
    assert AIDER.classify_screen(build_screen("code> ")).state == "unknown", "trailing space is not part of a row"
    assert AIDER.classify_screen(build_screen("all done\n>")).state == "waiting_input"
    assert AIDER.classify_screen(build_screen("thinking")).state == "unknown"


def test_a_generic_adapter_has_no_signals_titles_paths_or_resume_command():
    assert read_source_record(AIDER, "hook", "{}") == []
    assert not AIDER.matches_title("aider")
    assert AIDER.list_watched_paths(build_process("aider")) == ()
    assert AIDER.build_resume_command("x") == ()
