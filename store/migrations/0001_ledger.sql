-- The ledger of lastdrop, store version 1. Made to be read by people.
--
-- Times are text, RFC 3339 in UTC with milliseconds: they sort as text and
-- SQLite's date functions read them. Verdicts, outcomes and states are words.
-- Rules are JSON text. NULL means "not said", "not asked" or "not known yet",
-- never zero. No secret is stored anywhere.
--
-- Tables
--   runs         one row a run: state, latest figures, latest report
--   checkpoints  one row a run: where it goes on after a stop or a crash
--   slices       one row a slice of a sliced run; none in a plain run
--   pages        one row an attempt: every request and what came of it
--   page_keys    identity hashes of the items that a page added (for resuming)
--   totals       every total that the source declared, believed or not
--   events       what happened to a run and is no attempt
-- Views
--   run_overview    a run in one readable line
--   verdict_counts  attempts of a run by outcome and page verdict
--   page_sizes      the page size over time, with the cause of each change
--   total_drift     how the declared totals of a run moved, source by source
--
-- Everything that one checkpoint brings (rows of pages, page_keys, totals,
-- events, slices, the row of checkpoints, the counters in runs) is written in
-- one transaction: after a crash all of it is there, or nothing.
--
-- The references between tables are declared for people and for deleting by
-- hand (PRAGMA foreign_keys = on; DELETE FROM runs WHERE run = '…'); lastdrop
-- itself does not need them checked.

-- runs: one row a run.
--   run           the id; ids sort by the time when the run began
--   state         running    a process drains it, or a process died doing so
--                 stopped    by a signal or a budget; it goes on when started again
--                 finished   it came to its end; verdict says to which
--                 failed     it could not run; error says why
--                 abandoned  given up for a fresh start
--   verdict       COMPLETE, TRUNCATED, UNKNOWN; NULL while there is no report
--   strength      counted, corroborated, declared, assumed, or NULL
--   exit          the exit status that the report gives
--   items         distinct items held; while it runs: by the last checkpoint
--   total         the last total that was believed, by the report
--   missing       how many are known to be missing, by the report
--   pages         pages held; while it runs: by the last checkpoint
--   attempts      requests made, the held pages among them
--   reach         the most items that the source hands out, where one was met
--   updated       the last checkpoint or change of state
--   seed          16 hexadecimal digits: seeds the identity hashes of the run
--   holder_*      the process that took the run up last; it may be dead: a lock
--                 file beside the store, not this, says whether it lives
--   config        the config, secrets hidden
--   report        the latest report, as JSON
CREATE TABLE runs (
  run          TEXT NOT NULL PRIMARY KEY,
  name         TEXT NOT NULL,
  state        TEXT NOT NULL,
  verdict      TEXT,
  strength     TEXT,
  exit         INTEGER,
  items        INTEGER NOT NULL DEFAULT 0,
  total        INTEGER,
  missing      INTEGER,
  pages        INTEGER NOT NULL DEFAULT 0,
  attempts     INTEGER NOT NULL DEFAULT 0,
  reach        INTEGER,
  started      TEXT NOT NULL,
  updated      TEXT NOT NULL,
  ended        TEXT,
  error        TEXT,
  version      TEXT NOT NULL,
  config_hash  TEXT NOT NULL,
  seed         TEXT NOT NULL,
  holder_pid   INTEGER,
  holder_host  TEXT,
  holder_since TEXT,
  holder_token TEXT,
  config       TEXT NOT NULL,
  report       TEXT
) STRICT;

CREATE INDEX runs_by_name ON runs (name, run);

-- checkpoints: the newest checkpoint of each run.
--   seq       the highest pages.seq that it knows
--   attempts  the number of rows in pages that it knows
--   length    the durable length of the sink in bytes: on resume it is cut to this
--   items     the items in the sink at that length
--   state     where the walk goes on (JSON, for lastdrop alone)
CREATE TABLE checkpoints (
  run      TEXT NOT NULL PRIMARY KEY REFERENCES runs (run) ON DELETE CASCADE,
  at       TEXT NOT NULL,
  seq      INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  length   INTEGER NOT NULL,
  items    INTEGER NOT NULL,
  state    TEXT NOT NULL
) STRICT;

