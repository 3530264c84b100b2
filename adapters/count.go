package adapters

import "fmt"

// ReadCount reads the answer to a count request of its own (total.url): whole,
// valid JSON with a 2xx status. The error is a *Trouble where the answer holds
// an error object or no total at its path.
func ReadCount(spec TotalSpec, resp Response) (Total, error) {
	spec.URL = ""
	c := newCompiler(&Spec{Total: spec, Items: Items{Format: formatJSON}})
	r := Reader{errors: newErrors(c), total: newCounter(c)}
	if c.err != nil {
		return Total{}, c.err
	}
	r.spec.Items.Format = formatJSON
	r.paths = c.paths
	a, err := r.open(resp)
	if err != nil {
		return Total{}, err
	}
	if t := r.trouble(a); t != nil {
		return Total{}, t
	}
	t, ok := r.total.read(a, FromRequest, 0)
	if !ok {
		return Total{}, &Trouble{Kind: TroubleMissing, Msg: fmt.Sprintf("no total at %q: %s", spec.Path+spec.Header, oneLine(string(resp.Body)))}
	}
	return t, nil
}
