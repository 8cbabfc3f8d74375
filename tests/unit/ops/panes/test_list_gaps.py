from termvisor.model.terminal.output import GAP_CAUSES
from termvisor.ops.panes.list_gaps import GAP_CAUSE_TEXTS
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


def test_every_cause_is_explained() -> None:
    assert tuple(GAP_CAUSE_TEXTS) == GAP_CAUSES


async def test_gaps_are_listed_with_pane_time_and_cause() -> None:
    data = (await run_command(await build_sample_services(), "robot", "gaps")).envelope["data"]
    gap = data["items"][0]
    assert (gap["identity"]["id"], gap["cause"], gap["seconds"]) == (1, "pipe_stolen", 4.0)
    assert data["summary"] == {"gaps": 1, "open": 0, "uncertain_tails": 0, "by_cause": {"pipe_stolen": 1}}


async def test_an_open_gap_has_no_end() -> None:
    services = await build_sample_services()
    services.add_gap((await services.panes.list_panes())[1].id, "link_down", None)
    assert "open" in (await run_command(services, "gaps", "--pane", "2")).out
    assert (await run_command(services, "robot", "gaps")).envelope["data"]["summary"]["open"] == 1


async def test_an_uncertain_tail_is_listed_on_request_and_is_not_a_gap() -> None:
    services = await build_sample_services()
    services.add_gap((await services.panes.list_panes())[1].id, "tail_uncertain", 0.0)
    data = (await run_command(services, "robot", "gaps")).envelope["data"]
    assert data["summary"] == {"gaps": 1, "open": 0, "uncertain_tails": 1, "by_cause": {"pipe_stolen": 1}}
    assert "1 gap, 0 open, 1 uncertain tail (`--tails`)" in (await run_command(services, "gaps")).out
    with_tails = (await run_command(services, "robot", "gaps", "--tails")).envelope["data"]
    assert [item["cause"] for item in with_tails["items"]] == ["pipe_stolen", "tail_uncertain"]
    assert with_tails["summary"]["gaps"] == 1
    assert [pane.gaps for pane in await services.panes.list_panes()][1] == 0


async def test_gaps_are_filtered_by_session_and_time() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "robot", "gaps", "--session", "agents")).envelope["data"]["items"] == []
    assert (await run_command(services, "robot", "gaps", "--since", "5s")).envelope["data"]["items"] == []
    assert (await run_command(FakeServices(), "gaps")).out == "No gaps.\n"
