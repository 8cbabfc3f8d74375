"""No deadline for single examples: it would tell more of a busy machine than of the code. `FUZZ` looks longer."""

from hypothesis import settings

from tests.fuzz.example_count import scale_example_count

settings.register_profile("calm", deadline=None, max_examples=scale_example_count(100))
settings.load_profile("calm")
