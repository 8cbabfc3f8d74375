from termvisor.model.agent.state import AgentFlags
from termvisor.ops.agents.tmux_status import TEMPLATE_FIELDS
from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import ASKING_PANE
from termvisor.testing.sample_services import build_sample_services


async def test_the_short_form_prints_non_zero_counts() -> None:
    assert (await run_command(await build_sample_services(op="tmux_status"), "tmux-status")).out == "!1 ▶1 ✓1 ?1\n"


async def test_a_template_is_filled_in_and_keeps_tmux_formats() -> None:
    template = "#[fg=red]{error}#[default] {waiting}/{agents} {running}"
    assert (
        await run_command(await build_sample_services(op="tmux_status"), "tmux-status", template)
    ).out == "#[fg=red]0#[default] 1/4 1\n"


async def test_every_field_has_a_number() -> None:
    services = await build_sample_services(op="tmux_status")
    services.agents.set_state(ASKING_PANE, "error", flags=AgentFlags(usage_limited=True))
    line = (await run_command(services, "robot", "tmux-status", "{limited}")).envelope["data"]
    assert set(line["numbers"]) == set(TEMPLATE_FIELDS)
    assert line["text"] == "1"


async def test_the_counts_can_be_limited_to_one_session() -> None:
    assert (
        await run_command(await build_sample_services(op="tmux_status"), "tmux-status", "--session", "work")
    ).out == "✓1 ?1\n"


async def test_without_agents_or_a_daemon_it_prints_nothing_and_succeeds() -> None:
    for services in (FakeServices(), LocalServices(Paths("/c", "/d", "/r"))):
        result = await run_command(services, "tmux-status", "{waiting} wait")
        assert (result.out, result.err, result.status) == ("", "", 0)


async def test_an_unknown_field_is_rejected_with_the_closest_one() -> None:
    result = await run_command(FakeServices(), "tmux-status", "{wating}")
    assert result.status == 2
    assert result.err == "visor: unknown field {wating}\nhint: Did you mean {waiting}?\n"
