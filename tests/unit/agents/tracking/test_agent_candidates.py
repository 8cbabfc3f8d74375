"""Which agent a pane has."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.tracking.agent_candidates import choose_candidate, find_candidates


def process(pid: int, name: str) -> ProcessInfo:
    return ProcessInfo(pid=pid, pid_started=pid, argv=(name,))


def recognise(agent, processes):
    return next((one for one in processes if one.argv[0] == agent), None)


def chosen(tree, front=(), current=None):
    found = find_candidates(["claude", "codex"], tree, frozenset(front), recognise)
    return (one.agent, one.process.pid) if (one := choose_candidate(found, current)) else None


def test_a_pane_without_an_agent_has_none():
    assert chosen([process(1, "bash"), process(2, "vim")]) is None


def test_one_below_wrappers_is_found():
    assert chosen([process(1, "bash"), process(2, "sudo"), process(3, "node"), process(4, "codex")]) == ("codex", 4)


def test_of_two_the_one_with_the_terminal_counts():
    tree = [process(1, "bash"), process(2, "claude"), process(3, "codex")]
    assert chosen(tree, front={3}) == ("codex", 3)
    assert chosen(tree, front={2}, current=(3, 3)) == ("claude", 2)


def test_of_two_of_a_kind_the_one_with_the_terminal_counts():
    tree = [process(1, "bash"), process(2, "claude"), process(3, "claude")]
    assert chosen(tree, front={3}) == ("claude", 3)


def test_while_something_else_has_the_terminal_the_one_before_stays():
    tree = [process(1, "bash"), process(2, "claude"), process(3, "codex"), process(4, "vim")]
    assert chosen(tree, front={4}, current=(3, 3)) == ("codex", 3)


def test_an_agent_that_another_one_started_is_its_tool():
    tree = [process(1, "bash"), process(2, "codex"), process(3, "claude")]
    assert chosen(tree) == ("codex", 2)
    assert chosen(tree, front={2, 3}) == ("codex", 2)


def test_a_process_that_two_claim_is_the_first_ones():
    found = find_candidates(["a", "b"], [process(1, "x")], frozenset(), lambda agent, tree: tree[0])
    assert [one.agent for one in found] == ["a"]
