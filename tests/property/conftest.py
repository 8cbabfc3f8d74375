"""No deadline for single examples: it would tell more of a busy machine than of the code. `FUZZ` looks longer."""

from hypothesis import settings

from tests.fuzz.effort import count

settings.register_profile("calm", deadline=None, max_examples=count(100))
settings.load_profile("calm")
