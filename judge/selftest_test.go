package judge

import (
	"strings"
	"testing"
)

func TestSelfTest(t *testing.T) {
	passed, total, failures := SelfTest()
	if passed != total || len(failures) > 0 {
		t.Errorf("selftest %d/%d:\n%s", passed, total, strings.Join(failures, "\n"))
	}
	if total < 40 || total != len(selfCases)+1 {
		t.Errorf("%d cases, want at least 40", total)
	}
}

func TestSelfTestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range selfCases {
		if seen[c.name] {
			t.Errorf("two cases are named %q", c.name)
		}
		seen[c.name] = true
	}
}

// A self-test that cannot fail proves nothing.
func TestSelfTestCanFail(t *testing.T) {
	good := selfCases[0]
	bad := map[string]func(c *selfCase){
		"a wrong verdict":     func(c *selfCase) { c.verdict = Complete },
		"a wrong rule":        func(c *selfCase) { c.fires = "TR002" },
		"a wrong action":      func(c *selfCase) { c.action = ActionNone },
		"no snapshot":         func(c *selfCase) { c.snapshot = "[]" },
		"two snapshots":       func(c *selfCase) { c.snapshot = `[{"kind":"list"},{"kind":"list"}]` },
		"a snapshot misspelt": func(c *selfCase) { c.snapshot = `{"kind":"list","respons":{}}` },
	}
	for name, spoil := range bad {
		c := good
		spoil(&c)
		if c.run() == "" {
			t.Errorf("%s passes", name)
		}
		passed, total, failures := selfTest([]selfCase{good, c})
		if total != 3 || passed != 1 || len(failures) != 2 {
			t.Errorf("%s: %d/%d, %d failures: want 1/3, for the coverage fails too", name, passed, total, len(failures))
		}
	}
}

func TestSelfTestDemandsCoverage(t *testing.T) {
	text := uncovered(nil)
	for _, r := range RuleTable {
		if !strings.Contains(text, r.ID+" is never fired") || !strings.Contains(text, r.ID+" is never held back") {
			t.Errorf("%s is not missed: %s", r.ID, text)
		}
	}
	fires := []selfCase{{fires: "TR001", holds: "TR001"}}
	if text := uncovered(fires); strings.Contains(text, "TR001 is never fired") || !strings.Contains(text, "TR001 is never held back") {
		t.Errorf("a rule that fires counts as held back: %s", text)
	}
}
