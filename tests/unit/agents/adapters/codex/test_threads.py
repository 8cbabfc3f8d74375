"""The owner process of a Codex thread."""

from msgspec.structs import replace

from termvisor.agents.adapters.codex.threads import ThreadRegistry, parse_thread
from termvisor.model.agent.signal import ProcessHint
from tests.unit.agents.adapters.codex.app_server_messages import (
    CREATED_AT_MS,
    LATER_THREAD,
    NS_PER_MS,
    THREAD,
    build_agent,
    build_thread,
)

OWN = ProcessHint(pid=7, pid_started=77)


def build_registry(*threads):
    registry = ThreadRegistry()
    for one in threads:
        registry.add_thread(one)
    return registry


def test_the_only_codex_in_the_folder_owns_a_thread_created_after_its_start():
    assert build_registry(build_thread()).build_hint(THREAD, [build_agent(), build_agent(8, cwd="/other")]) == OWN


def test_a_thread_created_before_the_process_has_no_owner():
    assert (
        build_registry(build_thread()).build_hint(THREAD, [build_agent(started_at_ms=CREATED_AT_MS + 60_000)]) is None
    )


def test_two_processes_in_one_folder_are_a_conflict():
    registry, both = build_registry(build_thread()), [build_agent(), build_agent(8)]
    assert registry.build_hint(THREAD, both) == ProcessHint(cwd="/src", is_doubtful=True)
    assert registry.list_conflicting_folders(both) == ["/src"]
    assert registry.list_conflicting_folders([]) == []


def test_an_ambiguous_thread_stays_without_owner_when_one_process_exits():
    registry = build_registry(build_thread())
    registry.mark_shown(THREAD, [build_agent(), build_agent(8)])
    assert registry.build_hint(THREAD, [build_agent()]) == ProcessHint(cwd="/src", is_doubtful=True)
    assert registry.list_conflicting_folders([build_agent()]) == ["/src"]


def test_a_later_process_does_not_take_over_a_thread():
    registry = build_registry(build_thread())
    registry.mark_shown(THREAD, [build_agent()])
    assert registry.build_hint(THREAD, [build_agent(), build_agent(8)]) == OWN
    assert registry.build_hint(THREAD, [build_agent(8)]) is None


def test_of_two_processes_in_a_folder_the_one_started_before_the_thread_owns_it():
    assert (
        build_registry(build_thread()).build_hint(
            THREAD, [build_agent(), build_agent(8, started_at_ms=CREATED_AT_MS + 60_000)]
        )
        == OWN
    )


def test_an_unwatched_codex_makes_a_thread_ambiguous():
    unwatched = replace(build_agent(8), is_unwatched=True)
    assert build_registry(build_thread()).build_hint(THREAD, [build_agent(), unwatched]) == ProcessHint(
        cwd="/src", is_doubtful=True
    )
    assert build_registry(build_thread()).build_hint(THREAD, [unwatched]) is None


def test_another_process_with_the_same_pid_has_its_own_thread():
    registry = build_registry(build_thread(), build_thread(LATER_THREAD))
    registry.mark_shown(THREAD, [build_agent()])
    restarted = replace(build_agent(), process=replace(build_agent().process, pid_started=78))
    assert registry.build_hint(THREAD, [restarted]) is None
    assert registry.build_hint(LATER_THREAD, [restarted]) == ProcessHint(pid=7, pid_started=78)


def test_a_process_without_the_shared_server_is_not_a_candidate():
    assert build_registry(build_thread()).build_hint(THREAD, [build_agent(), build_agent(8, "--no-daemon")]) == OWN


def test_a_command_line_that_names_the_thread_proves_ownership():
    both = [build_agent(7, "resume", THREAD, started_at_ms=CREATED_AT_MS + 60_000), build_agent(8)]
    assert build_registry(build_thread()).build_hint(THREAD, both) == OWN


def test_two_command_lines_that_name_the_thread_are_a_conflict():
    both = [build_agent(7, "resume", THREAD), build_agent(8, "resume", THREAD)]
    assert build_registry(build_thread()).build_hint(THREAD, both) == ProcessHint(cwd="/src", is_doubtful=True)


def test_the_folder_of_the_command_line_counts():
    assert build_registry(build_thread(cwd="/lib")).build_hint(THREAD, [build_agent(7, "-C", "/lib")]) == OWN


def test_threads_of_other_programs_and_internal_threads_have_no_owner():
    for hidden in ({"ephemeral": True}, {"originator": "codex_vscode"}, {"threadSource": "thread_title"}):
        assert build_registry(build_thread(**hidden)).build_hint(THREAD, [build_agent()]) is None


def test_an_unknown_thread_or_no_process_gives_no_hint():
    assert ThreadRegistry().build_hint(THREAD, [build_agent()]) is None
    assert build_registry(build_thread()).build_hint(THREAD, []) is None


def test_the_thread_shown_or_active_last_has_the_process():
    registry, agents = build_registry(build_thread(), build_thread(LATER_THREAD)), [build_agent()]
    registry.mark_shown(THREAD, agents)
    registry.mark_shown(LATER_THREAD, agents)
    assert registry.build_hint(THREAD, agents) is None
    assert registry.build_hint(LATER_THREAD, agents) == OWN
    registry.update_status(THREAD, agents, is_active=True)
    assert registry.build_hint(THREAD, agents) == OWN


def test_a_background_thread_that_stays_active_is_not_shown_again():
    registry, agents = build_registry(build_thread(), build_thread(LATER_THREAD)), [build_agent()]
    registry.update_status(THREAD, agents, is_active=True)
    registry.mark_shown(LATER_THREAD, agents)
    registry.update_status(THREAD, agents, is_active=True)
    registry.update_status(THREAD, agents, is_active=False)
    assert registry.build_hint(LATER_THREAD, agents) == OWN


def test_a_removed_thread_is_unknown():
    registry = build_registry(build_thread())
    registry.remove_thread(THREAD)
    assert not registry.has_thread(THREAD)


def test_the_creation_time_is_parsed_from_the_thread_id():
    assert parse_thread(build_thread()).created_at == CREATED_AT_MS * NS_PER_MS
    assert parse_thread({"id": "no-uuid", "createdAt": 5}).created_at == 5 * 10**9
