from msgspec.structs import replace

from termvisor.agents.adapters.codex.threads import Threads, thread_of
from termvisor.model.agent.signal import Hint
from tests.unit.agents.adapters.codex.server_words import BORN, LATER, MS, THREAD, face, thread

OWN = Hint(pid=7, pid_started=77)


def knowing(*threads):
    known = Threads()
    for one in threads:
        known.learn(one)
    return known


def test_the_only_codex_in_the_folder_owns_a_thread_that_began_after_it():
    assert knowing(thread()).hint_of(THREAD, [face(), face(8, cwd="/other")]) == OWN


def test_a_thread_from_before_is_not_its_own():
    assert knowing(thread()).hint_of(THREAD, [face(born=BORN + 60_000)]) is None


def test_two_in_one_folder_are_a_conflict_that_names_the_folder():
    known, both = knowing(thread()), [face(), face(8)]
    assert known.hint_of(THREAD, both) == Hint(cwd="/src", is_doubtful=True)
    assert known.conflicts(both) == ["/src"]
    assert known.conflicts([]) == []


def test_a_thread_that_two_could_have_begun_is_nobodys_when_one_is_gone():
    known = knowing(thread())
    known.began(THREAD, [face(), face(8)])
    assert known.hint_of(THREAD, [face()]) == Hint(cwd="/src", is_doubtful=True)
    assert known.conflicts([face()]) == ["/src"]


def test_who_comes_later_takes_nobodys_thread():
    known = knowing(thread())
    known.began(THREAD, [face()])
    assert known.hint_of(THREAD, [face(), face(8)]) == OWN
    assert known.hint_of(THREAD, [face(8)]) is None


def test_of_two_in_a_folder_only_one_that_was_there_before_can_own_it():
    assert knowing(thread()).hint_of(THREAD, [face(), face(8, born=BORN + 60_000)]) == OWN


def test_one_in_no_pane_of_ours_is_a_rival_and_its_own_threads_are_not_told():
    stranger = replace(face(8), is_elsewhere=True)
    assert knowing(thread()).hint_of(THREAD, [face(), stranger]) == Hint(cwd="/src", is_doubtful=True)
    assert knowing(thread()).hint_of(THREAD, [stranger]) is None


def test_another_process_with_the_same_pid_shows_a_thread_of_its_own():
    known = knowing(thread(), thread(LATER))
    known.began(THREAD, [face()])
    reborn = replace(face(), process=replace(face().process, pid_started=78))
    assert known.hint_of(THREAD, [reborn]) is None
    assert known.hint_of(LATER, [reborn]) == Hint(pid=7, pid_started=78)


def test_one_that_stays_apart_is_no_rival():
    assert knowing(thread()).hint_of(THREAD, [face(), face(8, "--no-daemon")]) == OWN


def test_a_command_line_that_names_it_is_a_proof():
    both = [face(7, "resume", THREAD, born=BORN + 60_000), face(8)]
    assert knowing(thread()).hint_of(THREAD, both) == OWN


def test_two_that_name_it_are_a_conflict():
    both = [face(7, "resume", THREAD), face(8, "resume", THREAD)]
    assert knowing(thread()).hint_of(THREAD, both) == Hint(cwd="/src", is_doubtful=True)


def test_the_folder_of_the_command_line_counts():
    assert knowing(thread(cwd="/lib")).hint_of(THREAD, [face(7, "-C", "/lib")]) == OWN


def test_nobody_gets_a_thread_of_another_program_or_one_that_codex_keeps_for_itself():
    for hidden in ({"ephemeral": True}, {"originator": "codex_vscode"}, {"threadSource": "thread_title"}):
        assert knowing(thread(**hidden)).hint_of(THREAD, [face()]) is None


def test_what_is_not_known_is_not_told():
    assert Threads().hint_of(THREAD, [face()]) is None
    assert knowing(thread()).hint_of(THREAD, []) is None


def test_the_thread_that_began_last_is_the_one_that_shows():
    known, faces = knowing(thread(), thread(LATER)), [face()]
    known.began(THREAD, faces)
    known.began(LATER, faces)
    assert known.hint_of(THREAD, faces) is None
    assert known.hint_of(LATER, faces) == OWN
    known.turned(THREAD, faces, is_active=True)
    assert known.hint_of(THREAD, faces) == OWN


def test_a_thread_that_goes_on_in_the_background_does_not_come_back_by_itself():
    known, faces = knowing(thread(), thread(LATER)), [face()]
    known.turned(THREAD, faces, is_active=True)
    known.began(LATER, faces)
    known.turned(THREAD, faces, is_active=True)
    known.turned(THREAD, faces, is_active=False)
    assert known.hint_of(LATER, faces) == OWN


def test_a_thread_that_is_forgotten_is_not_known():
    known = knowing(thread())
    known.forget(THREAD)
    assert not known.knows(THREAD)


def test_its_id_tells_when_it_began():
    assert thread_of(thread()).created_at == BORN * MS
    assert thread_of({"id": "no-uuid", "createdAt": 5}).created_at == 5 * 10**9
