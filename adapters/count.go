package adapters

import "fmt"

// ReadCount reads the answer to a count request of its own (total.url): whole,
// valid JSON with a 2xx status. The error is a *Trouble where the answer holds
// an error object or no total at its path.
func ReadCount(spec TotalSpec, resp Response) (Total, error) {
	spec.URL = ""
	c := newCompiler(&Spec{Total: spec, Items: Items{Format: formatJSON}})
	total := newCounter(c)
	a, err := openBeside(c, resp)
	if err != nil {
		return Total{}, err
	}
	t, ok := total.read(a, FromRequest, 0)
	if !ok {
		return Total{}, &Trouble{Kind: TroubleMissing, Msg: fmt.Sprintf("no total at %q: %s", spec.Path+spec.Header, oneLine(string(resp.Body)))}
	}
	return t, nil
}
