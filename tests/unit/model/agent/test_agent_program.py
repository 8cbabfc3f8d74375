"""Programs that users declare as agents (`[agents.<name>]`, `agent_programs`)."""

import pytest

from termvisor.model.agent.agent_program import AgentProgram, find_program_problem, is_row_match, parse_program_lines


def test_a_program_is_known_by_its_command_line():
    program = AgentProgram(command=r"\baider\b")
    assert program.is_for_program(("python", "-m", "aider"))
    assert not program.is_for_program(())


def test_a_line_has_three_parts():
    assert parse_program_lines([r"\baider\b :: waiting_input :: ^> :: $"]) == {
        "aider": AgentProgram(command=r"\baider\b", states={"waiting_input": "^> :: $"})
    }


def test_lines_keep_the_order_of_their_rows():
    lines = ["a1 :: idle :: x", "a1 :: idle :: y", "b1 :: idle :: z", "a1 :: idle :: v", "a1 :: error :: w"]
    programs = parse_program_lines([*lines, "a1 :: idle :: u"])
    assert [*programs] == ["a1", "b1", "a1_2", "a1_3"]
    rows = [row for program in programs.values() for _, row in program.list_row_patterns()]
    assert rows == ["x", "y", "z", "v", "w", "u"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("aider", "is not of the form"),
        ("aider :: running", "is not of the form"),
        ("aider :: asleep :: x", "has an unknown state"),
        ("aider :: unknown :: x", "has an unknown state"),
        ("( :: running :: x", "invalid pattern"),
        ("aider :: running :: .*", "matches everything"),
        (" :: running :: x", "matches everything"),
    ],
)
def test_an_invalid_line_is_explained(text, why):
    with pytest.raises(ValueError, match=why):
        parse_program_lines([text])


def test_an_invalid_program_is_explained():
    assert find_program_problem(AgentProgram(command="aider", states={"running": "esc to stop"})) == ""
    assert "matches everything" in find_program_problem(AgentProgram(command="aider", states={"running": (".*",)}))
    assert "invalid pattern" in find_program_problem(AgentProgram(command="("))
    assert "unknown state" in find_program_problem(AgentProgram(command="a", states={"unknown": "b"}))


def test_long_output_is_matched_in_bounded_time():
    assert is_row_match("END$", "a" * 10_000 + "END") is False
