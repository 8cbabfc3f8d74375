from termvisor.model.action.action import Spawn
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_pane_is_split_and_a_program_starts_beside_it() -> None:
    services = await build_sample_services()
    await run_command(services, "split", "1", "--horizontal", "--", "htop", "-d", "5")
    wanted = Spawn(where="pane", beside=1, is_horizontal=True, command=("htop", "-d", "5"))
    assert services.gate.executed[0][0] == wanted
