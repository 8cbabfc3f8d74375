"""Choosing the agent of a pane."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.tracking.agent_candidates import choose_candidate, find_candidates


def build_process(pid: int, name: str) -> ProcessInfo:
    return ProcessInfo(pid=pid, pid_started=pid, argv=(name,))


def find_by_name(agent, processes):
    return next((one for one in processes if one.argv[0] == agent), None)


def choose(tree, foreground=(), current=None):
    found = find_candidates(["claude", "codex"], tree, frozenset(foreground), find_by_name)
    return (one.agent, one.process.pid) if (one := choose_candidate(found, current)) else None


def test_a_pane_without_an_agent_has_no_candidate():
    assert choose([build_process(1, "bash"), build_process(2, "vim")]) is None


def test_an_agent_below_wrappers_is_found():
    assert choose(
        [build_process(1, "bash"), build_process(2, "sudo"), build_process(3, "node"), build_process(4, "codex")]
    ) == ("codex", 4)


def test_of_two_agents_the_foreground_one_is_chosen():
    tree = [build_process(1, "bash"), build_process(2, "claude"), build_process(3, "codex")]
    assert choose(tree, foreground={3}) == ("codex", 3)
    assert choose(tree, foreground={2}, current=(3, 3)) == ("claude", 2)


def test_of_two_processes_of_an_agent_the_foreground_one_is_chosen():
    tree = [build_process(1, "bash"), build_process(2, "claude"), build_process(3, "claude")]
    assert choose(tree, foreground={3}) == ("claude", 3)


def test_without_a_foreground_agent_the_current_one_stays():
    tree = [build_process(1, "bash"), build_process(2, "claude"), build_process(3, "codex"), build_process(4, "vim")]
    assert choose(tree, foreground={4}, current=(3, 3)) == ("codex", 3)


def test_an_agent_started_by_another_is_its_tool():
    tree = [build_process(1, "bash"), build_process(2, "codex"), build_process(3, "claude")]
    assert choose(tree) == ("codex", 2)
    assert choose(tree, foreground={2, 3}) == ("codex", 2)


def test_a_process_claimed_twice_goes_to_the_first():
    found = find_candidates(["a", "b"], [build_process(1, "x")], frozenset(), lambda agent, tree: tree[0])
    assert [one.agent for one in found] == ["a"]
