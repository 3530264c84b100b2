package configs

import (
	"encoding/json"
	"errors"
	"time"

	"lastdrop/internal/daemon/schedule"
)

// Schedule says when the daemon runs a pull, and what becomes of fires that
// find it running, or find no daemon. It is written as a cron expression alone,
// or as a mapping.
type Schedule struct {
	Cron    string   `json:"cron" need:"say when, e.g. cron: \"0 3 * * *\"" doc:"Five fields (minute, hour, day of month, month, day of week), or @hourly, @daily, @weekly, @monthly, @yearly."`
	Zone    string   `json:"zone,omitempty" doc:"The time zone of cron, e.g. Europe/Berlin. Default: UTC. A time that clocks leap over fires by the offset before; one that comes twice fires once."`
	Jitter  Duration `json:"jitter,omitempty" doc:"Delay each start by less than this: by the same for the same pull and fire, and never past the next fire. Default: 0."`
	Overlap string   `json:"overlap,omitempty" enum:"skip queue" doc:"A fire while the pull still runs: skip (default) makes none of it, queue lets it wait."`
	CatchUp string   `json:"catch_up,omitempty" enum:"none one all" doc:"Fires that found no daemon: none (default) drops them, one makes up for the newest, all for each, at most 100."`
}

type plainSchedule Schedule

func (s *Schedule) decode(r *reading, n *node) {
	switch n.kind {
	case text:
		s.Cron = n.text
	case mapping:
		r.structure(n, (*plainSchedule)(s))
	default:
		r.fail(n, "must be a cron expression or a mapping, not "+n.kind.String(), `write it in quotes, e.g. "0 3 * * *"`)
	}
}

// MarshalJSON writes the expression where it says everything, else the mapping.
func (s Schedule) MarshalJSON() ([]byte, error) {
	if alone := (Schedule{Cron: s.Cron, Zone: "UTC", Overlap: schedule.Skip, CatchUp: schedule.None}); s == alone {
		return json.Marshal(s.Cron)
	}
	return json.Marshal(plainSchedule(s))
}

// Spec gives the schedule as package schedule takes it.
func (s *Schedule) Spec() schedule.Spec {
	return schedule.Spec{Cron: s.Cron, Zone: s.Zone, Jitter: time.Duration(s.Jitter), Overlap: s.Overlap, CatchUp: s.CatchUp}
}

func (r *reading) checkSchedule(s *Schedule) {
	n := r.nodes["/schedule"]
	if s == nil || n.kind != text && n.kind != mapping {
		return
	}
	_, err := schedule.Parse(s.Spec())
	joined, _ := err.(interface{ Unwrap() []error })
	if joined == nil {
		return
	}
	for _, one := range joined.Unwrap() {
		e, ok := errors.AsType[*schedule.Error](one)
		path := "schedule." + e.Field
		if n.kind == text {
			path = "schedule"
		}
		if !ok || !r.said(path) {
			continue // a default is good; that cron is missing is noted
		}
		msg := e.Msg
		if v := r.nodes[at(path)]; v != nil && r.secrets.Has(v.text) { // the message may quote a part of it
			msg = r.quote(v.text) + " is not taken"
		}
		r.bad(path, msg, e.Cure)
	}
}
