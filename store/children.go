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
	part, err := r.ChildrenIn(ctx, run, Span{})
	return part.bare(), err
}

func (r *Run) putChildren(ctx context.Context, stmt *sql.Stmt, children []Child) error {
	for _, c := range children {
		if _, err := stmt.ExecContext(ctx, r.id, c.N, c.Value, nullText(c.Run)); err != nil {
			return err
		}
	}
	return nil
}
