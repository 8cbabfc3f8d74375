"""Results from the exit status of a program."""

import pytest

from termvisor.actions.notifications.channels import build_program_result


@pytest.mark.parametrize(
    ("status", "errors", "answer"),
    [
        (0, b"noise", ("done", "", "beep accepted it")),
        (3, b"no sound\n", ("failed", "program_failed", "beep exited with status 3: no sound")),
        (-9, b"", ("failed", "program_failed", "beep exited with status -9")),
        (124, b"", ("failed", "timeout", "beep exited with status 124")),
        (127, b"beep: not found", ("failed", "no_program", "beep exited with status 127: beep: not found")),
    ],
)
def test_the_exit_status_of_a_program_is_the_result(status, errors, answer):
    sent = build_program_result("beep", status, errors)
    assert (sent.status, sent.why, sent.text) == answer