-- slices: the slices of a sliced run. A plain run has one slice, number 0,
-- which is everything, and no row here.
--   parent      the slice that was split into this one; NULL: none
--   key         what the range is over
--   range_from, range_to
--               the bounds as they were sent; NULL: open
--   bounds      [) or []
--   state       open, walking, held, split, irreducible, failed
--   total       what the source declared for this slice; NULL: nothing
--   items       distinct items held in it
CREATE TABLE slices (
  run        TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  slice      INTEGER NOT NULL,
  parent     INTEGER,
  key        TEXT NOT NULL,
  range_from TEXT,
  range_to   TEXT,
  bounds     TEXT NOT NULL,
  state      TEXT NOT NULL,
  total      INTEGER,
  total_kind TEXT,
  items      INTEGER NOT NULL,
  remark     TEXT NOT NULL,
  PRIMARY KEY (run, slice)
) STRICT, WITHOUT ROWID;

-- pages: one row an attempt.
--   seq             1, 2, 3… within the run, in the order of requests
--   at              when the request was made
--   slice, pass     slice 0 is everything; pass 1 is the first walk
--   page, try       the page within its pass, and the how-manieth try at it
--   position        for people: "offset 100", "page 3", "cursor abc…"
--   row_offset      the rows that stand before the position, at least
--   size_asked      the page size asked for; NULL: none
--   items           items in the answer; new: of them never held before in
--                   this run; repeated: of them held before in this pass
--   nulls           nulls in the list; they are no items
--   status          HTTP status; NULL: no answer
--   bytes_read      body bytes on the wire; bytes_expected: as declared
--   total           the total that the answer declared, and its kind: exact,
--                   estimate, lower_bound; NULL: none
--   more            what the answer says about going on: follow, ended, broken,
--                   or nothing
--   outcome         held, half, partial, limited, refused, unused, failed
--   verdict, rules  the page verdict and the rules that fired, with evidence
--   action, cause   what the loop did next, and why, with numbers
CREATE TABLE pages (
  run            TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  seq            INTEGER NOT NULL,
  at             TEXT NOT NULL,
  slice          INTEGER NOT NULL,
  pass           INTEGER NOT NULL,
  page           INTEGER NOT NULL,
  try            INTEGER NOT NULL,
  position       TEXT NOT NULL,
  row_offset     INTEGER NOT NULL,
  url            TEXT NOT NULL,
  size_asked     INTEGER,
  items          INTEGER NOT NULL,
  new            INTEGER NOT NULL,
  repeated       INTEGER NOT NULL,
  nulls          INTEGER NOT NULL,
  status         INTEGER,
  bytes_read     INTEGER NOT NULL,
  bytes_expected INTEGER,
  total          INTEGER,
  total_kind     TEXT,
  more           TEXT NOT NULL,
  outcome        TEXT NOT NULL,
  verdict        TEXT NOT NULL,
  rules          TEXT NOT NULL,
  duration_ms    REAL NOT NULL,
  action         TEXT NOT NULL,
  cause          TEXT NOT NULL,
  PRIMARY KEY (run, seq)
) STRICT;

-- The attempts that did not hold a page are few; this finds them at once.
CREATE INDEX pages_not_held ON pages (run, outcome, seq) WHERE outcome <> 'held';

