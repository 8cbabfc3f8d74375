import pytest

from termvisor.model.settings.agents import build_resume_command, find_resume_problem, parse_resume_line
from termvisor.settings import Settings


def test_the_configured_resume_command_is_used():
    settings = Settings(agent_resume={"codex": "my-codex --from {session}"})
    assert build_resume_command(settings, "codex", "0196") == ("my-codex", "--from", "0196")
    assert build_resume_command(settings, "gemini", "0196") == build_resume_command(settings, "codex", "") == ()


@pytest.mark.parametrize("line", ["codex", ":: c {session}", "codex ::"])
def test_an_invalid_resume_line_is_reported(line):
    with pytest.raises(ValueError, match="is not `agent :: command`"):
        parse_resume_line(line)


def test_a_resume_command_must_name_the_session():
    assert parse_resume_line("codex :: c {session}") == ("codex", "c {session}")
    assert find_resume_problem("c {session}") == ""
    assert find_resume_problem("c") == "does not contain {session}"
    assert find_resume_problem("'").startswith("is not a command")
