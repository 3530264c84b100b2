package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A Reader looks into a store. It never writes to it.
type Reader struct {
	file *file
	db   *sql.DB
}

// OpenReader opens the store at path for reading. It makes nothing: where
// there is no store it is ErrNoStore. A store of an older version is brought
// up to date first. The caller closes the reader.
//
// Errors: as Open.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	f, exists, err := locate(path, busyTimeout)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, &fault{path, ErrNoStore, "there is no store", nil}
	}
	all, err := loadMigrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	db, err := f.openReaders()
	if err != nil {
		return nil, err
	}
	r := &Reader{file: f, db: db}
	version, err := f.identify(ctx, db, len(all))
	if err == nil && version < len(all) {
		err = f.upgrade(ctx, all)
	}
	if err != nil {
		_ = r.Close() // the first error counts
		return nil, err
	}
	return r, nil
}

// upgrade brings an older store up to date for a reader.
func (f *file) upgrade(ctx context.Context, all []migration) error {
	db, err := f.openWriter()
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // what it wrote is durable already
	return f.migrate(ctx, db, all)
}

// Close closes the reader.
func (r *Reader) Close() error { return r.db.Close() }

// Info is a run as it stands in the store.
type Info struct {
	Run        string             `json:"run"`
	Name       string             `json:"name"`
	State      string             `json:"state"`
	Verdict    *judge.Verdict     `json:"verdict"` // nil: there is no report
	Strength   reconcile.Strength `json:"strength"`
	Exit       *int64             `json:"exit"`
	Items      int64              `json:"items"` // distinct ones held
	Total      *int64             `json:"total"`
	Missing    *int64             `json:"missing"`
	Pages      int64              `json:"pages"` // held
	Attempts   int64              `json:"attempts"`
	Reach      *int64             `json:"reach"`
	Started    time.Time          `json:"started"`
	Updated    time.Time          `json:"updated"` // the last checkpoint or change of state
	Ended      *time.Time         `json:"ended"`
	Error      string             `json:"error,omitempty"`
	Version    string             `json:"version"`
	ConfigHash string             `json:"config_hash"`
	// Holder is the living process that drains the run; nil: none does. A run
	// that is running without a holder was killed, and can be taken up.
	Holder *Holder `json:"holder"`

	seed       string
	since      time.Time // the mark that an incremental run began with
	lastHolder Holder    // who took it up last; it may be dead
}

// Unfinished reports whether the run can be taken up, now or when its holder
// lets it go.
func (i Info) Unfinished() bool { return i.State == Running || i.State == Stopped }

const selectInfo = `SELECT run, name, state, verdict, strength, exit, items, total, missing, pages, attempts, reach,
	started, updated, ended, error, version, config_hash, seed, holder_pid, holder_host, holder_since, since FROM runs`

func scanInfo(rows *sql.Rows) (Info, error) {
	var i Info
	var verdict, strength, ended, failure, host, held, since sql.NullString
	var exit, total, missing, reach, pid sql.NullInt64
	var started, updated string
	err := rows.Scan(&i.Run, &i.Name, &i.State, &verdict, &strength, &exit, &i.Items, &total, &missing, &i.Pages, &i.Attempts,
		&reach, &started, &updated, &ended, &failure, &i.Version, &i.ConfigHash, &i.seed, &pid, &host, &held, &since)
	if err != nil {
		return Info{}, err
	}
	if verdict.Valid {
		i.Verdict = new(judge.Verdict)
		if err := i.Verdict.UnmarshalText([]byte(verdict.String)); err != nil {
			return Info{}, err
		}
	}
	i.Strength, _ = reconcile.ParseStrength(strength.String)
	i.Exit, i.Total, i.Missing, i.Reach = pointer(exit), pointer(total), pointer(missing), pointer(reach)
	i.Started, i.Updated, i.Error = parseStamp(started), parseStamp(updated), failure.String
	if ended.Valid {
		t := parseStamp(ended.String)
		i.Ended = &t
	}
	i.lastHolder = Holder{PID: int(pid.Int64), Host: host.String, Since: parseStamp(held.String)}
	i.since = parseStamp(since.String)
	return i, nil
}

// nameHolder finds out whether the run's last holder still holds it.
func (r *Reader) nameHolder(i *Info) {
	if i.State == Running && isHeld(r.file.lockName(i.Run)) {
		holder := i.lastHolder
		i.Holder = &holder
	}
}

// infos runs a query for runs and names their holders.
func (r *Reader) infos(ctx context.Context, clauses string, args ...any) ([]Info, error) {
	rows, err := r.db.QueryContext(ctx, selectInfo+clauses, args...)
	if err != nil {
		return nil, r.file.explain(err)
	}
	all, err := collect(rows, scanInfo)
	for i := range all {
		r.nameHolder(&all[i])
	}
	return all, r.file.explain(err)
}

// RunFilter says which runs are wanted. The zero value wants all.
type RunFilter struct {
	Name string // "": any
	// UpTo is the newest run that counts; "": any. New runs get higher ids, so that
	// a list up to the newest run of one moment is the list of that moment.
	UpTo   string
	Before string // only runs with a lower id; "": from the newest
	Limit  int    // 0: no limit
}

