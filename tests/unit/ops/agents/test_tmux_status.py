from termvisor.model.agent.state import AgentFlags
from termvisor.ops.agents.tmux_status import TEMPLATE_FIELDS
from termvisor.ops.api.local_services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import build_sample_services, run_command
from termvisor.testing.sample_agents import ASKING_PANE


async def test_in_short_it_says_what_is_not_nothing() -> None:
    assert (await run_command(await build_sample_services(op="tmux_status"), "tmux-status")).out == "!1 ▶1 ✓1 ?1\n"


async def test_a_template_is_filled_in_and_keeps_what_tmux_understands() -> None:
    template = "#[fg=red]{error}#[default] {waiting}/{agents} {running}"
    assert (
        await run_command(await build_sample_services(op="tmux_status"), "tmux-status", template)
    ).out == "#[fg=red]0#[default] 1/4 1\n"


async def test_every_field_has_a_number() -> None:
    world = await build_sample_services(op="tmux_status")
    world.agents.set_state(ASKING_PANE, "error", flags=AgentFlags(usage_limited=True))
    line = (await run_command(world, "robot", "tmux-status", "{limited}")).envelope["data"]
    assert set(line["numbers"]) == set(TEMPLATE_FIELDS)
    assert line["text"] == "1"


async def test_one_session_can_be_told_alone() -> None:
    assert (
        await run_command(await build_sample_services(op="tmux_status"), "tmux-status", "--session", "work")
    ).out == "✓1 ?1\n"


async def test_without_agents_or_without_a_daemon_it_says_nothing_and_is_content() -> None:
    for world in (FakeServices(), LocalServices(Paths("/c", "/d", "/r"))):
        answered = await run_command(world, "tmux-status", "{waiting} wait")
        assert (answered.out, answered.err, answered.status) == ("", "", 0)


async def test_a_field_that_there_is_not_is_refused_with_the_right_one() -> None:
    answered = await run_command(FakeServices(), "tmux-status", "{wating}")
    assert answered.status == 2
    assert answered.err == "visor: there is no field {wating}\nhint: Did you mean {waiting}?\n"
