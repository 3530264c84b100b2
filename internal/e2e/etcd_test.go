//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func in64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// A kv server, as its JSON gateway is spoken to.
type kv struct{ *server }

func (s kv) call(name string, body map[string]any) ([]byte, error) {
	_, answer, err := ask("POST", s.base+"/v3/kv/"+name, body)
	return answer, err
}

func (s kv) put(key string) error {
	_, err := s.call("put", map[string]any{"key": in64(key), "value": in64("value of " + key)})
	return err
}

func (s kv) remove(key string) error {
	_, err := s.call("deleterange", map[string]any{"key": in64(key)})
	return err
}

// forget compacts all that is older than the newest revision, so that no
// earlier one can be read any more.
func (s kv) forget() error {
	answer, err := s.call("range", map[string]any{"key": in64("x")})
	if err != nil {
		return err
	}
	var at struct{ Header struct{ Revision string } }
	if err := json.Unmarshal(answer, &at); err != nil {
		return err
	}
	_, err = s.call("compaction", map[string]any{"revision": at.Header.Revision, "physical": true})
	return err
}

// keys reads the keys by the gRPC client, unpaged: another road to the store.
func (s kv) keys(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("etcdctl", "--endpoints", fmt.Sprintf("127.0.0.1:%d", s.port), "get", "jar/", "--prefix", "--keys-only")
	cmd.Env = append(cmd.Environ(), "ETCDCTL_API=3", "no_proxy=127.0.0.1")
	var keys []string
	for _, k := range strings.Fields(string(must(cmd.Output())(t))) {
		keys = append(keys, in64(k))
	}
	return keys
}

func jar(i int) string { return fmt.Sprintf("jar/%05d", i) }

// startEtcd starts etcd with n keys under jar/ and some around them.
func startEtcd(t *testing.T, n int) kv {
	t.Helper()
	s := kv{start(t, "etcd", func(s *server) launch {
		peer := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
		return launch{ready: "/health", args: []string{"etcd", "--name", "one", "--data-dir", filepath.Join(s.dir, fmt.Sprint(s.port)),
			"--listen-client-urls", s.base, "--advertise-client-urls", s.base, "--listen-peer-urls", peer,
			"--initial-advertise-peer-urls", peer, "--initial-cluster", "one=" + peer, "--log-level", "error"}}
	})}
	var puts []any
	for _, key := range []string{"jam", "jar", "jar0", "jars"} {
		puts = append(puts, map[string]any{"requestPut": map[string]string{"key": in64(key), "value": in64("outside")}})
	}
	for i := 1; i <= n; i++ {
		puts = append(puts, map[string]any{"requestPut": map[string]string{"key": in64(jar(i)), "value": in64(fmt.Sprint("value ", i))}})
	}
	for some := range slices.Chunk(puts, 120) {
		if _, err := s.call("txn", map[string]any{"success": some}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// The range is asked for from the last key on, that key included; count is
// what is left from there; more is left out at the end; the revision of the
// first answer pins the others.
const jars = `
source:
  url: "${BASE}/v3/kv/range"
  method: POST
  body: {key: amFyLw==, range_end: amFyMA==}   # jar/ to jar0
pages:
  style: keyset
  keyset: {param: key, path: key, inclusive: true}
  size: {param: limit, start: 100}
  more: {path: more, absent: false}
  pin: {param: revision, path: header.revision}
items: {path: kvs, id: key, absent_is_empty: true}
total: {path: count, counts: rest}
`

var unpinned = strings.Replace(jars, "  pin: {param: revision, path: header.revision}\n", "", 1)

func TestEtcd(t *testing.T) {
	t.Parallel()
	s := startEtcd(t, 530)
	keys := s.keys(t)

	for name, config := range map[string]string{"pinned": jars, "unpinned": unpinned} {
		t.Run(name, func(t *testing.T) {
			r := drain(t, s.base, config)
			r.is(t, complete, counted)
			r.equals(t, "key", keys)
			r.asked(t, 7)
		})
	}
	t.Run("by the flag alone", func(t *testing.T) {
		r := drain(t, s.base, strings.Replace(jars, "total: {path: count, counts: rest}", "total: none", 1))
		r.is(t, complete, declared)
		r.equals(t, "key", keys)
	})
	t.Run("by a count request", func(t *testing.T) {
		count := `total: {url: "${BASE}/v3/kv/range", method: POST, body: {key: amFyLw==, range_end: amFyMA==, count_only: true}, path: count}`
		r := drain(t, s.base, strings.Replace(jars, "total: {path: count, counts: rest}", count, 1))
		r.is(t, complete, counted)
		r.equals(t, "key", keys)
		r.asked(t, 9)
	})
	t.Run("the count taken for the whole", func(t *testing.T) {
		// Without counts: rest the total falls from page to page. It shows no
		// loss, and nothing is lost by it.
		r := drain(t, s.base, strings.Replace(jars, ", counts: rest", "", 1))
		r.equals(t, "key", keys)
		if r.Verdict == truncated {
			t.Errorf("TRUNCATED, with all of them held")
		}
	})
	t.Run("a misspelt range_end", func(t *testing.T) {
		// etcd ignores it and answers for the key jar/ alone, which is not
		// there: a header and nothing else.
		misspelt := strings.Replace(jars, "range_end", "rang_end", 1)
		r := drain(t, s.base, strings.Replace(misspelt, ", absent_is_empty: true", "", 1))
		if r.Verdict == complete {
			t.Errorf("COMPLETE without any list")
		}
		r = drain(t, s.base, misspelt+"complete: {min_items: 1}\n")
		r.is(t, unknown)
		r.shows(t, "RC027")
	})
}

// TestEtcdMoves writes in mid-drain.
func TestEtcdMoves(t *testing.T) {
	t.Parallel()
	s := startEtcd(t, 430)
	// Keys that were read go and come, and some that are still to be read.
	churn := func(from int) func() error {
		return func() error {
			return firstOf(s.remove(jar(from)), s.remove(jar(from+1)), s.put(jar(from)+"+"), s.remove(jar(from+390)), s.put(jar(from+400)+"+"))
		}
	}
	t.Run("pinned", func(t *testing.T) {
		keys := s.keys(t)
		p := newTap(t, s.server, map[int]func() error{2: churn(1), 4: churn(11)})
		r := drain(t, p.base, jars)
		r.is(t, complete, counted)
		r.equals(t, "key", keys) // as they were at the first request
	})
	t.Run("unpinned", func(t *testing.T) {
		before := s.keys(t)
		p := newTap(t, s.server, map[int]func() error{3: churn(3)})
		r := drain(t, p.base, unpinned)
		after := s.keys(t)
		r.law(t, "key", both(before, after), slices.Concat(before, after))
	})
	t.Run("the pinned revision is compacted", func(t *testing.T) {
		before := s.keys(t)
		p := newTap(t, s.server, map[int]func() error{3: func() error { return firstOf(churn(5)(), s.forget()) }})
		r := drain(t, p.base, jars)
		after := s.keys(t)
		r.law(t, "key", both(before, after), slices.Concat(before, after))
		if len(without(before, r.ids(t, "key"))) > 2 && r.Verdict != truncated {
			t.Errorf("%s with %d of %d", r.Verdict, len(r.items), len(before))
		}
	})
}

// both gives what is in a and in b.
func both(a, b []string) []string { return without(a, without(a, b)) }
