package judge

import (
	"fmt"
	"strings"
)

// A selfCase is one built-in case: a snapshot and what the judge must make of
// it.
type selfCase struct {
	name     string
	snapshot string // in the form that Decode reads
	verdict  Verdict
	fires    string // every rule that fires, in order, as often as it does
	holds    string // the rules that are nearly, but not, fired
	action   Action
}

// SelfTest judges the built-in cases and returns how many came out right, of
// how many, with one line for each that did not. The last case is that every
// rule was fired and held back at least once.
func SelfTest() (passed, total int, failures []string) {
	return selfTest(selfCases)
}

func selfTest(cases []selfCase) (passed, total int, failures []string) {
	check := func(name, problem string) {
		total++
		if problem == "" {
			passed++
			return
		}
		failures = append(failures, name+": "+problem)
	}
	for _, c := range cases {
		check(c.name, c.run())
	}
	check("every rule", uncovered(cases))
	return passed, total, failures
}

// run gives "" or what came out wrong.
func (c selfCase) run() string {
	snapshots, err := Decode([]byte(c.snapshot))
	if err != nil {
		return err.Error()
	}
	if len(snapshots) != 1 {
		return fmt.Sprintf("%d snapshots", len(snapshots))
	}
	r := Judge(snapshots[0])
	var ids []string
	for _, rule := range r.Rules {
		ids = append(ids, rule.ID)
	}
	got := fmt.Sprintf("%s [%s] %s", r.Verdict, strings.Join(ids, " "), r.Action)
	if want := fmt.Sprintf("%s [%s] %s", c.verdict, c.fires, c.action); got != want {
		return fmt.Sprintf("got %s, want %s", got, want)
	}
	return ""
}

// uncovered names the rules that no case fires, or that none holds back.
func uncovered(cases []selfCase) string {
	fired, held := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		for _, id := range strings.Fields(c.fires) {
			fired[id] = true
		}
		for _, id := range strings.Fields(c.holds) {
			held[id] = !strings.Contains(c.fires, id) || held[id]
		}
	}
	var missing []string
	for _, r := range RuleTable {
		if !fired[r.ID] {
			missing = append(missing, r.ID+" is never fired")
		}
		if !held[r.ID] {
			missing = append(missing, r.ID+" is never held back")
		}
	}
	return strings.Join(missing, ", ")
}
