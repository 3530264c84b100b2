package sim

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// seen is what a net/http client sees of one answer.
type seen struct {
	Err      string
	Status   int
	Length   int64
	Transfer []string
	Close    bool
	Header   http.Header
	Body     string
	BodyErr  string
}

// look makes one request and reads the body to its end.
func look(c *http.Client, method, url string, header http.Header, body string) seen {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return seen{Err: err.Error()}
	}
	req.Header = header.Clone()
	resp, err := c.Do(req)
	if err != nil {
		return seen{Err: word(err)}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	resp.Header.Del("Date")
	out := seen{
		Status: resp.StatusCode, Length: resp.ContentLength, Transfer: resp.TransferEncoding,
		Close: resp.Close, Header: resp.Header, Body: string(b),
	}
	if err != nil {
		out.BodyErr = word(err)
	}
	return out
}

// word names an error by what it is, not by its addresses.
func word(err error) string {
	for _, known := range []error{io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.ECONNREFUSED, io.EOF} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// bothWays asks a Sim over a socket and without, after a reset, and compares.
func bothWays(t *testing.T, s *Sim, urls ...string) []seen {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	socket := &http.Client{
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: stay,
	}
	defer socket.CloseIdleConnections()
	direct := &http.Client{Transport: s.Transport(), CheckRedirect: stay}
	host := strings.TrimPrefix(server.URL, "http://")
	s.Reset()
	var first, second []seen
	for _, u := range urls {
		first = append(first, look(socket, http.MethodGet, server.URL+u, nil, ""))
	}
	s.Reset()
	for _, u := range urls {
		second = append(second, look(direct, http.MethodGet, "http://"+host+u, nil, ""))
	}
	for i := range urls {
		// DisableKeepAlives makes the server close; that is the client's doing.
		first[i].Header.Del("Connection")
		second[i].Header.Del("Connection")
		first[i].Close = second[i].Close
		if !reflect.DeepEqual(first[i], second[i]) {
			t.Errorf("%s\nsocket: %+v\ndirect: %+v", urls[i], first[i], second[i])
		}
	}
	return second
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// ten is a page of ten in an API with an exact total.
func ten(faults ...Fault) *Sim {
	a := API{Style: Offset, Items: "items", Total: TotalRule{Kind: TotalExact, Path: "total"}}
	a.Size.Default = 10
	return New(NewWorld(25, IntID), a, 1, faults...)
}

func TestBodyFaultsOnTheWire(t *testing.T) {
	whole := look(&http.Client{Transport: ten().Transport()}, http.MethodGet, "http://x/items", nil, "")
	n := len(whole.Body)
	cases := []struct {
		name   string
		effect Effect
		check  func(got seen) string
	}{
		{"declared length, half sent", Half{Framing: ByLength}, func(g seen) string {
			return want(g, int64(n), n/2, io.ErrUnexpectedEOF)
		}},
		{"chunked, half sent", Half{Framing: Chunked}, func(g seen) string {
			return want(g, -1, n/2, io.ErrUnexpectedEOF)
		}},
		{"close-delimited half", Half{Framing: ByClose}, func(g seen) string { return want(g, -1, n/2, nil) }},
		{"rewritten length", Half{Framing: Rewritten}, func(g seen) string { return want(g, int64(n/2), n/2, nil) }},
		{"cut at a byte count", Half{Framing: Rewritten, At: 100}, func(g seen) string { return want(g, 100, 100, nil) }},
		{"reset in the middle", Half{Framing: ByLength, Reset: true}, func(g seen) string {
			return want(g, int64(n), n/2, syscall.ECONNRESET)
		}},
		{"stalled, then cut", Half{Framing: ByLength, Stall: time.Millisecond}, func(g seen) string {
			return want(g, int64(n), n/2, io.ErrUnexpectedEOF)
		}},
		{"reset behind the last byte", ResetAfter{}, func(g seen) string { return want(g, int64(n), n, nil) }},
		{"whole and chunked", Frame{Chunked}, func(g seen) string { return want(g, -1, n, nil) }},
		{"whole to the close", Frame{ByClose}, func(g seen) string { return want(g, -1, n, nil) }},
		{"trailing value", Trailing{"[]"}, func(g seen) string { return want(g, int64(n+2), n+2, nil) }},
		{"byte order mark", BOM{}, func(g seen) string { return want(g, int64(n+3), n+3, nil) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := bothWays(t, ten(Fault{Effect: c.effect}), "/items")[0]
			if msg := c.check(got); msg != "" {
				t.Errorf("%s: %+v", msg, got)
			}
		})
	}
}

// want checks the declared length, the bytes and the end of a body.
func want(g seen, length int64, bytes int, end error) string {
	text := ""
	if end != nil {
		text = end.Error()
	}
	if g.Length != length || len(g.Body) != bytes || g.BodyErr != text {
		return fmt.Sprintf("got length %d, %d bytes, end %q; want %d, %d, %q",
			g.Length, len(g.Body), g.BodyErr, length, bytes, text)
	}
	return ""
}

func TestEveryEffectIsTheSameWithAndWithoutSockets(t *testing.T) {
	effects := []Effect{
		Status{Code: 503}, Status{Code: 429, Retry: RetrySeconds, Wait: 7}, Status{Code: 429, Retry: RetryNonsense, HTML: true},
		NoAnswer{"reset"}, NoAnswer{"closed"}, LoginPage(), ErrorObject("late"), Redirect(302, "http://elsewhere.invalid/"),
		Blank{200}, Blank{204}, Blank{304}, Part{}, Part{Whole: true}, ErrorTail{"ERROR: deadline"},
		Charset{"iso-8859-1"}, Charset{"utf-16"}, Unasked{}, GzipCut{}, GzipCut{Close: true}, GzipCut{Members: true},
		Half{Framing: Chunked, Gzip: true}, Half{Framing: ByLength, Gzip: true}, Half{Framing: ByClose, Gzip: true},
		Half{Framing: Chunked, Reset: true}, Half{Framing: ByClose, Reset: true}, List{"absent"}, List{"null"}, List{"object"}, List{"renamed"},
		Beside{"errors", `["late"]`, true}, Partial{Kind: "shards", Keep: 2}, Nulls{}, Nulls{Add: true}, Notice{`{"notice":1}`},
		TwoKeys{"items"}, TwoKeys{"total"}, WrongTotal{3}, NoTotal{}, Swap{}, Shuffle{}, Drop{Every: 3}, Drop{Every: 3, Agrees: true},
		Lag{4}, Keep{9}, Ignore{Place: true, Size: true}, Short{3}, Empty{}, Repeat{}, Twice{}, EndEarly{},
		Cap{At: 10, Past: CapCollapse}, Cap{At: 10, Past: CapError, Code: 422}, Cap{At: 10, Past: CapRepeat},
	}
	for _, e := range effects {
		t.Run(fmt.Sprintf("%s %+v", e.Name(), e), func(t *testing.T) {
			s := ten(Fault{Effect: e})
			bothWays(t, s, "/items", "/items?offset=10", "/items?offset=20&limit=3", "/items?offset=25", "/elsewhere")
			if s.Counts()[e.Name()] == 0 {
				t.Errorf("%s never fired: %v", e.Name(), s.Counts())
			}
		})
	}
}

func TestRandomWorldsAreTheSameWithAndWithoutSockets(t *testing.T) {
	for seed := range uint64(120) {
		s := seeded(seed, Mixed)
		s.Faults = withoutWaits(s.Faults)
		q := "?" + s.API.normal().Params.Size + "=7"
		bothWays(t, s, "/items", "/items"+q, "/items"+q+"&page=2&offset=7", "/items"+q+"&page=3&offset=14")
	}
}

// withoutWaits leaves out what is tested without waiting, and what a socket
// cannot do.
func withoutWaits(faults []Fault) []Fault {
	var out []Fault
	for _, f := range faults {
		switch e := f.Effect.(type) {
		case Hang:
		case Status:
			if e.Retry == RetryNone || e.Retry == RetrySeconds {
				out = append(out, f)
			}
		case NoAnswer:
			if e.Kind != string(refusedConn) {
				out = append(out, f)
			}
		default:
			out = append(out, f)
		}
	}
	return out
}

func TestHTTP2ShortBody(t *testing.T) {
	s := ten(Fault{Effect: Half{Framing: ByLength}})
	server := httptest.NewUnstartedServer(s)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	resp, err := server.Client().Get(server.URL + "/items")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if resp.ProtoMajor != 2 || !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(b)) >= resp.ContentLength {
		t.Errorf("protocol %s, %d of %d bytes, error %v", resp.Proto, len(b), resp.ContentLength, err)
	}
}
