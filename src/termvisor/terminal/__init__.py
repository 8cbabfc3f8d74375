"""Decode terminal output to text, marks, shell commands and activity. Pure: no I/O, no clock.

In: the bytes of an epoch. Out: settled lines and marks. Read text_decoder.py first, then tokenizer.py.
"""
