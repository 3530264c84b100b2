package fetcher

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestWhatIsPrivate(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "0.1.2.3", "::", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254",
		"fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "224.0.0.1", "ff02::1", "ff0e::1", "100.64.0.1", "100.127.255.255",
		"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::10.0.0.1", "2002:7f00:1::1",
		"255.255.255.255", "240.0.0.1", "198.18.0.1", "192.0.0.192",
	} {
		if whatIsPrivate(netip.MustParseAddr(text)) == "" {
			t.Errorf("%s counts as public", text)
		}
	}
	for _, text := range []string{"1.1.1.1", "172.32.0.1", "172.15.0.1", "100.63.0.1", "100.128.0.1", "192.167.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"} {
		if what := whatIsPrivate(netip.MustParseAddr(text)); what != "" {
			t.Errorf("%s counts as %s", text, what)
		}
	}
	if whatIsPrivate(netip.Addr{}) == "" {
		t.Error("no address counts as public")
	}
}

// TestPublicOnly asks a server of this machine, by its address and by a name: it
// hears nothing, and the request is not tried again.
func TestPublicOnly(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer srv.Close()
	for _, url := range []string{srv.URL, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)} {
		o := quick()
		o.PublicOnly = true
		d := walk(t, rowsSpec(url), o)
		got := once(t, d, url)
		if got.err == nil || !strings.Contains(got.err.Error(), "limits.allow_private") || !strings.Contains(got.err.Error(), "is this machine") {
			t.Errorf("%s: %v", url, got.err)
		}
		if n := d.triesFor(&answer{raw: got, kind: kindFault}); n > 0 {
			t.Errorf("%s: it is tried %d times more", url, n)
		}
	}
	if asked > 0 {
		t.Errorf("the server was asked %d times", asked)
	}
}
