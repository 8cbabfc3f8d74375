import msgspec
import pytest
from msgspec.structs import replace

from termvisor.model.action.action import RunJob
from termvisor.model.settings.jobs import JobClass
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

SHELL = ("bash", "-o", "pipefail", "-lc")


async def read_action(*words: str, job_class: JobClass | None = None) -> RunJob:
    services = await build_sample_services(op="run")
    if job_class is not None:
        services.settings = replace(services.settings, job_class=(job_class,))
    result = await run_command(services, "run", *words)
    assert result.status in (0, 2), result.err
    action = services.gate.executed[0][0]
    assert isinstance(action, RunJob)
    return action


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("make test | tee log",), (*SHELL, "make test | tee log")),
        (("make",), ("make",)),
        (("make", "test"), ("make", "test")),
        (("--shell", "make"), (*SHELL, "make")),
        (("--", "two words"), ("two words",)),
        (("--", "ls", "--json", "-x"), ("ls", "--json", "-x")),
    ],
)
async def test_a_line_needs_a_shell_and_words_do_not(words, command) -> None:
    assert (await read_action(*words)).command == command


async def test_the_place_follows_from_the_session_or_the_settings() -> None:
    assert (await read_action("--", "ls")).place == "pty"
    action = await read_action("--session", "work", "--", "ls")
    assert (action.place, action.session, action.is_interactive) == ("session", "work", True)
    assert not (await read_action("--session", "work", "--no-interactive", "--", "ls")).is_interactive


async def test_a_class_of_commands_has_limits_that_an_option_overrides() -> None:
    limits = JobClass(match="^make", timeout=60.0, retries=2)
    action = await read_action("--", "make", "all", job_class=limits)
    assert (action.timeout, msgspec.json.decode(action.options)) == (60.0, {"retries": 2})
    assert (await read_action("--timeout", "5", "--", "make", job_class=limits)).timeout == 5.0
    assert (await read_action("--", "cmake", job_class=limits)).timeout == 0.0


async def test_an_extractor_brings_its_prompts_and_secrets() -> None:
    options = msgspec.json.decode((await read_action("--extractor", "gh_auth_login", "--", "gh")).options)
    assert options["extractor"] == "gh_auth_login"
    assert any("token" in pattern for pattern in options["detectors"])
    assert all("(?P<secret>" in pattern for pattern in options["redactors"])


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--interactive", "--no-interactive", "ls"), "exclude each other"),
        (("--session", "work", "--place", "tmux", "ls"), "--place session"),
        (("--detect", "(", "ls"), "--detect"),
        (("--extractor", "none", "ls"), "no extractor"),
        (("--env", "A", "ls"), "NAME=value"),
    ],
)
async def test_invalid_calls_start_nothing(words, error) -> None:
    services = await build_sample_services(op="run")
    assert error in (await run_command(services, "run", *words)).err
    assert services.gate.executed == []
