import pytest

from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import ASKING_PANE, WORKING_PANE
from termvisor.testing.sample_services import build_sample_services


async def _read_spans(services: FakeServices, *words: str) -> list[tuple[str, float]]:
    data = (await run_command(services, "robot", "timeline", "--pane", str(ASKING_PANE), *words)).envelope["data"]
    return [(span["state"], span["seconds"]) for item in data["items"] for span in item["spans"]]


async def test_each_state_lasts_until_the_next_one() -> None:
    services = await build_sample_services(op="timeline")
    await services.clock.advance(100)
    services.agents.set_state(ASKING_PANE, "running")
    await services.clock.advance(30)
    services.agents.set_state(ASKING_PANE, "waiting_input")
    await services.clock.advance(20)
    # The state before the first change of the span holds from its start.
    spans = await _read_spans(services, "--since", "60s")
    assert spans == [("waiting_approval", 10.0), ("running", 30.0), ("waiting_input", 20.0)]


async def test_an_agent_that_ended_has_no_state_afterwards() -> None:
    services = await build_sample_services(op="timeline")
    await services.clock.advance(100)
    services.agents.set_state(ASKING_PANE, "running")
    await services.clock.advance(10)
    services.agents.end_agent(ASKING_PANE)
    await services.clock.advance(40)
    assert await _read_spans(services, "--since", "50s") == [("running", 10.0)]


async def test_the_end_of_the_span_cuts_states() -> None:
    services = await build_sample_services(op="timeline")
    await services.clock.advance(100)
    services.agents.set_state(ASKING_PANE, "running")
    await services.clock.advance(60)
    assert await _read_spans(services, "--since", "80s", "--until", "30s") == [
        ("waiting_approval", 20.0),
        ("running", 30.0),
    ]


async def test_an_agent_without_changes_has_one_stretch() -> None:
    services = await build_sample_services(op="timeline")
    await services.clock.advance(100)
    data = (await run_command(services, "robot", "timeline", "--since", "30s")).envelope["data"]
    states = {item["identity"]["id"]: item["by_state"] for item in data["items"]}
    assert states[WORKING_PANE] == {"running": 30.0}


@pytest.mark.parametrize("words", [("--since", "1h", "--until", "2h"), ("--since", "now")])
async def test_a_span_that_ends_before_it_starts_is_an_error(words: tuple[str, ...]) -> None:
    answered = await run_command(await build_sample_services(), "robot", "timeline", *words)
    assert answered.envelope["error"]["code"] == "invalid_args"


async def test_a_span_without_agents_says_so() -> None:
    assert (await run_command(await build_sample_services(), "timeline")).out == "No agents in this span.\n"
