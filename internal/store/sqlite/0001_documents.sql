-- Times are RFC 3339 in UTC with three digits of a second's fraction, hashes 64
-- hexadecimal digits. seq counts per space, so that no space learns from it how
-- busy another one is.

CREATE TABLE documents (
    space         TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    seq           INTEGER NOT NULL,
    content       TEXT    NOT NULL,
    size          INTEGER NOT NULL,
    pages         INTEGER NOT NULL,
    template      TEXT    NOT NULL,
    template_hash TEXT    NOT NULL,
    snapshot      TEXT    NOT NULL,
    options       TEXT    NOT NULL,
    signer        TEXT    NOT NULL,
    engine        TEXT    NOT NULL,
    time          TEXT    NOT NULL,
    made          TEXT    NOT NULL,
    receipt       TEXT    NOT NULL,
    PRIMARY KEY (space, id),
    UNIQUE (space, seq),
    FOREIGN KEY (space, template, template_hash) REFERENCES templates (space, name, hash)
) STRICT;

CREATE INDEX documents_content ON documents (space, content);

CREATE TRIGGER documents_do_not_change BEFORE UPDATE ON documents
BEGIN SELECT RAISE(ABORT, 'a document does not change'); END;

-- Every version of a template that a document was made with.
CREATE TABLE templates (
    space TEXT NOT NULL,
    name  TEXT NOT NULL,
    hash  TEXT NOT NULL,
    seen  TEXT NOT NULL,
    PRIMARY KEY (space, name, hash)
) STRICT, WITHOUT ROWID;

-- Which documents stand under which report, each once.
CREATE TABLE filings (
    space    TEXT    NOT NULL,
    report   TEXT    NOT NULL,
    document TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    filed    TEXT    NOT NULL,
    PRIMARY KEY (space, report, document),
    UNIQUE (space, report, seq),
    FOREIGN KEY (space, document) REFERENCES documents (space, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX filings_document ON filings (space, document);

CREATE TABLE latest (
    space    TEXT NOT NULL,
    report   TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (space, report),
    FOREIGN KEY (space, report, document) REFERENCES filings (space, report, document)
) STRICT, WITHOUT ROWID;

-- line is canonical JSON that holds the hash of the line before, and hash is
-- SHA-256 of line. The other columns repeat what line says, for lookups.
CREATE TABLE audit (
    seq     INTEGER PRIMARY KEY,
    space   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    line    TEXT NOT NULL,
    hash    TEXT NOT NULL
) STRICT;

CREATE INDEX audit_subject ON audit (space, subject, kind);

CREATE TRIGGER audit_does_not_change BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_does_not_shrink BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- INSERT OR REPLACE deletes without asking the trigger above.
CREATE TRIGGER audit_grows_at_its_end BEFORE INSERT ON audit
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM audit)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
