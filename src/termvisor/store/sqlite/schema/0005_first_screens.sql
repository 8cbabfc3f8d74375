-- What a pane showed when listening to it began: there the replay of an epoch starts. Redacted rows, joined by newlines.
CREATE TABLE first_screen (
    epoch INTEGER PRIMARY KEY REFERENCES epoch (id) ON DELETE CASCADE,
    pane INTEGER NOT NULL REFERENCES pane (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    cursor_x INTEGER NOT NULL,
    cursor_y INTEGER NOT NULL,
    is_alternate INTEGER NOT NULL,
    rows TEXT NOT NULL
);
CREATE INDEX first_screen_pane ON first_screen (pane, epoch);
