package judge

import "strconv"

// The caveats of a resume point.
const (
	caveatOwn     = "the server's own continuation: judge the next answer too"
	caveatDerived = "assumes offset semantics and a stable order; a hard cap may stand in the way, so judge the next answer too"
)

// act gives the action and the resume point: the first row that fits.
func (f *facts) act(v Verdict) (Action, *Resume) {
	r := f.s.Response
	if f.errorAnswer() {
		return actOnStatus(r.Status.N), nil
	}
	if r.ParseOK == No {
		return ActionRetrySmaller, nil
	}
	if on := f.continuation(); on != nil {
		return ActionContinue, on
	}
	for _, m := range f.measures() {
		if m.short() {
			return ActionRetrySmaller, nil
		}
	}
	switch {
	case r.Items.is(0) && r.Total.OK && r.Total.N > 0:
		return ActionRetry, nil
	case f.exact && f.missing(f.end) > 0:
		return ActionContinue, &Resume{Kind: "offset", Value: strconv.FormatInt(f.end, 10), Caveat: caveatDerived}
	case v == Complete:
		return ActionNone, nil
	default:
		return ActionFindTotal, nil
	}
}

// actOnStatus gives the action for a status that is not 2xx.
func actOnStatus(status int64) Action {
	switch {
	case status == 429 || status == 503:
		return ActionWait
	case status == 408 || status == 425 || status >= 500 && status <= 599:
		return ActionRetry
	default:
		return ActionFixRequest
	}
}

// continuation gives the server's own way on, or nil.
func (f *facts) continuation() *Resume {
	r := f.s.Response
	own := func(kind, value string) *Resume { return &Resume{Kind: kind, Value: value, Caveat: caveatOwn} }
	if r.NextURL.filled() {
		return own("url", r.NextURL.S)
	}
	links, _ := f.next()
	for _, l := range links {
		if l.URL != "" {
			return own("url", l.URL)
		}
	}
	switch {
	case r.NextCursor.filled():
		return own("cursor", r.NextCursor.S)
	case r.NextPage.OK:
		return own("page", r.NextPage.String())
	case r.NextOffset.OK:
		return own("offset", r.NextOffset.String())
	}
	return nil
}
