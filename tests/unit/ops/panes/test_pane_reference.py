import pytest

from termvisor.errors import AmbiguousReference, NotFound
from termvisor.model.ids import TargetName
from termvisor.model.terminal.pane import PaneView, ServerInstance
from termvisor.ops.panes._pane_reference import (
    filter_panes,
    find_pane_by_reference,
    format_pane_path,
    identify_all_panes,
    resolve_pane,
    resolve_pane_id,
)
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.sample_services import build_sample_services

OTHER = ServerInstance(TargetName("box"), "/run/tmux/other", 200, 1)


@pytest.fixture
def panes() -> list[PaneView]:
    services = FakeServices()
    services.add_pane(build_shell_facts("%5", window=1, window_name="edit.py", pane_index=0))
    services.add_pane(build_shell_facts("%6", window=1, window_name="edit.py", pane_index=1))
    services.add_pane(build_shell_facts("%7", session="solo", window=3))
    services.add_pane(build_shell_facts("%5", session="far/away", window=4), server=OTHER)
    gone = services.add_pane(build_shell_facts("%8", session="solo", window=3))
    services.remove_pane(gone.id)
    return services.views


@pytest.mark.parametrize(
    ("reference", "number"),
    [
        ("2", 2),
        (" 2 ", 2),
        ("%6", 2),
        ("%7", 3),
        ("solo", 3),
        ("solo:3", 3),
        ("solo:main", 3),
        ("solo:@3", 3),
        ("work:1.1", 2),
        ("work:edit.py.1", 2),
        ("work:1.%5", 1),
        ("pane:local/work/@1/%6", 2),
        ("pane:local/work/1/1", 2),
        ("pane:box/far/away/@4/%5", 4),
    ],
)
def test_a_pane_is_found_by_every_name_it_has(panes: list[PaneView], reference: str, number: int) -> None:
    assert find_pane_by_reference(reference, panes).id == number


def test_the_full_reference_of_a_pane_finds_it_again(panes: list[PaneView]) -> None:
    living = [pane for pane in panes if pane.gone_at is None]
    assert [find_pane_by_reference(format_pane_path(pane), panes).id for pane in living] == [pane.id for pane in living]


@pytest.mark.parametrize("reference", ["9", "%99", "nobody", "work:9", "work:1.7", "pane:local/work", "pane:", "", ":"])
def test_a_reference_without_match_is_not_found(panes: list[PaneView], reference: str) -> None:
    with pytest.raises(NotFound, match="not found"):
        find_pane_by_reference(reference, panes)


@pytest.mark.parametrize("reference", ["work", "work:1", "work:edit.py", "%5"])
def test_a_reference_with_several_matches_is_ambiguous(panes: list[PaneView], reference: str) -> None:
    with pytest.raises(AmbiguousReference) as caught:
        find_pane_by_reference(reference, panes)
    assert len(caught.value.details["candidates"]) == 2
    assert caught.value.details["candidates"][0] == "1 pane:local/work/@1/%5"


def test_a_closed_pane_is_found_by_its_number_only(panes: list[PaneView]) -> None:
    assert find_pane_by_reference("5", panes).id == 5
    with pytest.raises(NotFound):
        find_pane_by_reference("%8", panes)


def test_a_numeric_session_name_is_found_if_no_pane_has_that_number() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts(session="0"))
    assert find_pane_by_reference("0", services.views).id == 1


def test_an_unknown_agent_process_is_not_found(panes: list[PaneView]) -> None:
    with pytest.raises(NotFound, match="agent process '12' not found"):
        find_pane_by_reference("runtime:12", panes)


async def test_an_open_pane_is_found_by_name_and_a_closed_one_by_number() -> None:
    services = await build_sample_services()
    assert (await resolve_pane(services, "work")).id == 1
    assert (await resolve_pane(services, "3")).gone_at is not None
    assert await resolve_pane_id(services, None) is None
    assert await resolve_pane_id(services, "%4") == 2
    with pytest.raises(NotFound):
        await resolve_pane(services, "%9")


async def test_filters_apply_together() -> None:
    services = await build_sample_services()
    assert [pane.id for pane in await filter_panes(services, {"session": "agents"})] == [2]
    assert [pane.id for pane in await filter_panes(services, {"session": "agents"}, include_gone=True)] == [2, 3]
    assert await filter_panes(services, {"session": "agents", "pane": "1"}) == []
    assert await filter_panes(services, {"target": "elsewhere"}) == []


async def test_a_pane_has_the_declared_identity_fields() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%5"))
    identities = await identify_all_panes(services)
    who = identities[1]
    assert (who.target, who.session_name, who.window_id, who.pane_id, who.id) == ("local", "work", "@1", "%5", 1)
    assert (identities[9].id, identities[9].session_name) == (9, "")


@pytest.mark.parametrize("text", ["0", "01", "٣", "99", "9" * 30, "-1"])
async def test_an_unknown_pane_id_is_not_found(text: str) -> None:
    with pytest.raises(NotFound, match="not found"):
        await resolve_pane(await build_sample_services(), text)
