from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_command_that_acts_is_explained_and_not_run() -> None:
    services = await build_sample_services()
    out = (await run_command(services, "policy", "explain", "send", "1", "rm -rf build")).out
    assert "type 'rm -rf build' and press Enter" in out
    assert "policy: allow" in out
    assert services.gate.executed == []


async def test_options_of_the_command_follow_two_dashes() -> None:
    out = (
        await run_command(await build_sample_services(), "policy", "explain", "kill", "--", "1", "--signal", "KILL")
    ).out
    assert "SIGKILL" in out


async def test_a_command_without_action_has_no_verdict() -> None:
    result = await run_command(await build_sample_services(), "policy", "explain", "panes")
    assert result.status == 2
    assert "executes no action" in result.err
