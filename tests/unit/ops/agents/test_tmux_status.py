from termvisor.model.agent.state import Flags
from termvisor.ops.agents.tmux_status import FIELDS
from termvisor.ops.api.local_services import LocalWorld
from termvisor.settings import Places
from termvisor.testing.asking import ask, lively
from termvisor.testing.crew import ASKING
from termvisor.testing.world import MemoryWorld


async def test_in_short_it_says_what_is_not_nothing() -> None:
    assert (await ask(await lively(op="tmux_status"), "tmux-status")).out == "!1 ▶1 ✓1 ?1\n"


async def test_a_template_is_filled_in_and_keeps_what_tmux_understands() -> None:
    template = "#[fg=red]{error}#[default] {waiting}/{agents} {running}"
    assert (await ask(await lively(op="tmux_status"), "tmux-status", template)).out == "#[fg=red]0#[default] 1/4 1\n"


async def test_every_field_has_a_number() -> None:
    world = await lively(op="tmux_status")
    world.agents.become(ASKING, "error", flags=Flags(usage_limited=True))
    line = (await ask(world, "robot", "tmux-status", "{limited}")).envelope["data"]
    assert set(line["numbers"]) == set(FIELDS)
    assert line["text"] == "1"


async def test_one_session_can_be_told_alone() -> None:
    assert (await ask(await lively(op="tmux_status"), "tmux-status", "--session", "work")).out == "✓1 ?1\n"


async def test_without_agents_or_without_a_daemon_it_says_nothing_and_is_content() -> None:
    for world in (MemoryWorld(), LocalWorld(Places("/c", "/d", "/r"))):
        answered = await ask(world, "tmux-status", "{waiting} wait")
        assert (answered.out, answered.err, answered.status) == ("", "", 0)


async def test_a_field_that_there_is_not_is_refused_with_the_right_one() -> None:
    answered = await ask(MemoryWorld(), "tmux-status", "{wating}")
    assert answered.status == 2
    assert answered.err == "visor: there is no field {wating}\nhint: Did you mean {waiting}?\n"
