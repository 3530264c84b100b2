package pull_test

import (
	"slices"
	"strings"
	"testing"
)

// scenarioIDs is every scenario that there is.
const scenarioIDs = `
B001 B002 B007 B008 B010 B011 B013 B014 B016 B017 B019 B020 B022 B023 B025 B028 B029 B032 B034 B035 B037 B040 B041 B041b
B043 B047 B049 B050 B052 B053 B055 B055b B056 B058 B059 B061 B062 B064 B065 B067 B068 B070 B071 B073 B074 B076 B077 B080
B082 B083 B085 B086 B088 B089 B091 B094 B095 B097 B098 B100 B101 B104 B106 B107 B115 B119 B122 B124 B127 B128 B130`

// TestEveryScenarioIsInOneTable holds the tables against the list of ids.
func TestEveryScenarioIsInOneTable(t *testing.T) {
	tables := map[string][]string{}
	put := func(id, table string) {
		if !slices.Contains(tables[id], table) {
			tables[id] = append(tables[id], table)
		}
	}
	for _, s := range scenarios() {
		put(s.id, "scenarios")
	}
	for _, s := range waiting() {
		put(s.id, "waiting")
		if s.issue == "" {
			t.Errorf("%s waits for nothing", s.id)
		}
	}
	ids := strings.Fields(scenarioIDs)
	for _, id := range ids {
		if len(tables[id]) != 1 {
			t.Errorf("%s is in the tables %q, and belongs into one", id, tables[id])
		}
		delete(tables, id)
	}
	for id := range tables {
		t.Errorf("%s is no scenario", id)
	}
}
