package store

import (
	"context"
	"database/sql"
)

// A Child is one value of a run that is a fan-out.
type Child struct {
	N     int    // its place in the list, from 1
	Value string // what stands in the place of the placeholder
	Run   string // the run that drains it; "": none has begun
}

// Children lists the values of a fan-out, in order; of any other run there are
// none.
func (r *Reader) Children(ctx context.Context, run string) ([]Child, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT n, value, coalesce(child, '') FROM children WHERE run = ? ORDER BY n`, run)
	if err != nil {
		return nil, r.file.explain(err)
	}
	all, err := collect(rows, func(rows *sql.Rows) (c Child, err error) {
		err = rows.Scan(&c.N, &c.Value, &c.Run)
		return c, err
	})
	return all, r.file.explain(err)
}

func (r *Run) putChildren(ctx context.Context, stmt *sql.Stmt, children []Child) error {
	for _, c := range children {
		if _, err := stmt.ExecContext(ctx, r.id, c.N, c.Value, nullText(c.Run)); err != nil {
			return err
		}
	}
	return nil
}
