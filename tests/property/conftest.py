"""Disable the deadline of examples, which would measure the load of the machine. `FUZZ` raises the example count."""

from hypothesis import settings

from tests.fuzz.example_count import scale_example_count

settings.register_profile("no_deadline", deadline=None, max_examples=scale_example_count(100))
settings.load_profile("no_deadline")
