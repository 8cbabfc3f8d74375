"""Operations on jobs. Read run.py first; helpers start with an underscore."""
