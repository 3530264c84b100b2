package adapterstest

import (
	"errors"
	"strings"
	"testing"

	"lastdrop/adapters"
)

// noList serves answers whose list is missing or no list: never zero items.
func (c *check) noList(t *testing.T) {
	for _, body := range []string{`{"other":[1,2],"deep":{"er":[]}}`, `{}`, `"text"`, `null`, `5`} {
		page, err := c.read(t, nil, body)
		trouble := asTrouble(err)
		if trouble == nil || trouble.Kind != adapters.TroubleMissing {
			t.Errorf("%s was read as %+v, %v; want a missing list", body, page, fmtTrouble(err))
			continue
		}
		if strings.Contains(body, "other") && !strings.Contains(trouble.Msg, "other (2)") {
			t.Errorf("%s: the message does not name the lists that are there: %s", body, trouble.Msg)
		}
	}
}

// errorObject serves error objects with a 200, beside a good page too.
func (c *check) errorObject(t *testing.T) {
	whole := string(c.ask(t, adapters.Position{}, 4, 0).resp.Body)
	for _, tc := range []struct {
		member string
		want   adapters.TroubleKind
	}{
		{`"error":"boom"`, adapters.TroubleError},
		{`"error":{"message":"no such field"}`, adapters.TroubleError},
		{`"errors":[{"message":"Timeout on validation of query"}]`, adapters.TroublePassing},
		{`"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]`, adapters.TroublePassing},
		{`"error":{"code":"MAX_COST","message":"the query exceeds the maximum cost"}`, adapters.TroubleCost},
		{`"error":{"code":"badResumptionToken"}`, adapters.TroubleExpired},
	} {
		bodies := []string{"{" + tc.member + "}"}
		if strings.HasPrefix(whole, "{") {
			bodies = append(bodies, "{"+tc.member+","+whole[1:])
		}
		for _, body := range bodies {
			page, err := c.read(t, nil, body)
			if trouble := asTrouble(err); trouble == nil || trouble.Kind != tc.want {
				t.Errorf("%.120s was read as %+v, %v; want trouble of the kind %v", body, page, fmtTrouble(err), tc.want)
			}
		}
	}
	for _, member := range []string{`"error":null`, `"error":""`, `"errors":[]`, `"errors":{}`, `"error":false`, `"error":0`} {
		if strings.HasPrefix(whole, "{") {
			if _, err := c.read(t, nil, "{"+member+","+whole[1:]); err != nil {
				t.Errorf("%s beside a good page: %v", member, fmtTrouble(err))
			}
		}
	}
}

// sayings serves answers with end words, true and false, and broken
// continuations.
func (c *check) sayings(t *testing.T) {
	for _, say := range c.Says {
		t.Run(say.Name, func(t *testing.T) {
			page, err := c.read(t, say.Header, say.Body)
			if err != nil {
				t.Fatalf("%s: %v", say.Body, fmtTrouble(err))
			}
			if page.Next.State != say.Want {
				t.Errorf("%v %s was read as %q (%+v), want %q", say.Header, say.Body, page.Next.State, page.Next, say.Want)
			}
			if page.Next.State == adapters.Broken && page.Next.Reason == "" {
				t.Errorf("a broken continuation has no reason")
			}
		})
	}
}

func asTrouble(err error) *adapters.Trouble {
	var t *adapters.Trouble
	if errors.As(err, &t) {
		return t
	}
	return nil
}
