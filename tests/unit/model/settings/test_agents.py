import pytest

from termvisor.model.settings.agents import build_resume_command, find_resume_line_problem
from termvisor.settings import Settings


def test_resume_command_comes_from_the_settings():
    settings = Settings(agent_resume=("codex :: my-codex --from {session}",))
    assert build_resume_command(settings, "codex", "0196") == ("my-codex", "--from", "0196")
    assert build_resume_command(settings, "gemini", "0196") == build_resume_command(settings, "codex", "") == ()


@pytest.mark.parametrize(
    ("line", "is_wrong"),
    [
        ("codex :: c {session}", False),
        ("codex", True),
        (":: c {session}", True),
        ("codex :: c", True),
        ("a :: '", True),
    ],
)
def test_invalid_resume_line_is_reported(line, is_wrong):
    assert bool(find_resume_line_problem(line)) is is_wrong
