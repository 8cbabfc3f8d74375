"""Choosing the agent of a pane."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.tracking.agent_discovery import choose_candidate, find_candidates


def process(pid: int, name: str) -> ProcessInfo:
    return ProcessInfo(pid=pid, pid_started=pid, argv=(name,))


def recognise(agent, processes):
    return next((one for one in processes if one.argv[0] == agent), None)


def chosen(tree, front=(), current=None):
    found = find_candidates(["claude", "codex"], tree, frozenset(front), recognise)
    return (one.agent, one.process.pid) if (one := choose_candidate(found, current)) else None


def test_a_pane_without_an_agent_has_no_candidate():
    assert chosen([process(1, "bash"), process(2, "vim")]) is None


def test_an_agent_below_wrappers_is_found():
    assert chosen([process(1, "bash"), process(2, "sudo"), process(3, "node"), process(4, "codex")]) == ("codex", 4)


def test_of_two_agents_the_foreground_one_is_chosen():
    tree = [process(1, "bash"), process(2, "claude"), process(3, "codex")]
    assert chosen(tree, front={3}) == ("codex", 3)
    assert chosen(tree, front={2}, current=(3, 3)) == ("claude", 2)


def test_of_two_processes_of_an_agent_the_foreground_one_is_chosen():
    tree = [process(1, "bash"), process(2, "claude"), process(3, "claude")]
    assert chosen(tree, front={3}) == ("claude", 3)


def test_without_a_foreground_agent_the_current_one_stays():
    tree = [process(1, "bash"), process(2, "claude"), process(3, "codex"), process(4, "vim")]
    assert chosen(tree, front={4}, current=(3, 3)) == ("codex", 3)


def test_an_agent_started_by_another_is_its_tool():
    tree = [process(1, "bash"), process(2, "codex"), process(3, "claude")]
    assert chosen(tree) == ("codex", 2)
    assert chosen(tree, front={2, 3}) == ("codex", 2)


def test_a_process_claimed_twice_goes_to_the_first():
    found = find_candidates(["a", "b"], [process(1, "x")], frozenset(), lambda agent, tree: tree[0])
    assert [one.agent for one in found] == ["a"]
