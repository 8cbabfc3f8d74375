"""What every extension of a kind must hold, as tests: subclass one, name your extension, and let pytest run it.

They need `pytest` and `hypothesis`, which the product itself does not.
"""
