-- What the file may be called, as its template says. Documents from before have none.

ALTER TABLE documents ADD COLUMN name TEXT NOT NULL DEFAULT '';
