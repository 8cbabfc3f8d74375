-- What was wanted, judged, asked, done and seen. Rows are only ever added; each holds the hash of the one before it.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    correlation TEXT NOT NULL,
    stage TEXT NOT NULL,
    kind TEXT NOT NULL,
    pane INTEGER,
    actor TEXT NOT NULL,
    entry TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX audit_pane ON audit (pane, id);
CREATE INDEX audit_correlation ON audit (correlation);
CREATE INDEX audit_at ON audit (at);
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit is only ever added to');
END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit is only ever added to');
END;

-- A text on its way into a pane. A step is committed before it is taken, so a crash leaves no doubt what may have been done.
CREATE TABLE send (
    key TEXT PRIMARY KEY,
    correlation TEXT NOT NULL,
    pane INTEGER NOT NULL REFERENCES pane (id),
    action_hash TEXT NOT NULL,
    -- Of the text as it would be read from a screen, keyed: to know it again without keeping it.
    text_hash TEXT NOT NULL,
    step TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    step_at INTEGER NOT NULL,
    outcome TEXT,
    why TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX send_open ON send (begun_at) WHERE outcome IS NULL;

CREATE TABLE question (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    correlation TEXT NOT NULL,
    action_hash TEXT NOT NULL,
    pane INTEGER,
    asked TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open',
    answered_at INTEGER
);
CREATE INDEX question_open ON question (id) WHERE state = 'open';

CREATE TABLE voice (
    question INTEGER NOT NULL REFERENCES question (id),
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (question, who)
) WITHOUT ROWID;

CREATE TABLE permit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    scope TEXT NOT NULL,
    who TEXT NOT NULL,
    revoked_at INTEGER
);

CREATE TABLE reservation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pane INTEGER NOT NULL REFERENCES pane (id),
    owner TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    released_at INTEGER
);
CREATE INDEX reservation_pane ON reservation (pane, id);
