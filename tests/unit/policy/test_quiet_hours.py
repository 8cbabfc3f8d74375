import pytest

from termvisor.model.action.policy import QuietHours
from termvisor.policy.quiet_hours import is_quiet_time
from termvisor.policy.request import LocalTime

NIGHT = QuietHours(since="22:00", until="07:00", days=("fri",))
NOON = QuietHours(since="12:00", until="13:00")
ALL_DAY = QuietHours(since="00:00", until="00:00", days=("sun",))
FRIDAY, SATURDAY, SUNDAY = 4, 5, 6


@pytest.mark.parametrize(
    ("hours", "weekday", "time", "is_quiet"),
    [
        (NIGHT, FRIDAY, "21:59", False),
        (NIGHT, FRIDAY, "22:00", True),
        (NIGHT, SATURDAY, "06:59", True),
        (NIGHT, SATURDAY, "07:00", False),
        (NIGHT, FRIDAY, "03:00", False),
        (NIGHT, SATURDAY, "23:00", False),
        (NOON, SUNDAY, "12:30", True),
        (NOON, SUNDAY, "13:00", False),
        (ALL_DAY, SUNDAY, "15:00", True),
        (ALL_DAY, SATURDAY, "15:00", False),
        (ALL_DAY, 0, "00:00", False),
    ],
)
def test_hours_belong_to_the_day_on_which_they_begin(hours, weekday, time, is_quiet) -> None:
    hour, minute = map(int, time.split(":"))
    assert is_quiet_time(hours, LocalTime(weekday, hour * 60 + minute)) is is_quiet
