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


def knowing(*threads):
    known = ThreadRegistry()
    for one in threads:
        known.add_thread(one)
    return known


def test_the_only_codex_in_the_folder_owns_a_thread_that_began_after_it():
    assert knowing(build_thread()).build_hint(THREAD, [build_agent(), build_agent(8, cwd="/other")]) == OWN


def test_a_thread_from_before_is_not_its_own():
    assert knowing(build_thread()).build_hint(THREAD, [build_agent(started_at_ms=CREATED_AT_MS + 60_000)]) is None


def test_two_in_one_folder_are_a_conflict_that_names_the_folder():
    known, both = knowing(build_thread()), [build_agent(), build_agent(8)]
    assert known.build_hint(THREAD, both) == ProcessHint(cwd="/src", is_doubtful=True)
    assert known.list_conflicting_folders(both) == ["/src"]
    assert known.list_conflicting_folders([]) == []


def test_an_ambiguous_thread_stays_without_owner_when_one_process_exits():
    known = knowing(build_thread())
    known.mark_shown(THREAD, [build_agent(), build_agent(8)])
    assert known.build_hint(THREAD, [build_agent()]) == ProcessHint(cwd="/src", is_doubtful=True)
    assert known.list_conflicting_folders([build_agent()]) == ["/src"]


def test_a_later_process_takes_over_no_thread():
    known = knowing(build_thread())
    known.mark_shown(THREAD, [build_agent()])
    assert known.build_hint(THREAD, [build_agent(), build_agent(8)]) == OWN
    assert known.build_hint(THREAD, [build_agent(8)]) is None


def test_of_two_in_a_folder_only_one_that_was_there_before_can_own_it():
    assert (
        knowing(build_thread()).build_hint(
            THREAD, [build_agent(), build_agent(8, started_at_ms=CREATED_AT_MS + 60_000)]
        )
        == OWN
    )


def test_an_unwatched_codex_makes_a_thread_ambiguous():
    stranger = replace(build_agent(8), is_unwatched=True)
    assert knowing(build_thread()).build_hint(THREAD, [build_agent(), stranger]) == ProcessHint(
        cwd="/src", is_doubtful=True
    )
    assert knowing(build_thread()).build_hint(THREAD, [stranger]) is None


def test_another_process_with_the_same_pid_shows_a_thread_of_its_own():
    known = knowing(build_thread(), build_thread(LATER_THREAD))
    known.mark_shown(THREAD, [build_agent()])
    reborn = replace(build_agent(), process=replace(build_agent().process, pid_started=78))
    assert known.build_hint(THREAD, [reborn]) is None
    assert known.build_hint(LATER_THREAD, [reborn]) == ProcessHint(pid=7, pid_started=78)


def test_one_that_stays_apart_is_no_rival():
    assert knowing(build_thread()).build_hint(THREAD, [build_agent(), build_agent(8, "--no-daemon")]) == OWN


def test_a_command_line_that_names_it_is_a_proof():
    both = [build_agent(7, "resume", THREAD, started_at_ms=CREATED_AT_MS + 60_000), build_agent(8)]
    assert knowing(build_thread()).build_hint(THREAD, both) == OWN


def test_two_that_name_it_are_a_conflict():
    both = [build_agent(7, "resume", THREAD), build_agent(8, "resume", THREAD)]
    assert knowing(build_thread()).build_hint(THREAD, both) == ProcessHint(cwd="/src", is_doubtful=True)


def test_the_folder_of_the_command_line_counts():
    assert knowing(build_thread(cwd="/lib")).build_hint(THREAD, [build_agent(7, "-C", "/lib")]) == OWN


def test_threads_of_other_programs_and_internal_threads_have_no_owner():
    for hidden in ({"ephemeral": True}, {"originator": "codex_vscode"}, {"threadSource": "thread_title"}):
        assert knowing(build_thread(**hidden)).build_hint(THREAD, [build_agent()]) is None


def test_what_is_not_known_is_not_told():
    assert ThreadRegistry().build_hint(THREAD, [build_agent()]) is None
    assert knowing(build_thread()).build_hint(THREAD, []) is None


def test_the_thread_that_began_last_is_the_one_that_shows():
    known, faces = knowing(build_thread(), build_thread(LATER_THREAD)), [build_agent()]
    known.mark_shown(THREAD, faces)
    known.mark_shown(LATER_THREAD, faces)
    assert known.build_hint(THREAD, faces) is None
    assert known.build_hint(LATER_THREAD, faces) == OWN
    known.update_status(THREAD, faces, is_active=True)
    assert known.build_hint(THREAD, faces) == OWN


def test_a_thread_that_goes_on_in_the_background_does_not_come_back_by_itself():
    known, faces = knowing(build_thread(), build_thread(LATER_THREAD)), [build_agent()]
    known.update_status(THREAD, faces, is_active=True)
    known.mark_shown(LATER_THREAD, faces)
    known.update_status(THREAD, faces, is_active=True)
    known.update_status(THREAD, faces, is_active=False)
    assert known.build_hint(LATER_THREAD, faces) == OWN


def test_a_thread_that_is_forgotten_is_not_known():
    known = knowing(build_thread())
    known.remove_thread(THREAD)
    assert not known.has_thread(THREAD)


def test_its_id_tells_when_it_began():
    assert parse_thread(build_thread()).created_at == CREATED_AT_MS * NS_PER_MS
    assert parse_thread({"id": "no-uuid", "createdAt": 5}).created_at == 5 * 10**9
