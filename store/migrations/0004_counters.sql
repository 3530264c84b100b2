-- Store version 4: a huge run is looked at by its counters.
--
-- Tables
--   size_steps   one row each time that the page size of a slice changed
--   total_drift  one row a source of totals (a view before)
--
-- What people ask first (how many attempts came to what, how the page size and
-- the totals moved) is kept up with every checkpoint, in the same transaction:
-- to count it together takes seconds where a run has a million pages.

-- checkpoints: the attempts that the checkpoint knows, added up.
--   held, half, partial, limited, refused, unused, failed
--                                    attempts by their outcome
--   received, new, repeated, nulls   as in pages, of the held ones
--   bytes                            of bodies on the wire, of all attempts
--   passes                           the highest pass
--   keys                             hashes in page_keys
ALTER TABLE checkpoints ADD COLUMN held     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN half     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN partial  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN limited  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN refused  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN unused   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN failed   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN received INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN new      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN repeated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN nulls    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN bytes    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN passes   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN keys     INTEGER NOT NULL DEFAULT 0;

UPDATE checkpoints SET (held, half, partial, limited, refused, failed, received, new, repeated, nulls, bytes, passes) = (
  SELECT
    count(*) FILTER (WHERE outcome = 'held'), count(*) FILTER (WHERE outcome = 'half'),
    count(*) FILTER (WHERE outcome = 'partial'), count(*) FILTER (WHERE outcome = 'limited'),
    count(*) FILTER (WHERE outcome = 'refused'), count(*) FILTER (WHERE outcome = 'failed'),
    coalesce(sum(items) FILTER (WHERE outcome = 'held'), 0), coalesce(sum(p.new) FILTER (WHERE outcome = 'held'), 0),
    coalesce(sum(p.repeated) FILTER (WHERE outcome = 'held'), 0), coalesce(sum(p.nulls) FILTER (WHERE outcome = 'held'), 0),
    coalesce(sum(bytes_read), 0), coalesce(max(pass), 0)
  FROM pages AS p WHERE p.run = checkpoints.run);

UPDATE checkpoints SET keys = (
  SELECT coalesce(sum(length(k.keys)) / 16, 0) FROM page_keys AS k WHERE k.run = checkpoints.run);

-- page_keys: from this version on a row has the hashes of several attempts of
-- one checkpoint; seq is the last of them. A row of an older version has those
-- of one attempt. They are there as long as the run can go on, and go when it
-- has come to its end.

-- size_steps: the first page size of each slice, and each change.
--   seq   the first attempt with the size
--   size  as in pages.size_asked; NULL: none was asked for any more
CREATE TABLE size_steps (
  run   TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  seq   INTEGER NOT NULL,
  slice INTEGER NOT NULL,
  size  INTEGER,
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

INSERT INTO size_steps (run, seq, slice, size) SELECT run, seq, slice, size FROM page_sizes;

-- page_sizes: the steps with their causes, as before.
DROP VIEW page_sizes;
CREATE VIEW page_sizes AS
SELECT s.run, s.slice, s.seq, p.at, s.size_before, s.size, b.outcome AS outcome_before, coalesce(b.cause, 'start') AS cause
FROM (
  SELECT run, slice, seq, size, lag(size) OVER w AS size_before, lag(seq) OVER w AS step_before
  FROM size_steps
  WINDOW w AS (PARTITION BY run, slice ORDER BY seq)
) AS s
JOIN pages AS p ON p.run = s.run AND p.seq = s.seq
LEFT JOIN pages AS b ON b.run = s.run AND b.seq = (
  SELECT a.seq FROM pages AS a
  WHERE a.run = s.run AND a.seq < s.seq AND a.seq >= s.step_before AND a.slice = s.slice
  ORDER BY a.seq DESC LIMIT 1);

-- total_drift: for each run and source: the first, last, least and greatest
-- total that was believed (and the kind of the last), how often it moved, and
-- how many were not believed or had collapsed.
CREATE TABLE total_drift_4 (
  run          TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  source       TEXT NOT NULL,
  first        INTEGER,
  last         INTEGER,
  kind         TEXT,
  min          INTEGER,
  max          INTEGER,
  seen         INTEGER NOT NULL,
  moved        INTEGER NOT NULL,
  not_believed INTEGER NOT NULL,
  collapsed    INTEGER NOT NULL,
  PRIMARY KEY (run, source)
) STRICT, WITHOUT ROWID;

INSERT INTO total_drift_4 SELECT run, source, first, last, kind, min, max, seen, moved, not_believed, collapsed FROM total_drift;
DROP VIEW total_drift;
ALTER TABLE total_drift_4 RENAME TO total_drift;
