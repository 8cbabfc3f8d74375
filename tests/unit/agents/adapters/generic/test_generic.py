"""Programs that are known by the person's own rules."""

from termvisor.agents.adapters.generic import ADAPTER, with_rules
from tests.unit.agents.adapters.saying import process, read, screen

AIDER = with_rules(
    [r"\baider\b :: waiting_approval :: \(Y\)es/\(N\)o", r"\baider\b :: waiting_input :: ^[a-z]*> $|^> ?$"]
)


def test_without_rules_nothing_is_recognised():
    assert ADAPTER.recognise([process("aider")]) is None
    assert ADAPTER.look(screen("> ")).state == "unknown"


def test_a_program_is_known_by_its_command_line():
    assert AIDER.recognise([process("bash"), process("python", "-m", "aider", "--dark-mode")]) is not None
    assert AIDER.recognise([process("bash"), process("vim", "raider.py")]) is None


def test_the_first_rule_that_fits_a_row_decides():
    assert AIDER.look(screen("Run shell command? (Y)es/(N)o [Yes]:\n> ")).state == "waiting_approval"
    assert AIDER.look(screen("code> ")).state == "unknown", "what nobody sees, trailing space, is no part of a row"
    assert AIDER.look(screen("all done\n>")).state == "waiting_input"
    assert AIDER.look(screen("thinking")).state == "unknown"


def test_it_says_nothing_else():
    assert read(AIDER, "hook", "{}") == []
    assert not AIDER.title_matches("aider")
    assert AIDER.watches(process("aider")) == ()
    assert AIDER.resume_command("x") == ()
