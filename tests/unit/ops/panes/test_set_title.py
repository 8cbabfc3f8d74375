from termvisor.model.action.action import SetTitle
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_title_is_one_clean_line() -> None:
    services = await build_sample_services()
    await run_command(services, "set-title", "1", "release", "build\x1b[2J")
    assert services.gate.executed[0][0] == SetTitle(pane=1, title="release build")