-- page_keys: 16 bytes for each new item of a page, in order. A table of its
-- own: the blobs would make SELECT * FROM pages unreadable and slow. Nothing
-- but resuming needs them.
CREATE TABLE page_keys (
  run  TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  seq  INTEGER NOT NULL,
  keys BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX page_keys_by_page ON page_keys (run, seq);

-- totals: every total that was seen.
--   n          the order in which they were seen
--   seq        of the attempt; 0: a count request before the run
--   source     where it stood: a path of the body, a header, a count request
--   live       1: believed; 0: not, and remark says why
--   held       distinct items held when it was seen
--   collapsed  1: it fell below what was held already
CREATE TABLE totals (
  run       TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  n         INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  at        TEXT NOT NULL,
  source    TEXT NOT NULL,
  value     INTEGER NOT NULL,
  kind      TEXT NOT NULL,
  live      INTEGER NOT NULL,
  held      INTEGER NOT NULL,
  remark    TEXT NOT NULL,
  collapsed INTEGER NOT NULL,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

-- events: size, wait, pass, step_back, shift, reach, loop, resume, end, stop,
-- note. seq is the attempt after which it happened.
CREATE TABLE events (
  run  TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  n    INTEGER NOT NULL,
  seq  INTEGER NOT NULL,
  at   TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

-- run_overview: the main figures of each run and of its latest report. The
-- figures that only a report has are NULL until there is one.
CREATE VIEW run_overview AS
SELECT
  run, name, state, verdict, strength, items, total, missing, pages, attempts,
  report ->> '$.pages.half'      AS half,
  report ->> '$.pages.failed'    AS failed,
  report ->> '$.items.received'  AS received,
  report ->> '$.items.repeated'  AS repeated,
  report ->> '$.items.written'   AS written,
  report ->> '$.page_size.start' AS size_start,
  report ->> '$.page_size.min'   AS size_min,
  report ->> '$.page_size.last'  AS size_last,
  reach,
  report ->> '$.requests'        AS requests,
  report ->> '$.passes'          AS passes,
  report ->> '$.evidence[0].text' AS evidence,
  report ->> '$.output[0].path'  AS output,
  started, ended,
  round((julianday(coalesce(ended, updated)) - julianday(started)) * 86400, 1) AS seconds,
  error
FROM runs;

-- verdict_counts: how many attempts of a run came to which outcome, and what
-- the judge said of them.
CREATE VIEW verdict_counts AS
SELECT run, outcome, verdict, count(*) AS attempts, sum(items) AS items,
  sum(new) AS new, min(seq) AS first_seq, max(seq) AS last_seq
FROM pages
GROUP BY run, outcome, verdict;

-- page_sizes: one row for the first size of a slice and one for each change.
--   size_before  NULL: the start
--   seq          the first attempt with the new size
--   cause        why: the cause that the attempt before gives
CREATE VIEW page_sizes AS
SELECT s.run, s.slice, s.seq, s.at, s.size_before, s.size, b.outcome AS outcome_before, coalesce(b.cause, 'start') AS cause
FROM (
  SELECT run, slice, seq, at, size_asked AS size, lag(size_asked) OVER w AS size_before, lag(seq) OVER w AS seq_before
  FROM pages
  WINDOW w AS (PARTITION BY run, slice ORDER BY seq)
) AS s
LEFT JOIN pages AS b ON b.run = s.run AND b.seq = s.seq_before
WHERE s.size IS NOT s.size_before;

-- total_drift: for each run and source: the first, last, least and greatest
-- total that was believed (and the kind of the last), how often it moved, and
-- how many were not believed or had collapsed.
CREATE VIEW total_drift AS
SELECT run, source,
  (SELECT value FROM totals AS o WHERE o.run = t.run AND o.source = t.source AND live ORDER BY n LIMIT 1) AS first,
  (SELECT value FROM totals AS o WHERE o.run = t.run AND o.source = t.source AND live ORDER BY n DESC LIMIT 1) AS last,
  (SELECT kind FROM totals AS o WHERE o.run = t.run AND o.source = t.source AND live ORDER BY n DESC LIMIT 1) AS kind,
  min(value) FILTER (WHERE live) AS min,
  max(value) FILTER (WHERE live) AS max,
  count(*) FILTER (WHERE live) AS seen,
  coalesce(sum(value <> (SELECT value FROM totals AS o
    WHERE o.run = t.run AND o.source = t.source AND live AND o.n < t.n ORDER BY n DESC LIMIT 1)) FILTER (WHERE live), 0) AS moved,
  count(*) FILTER (WHERE NOT live) AS not_believed,
  sum(collapsed) AS collapsed
FROM totals AS t
GROUP BY run, source;