// A RunList is a part of the runs that a filter lets through, newest first.
type RunList struct {
	Runs  []Info
	Total int64 // let through by Name and UpTo, wherever they stand
}

// Runs lists runs, newest first. To go on, ask Before the last one, UpTo the first
// of all.
func (r *Reader) Runs(ctx context.Context, f RunFilter) (RunList, error) {
	var list RunList
	query, args := f.count()
	err := r.db.QueryRowContext(ctx, query, args...).Scan(&list.Total)
	if err != nil {
		return list, r.file.explain(err)
	}
	query, args = f.list()
	list.Runs, err = r.infos(ctx, query, args...)
	return list, err
}

func (f RunFilter) count() (string, []any) {
	where, args := f.where()
	return `SELECT count(*) FROM runs` + where, args
}

func (f RunFilter) list() (string, []any) {
	where, args := f.where()
	if f.Before != "" {
		where, args = where+` AND run < ?`, append(args, f.Before)
	}
	return where + ` ORDER BY run DESC LIMIT ?`, append(args, sqlLimit(f.Limit))
}

// where is the condition for a name and the newest run.
func (f RunFilter) where() (string, []any) {
	where, args := ` WHERE run >= ''`, []any(nil)
	if f.Name != "" {
		where, args = ` WHERE name = ?`, append(args, f.Name)
	}
	if f.UpTo != "" {
		where, args = where+` AND run <= ?`, append(args, f.UpTo)
	}
	return where, args
}

// sqlLimit is a limit for SQL, where a negative one is none.
func sqlLimit(n int) int {
	if n <= 0 {
		return -1
	}
	return n
}

// RunByID finds the run that people mean: "last" is the newest of all; else a
// whole id; else a pull's name, which means its newest run; else the start of
// an id, if only one has it.
//
// Errors: ErrNoRun; ErrAmbiguous, whose text lists the runs.
func (r *Reader) RunByID(ctx context.Context, ref string) (Info, error) {
	if ref == "last" {
		return r.newest(ctx, "there are no runs yet", ` ORDER BY run DESC LIMIT 1`)
	}
	id := strings.ToLower(ref)
	found, err := r.infos(ctx, ` WHERE run = ?1 OR name = ?2 ORDER BY run = ?1 DESC, run DESC LIMIT 1`, id, ref)
	if err != nil {
		return Info{}, err
	}
	if len(found) == 0 && id != "" {
		found, err = r.infos(ctx, ` WHERE substr(run, 1, length(?1)) = ?1 ORDER BY run DESC`, id)
		if err != nil {
			return Info{}, err
		}
	}
	switch len(found) {
	case 0:
		return Info{}, &fault{r.file.path, ErrNoRun, fmt.Sprintf("no run is called %q: lastdrop runs lists them", ref), nil}
	case 1:
		return found[0], nil
	}
	return Info{}, &fault{r.file.path, ErrAmbiguous, ambiguous(ref, found), nil}
}

// ambiguous lists the runs that a reference could mean, the newest ten.
func ambiguous(ref string, found []Info) string {
	const most = 10
	var names []string
	for _, i := range found[:min(most, len(found))] {
		names = append(names, i.Run+" ("+i.Name+")")
	}
	text := fmt.Sprintf("%q could be any of %d runs: %s", ref, len(found), strings.Join(names, ", "))
	if len(found) > most {
		text += fmt.Sprintf(" and %d older ones", len(found)-most)
	}
	return text + "; write more of it"
}

// newest is the first run that a query gives, or ErrNoRun with a text.
func (r *Reader) newest(ctx context.Context, none, clauses string, args ...any) (Info, error) {
	found, err := r.infos(ctx, clauses, args...)
	if err != nil {
		return Info{}, err
	}
	if len(found) == 0 {
		return Info{}, &fault{r.file.path, ErrNoRun, none, nil}
	}
	return found[0], nil
}

// LastComplete is the newest finished run of a name that is COMPLETE. Without
// one it is ErrNoRun.
func (r *Reader) LastComplete(ctx context.Context, name string) (Info, error) {
	return r.newest(ctx, fmt.Sprintf("no run of %s is COMPLETE yet", name),
		` WHERE name = ? AND state = 'finished' AND verdict = 'COMPLETE' ORDER BY run DESC LIMIT 1`, name)
}

// Report is the latest report of a run, by its whole id. A run that goes on,
// or was killed, has none: ErrNoReport.
func (r *Reader) Report(ctx context.Context, run string) (reconcile.Report, error) {
	var text sql.NullString
	var report reconcile.Report
	err := r.db.QueryRowContext(ctx, `SELECT max(report) FROM runs WHERE run = ?`, run).Scan(&text)
	if err != nil {
		return report, r.file.explain(err)
	}
	if !text.Valid {
		return report, &fault{r.file.path, ErrNoReport, fmt.Sprintf("run %s has no report yet", run), nil}
	}
	if err := json.Unmarshal([]byte(text.String), &report); err != nil {
		return report, &fault{r.file.path, ErrCorrupt, fmt.Sprintf("the report of run %s cannot be read", run), err}
	}
	return report, nil
}
