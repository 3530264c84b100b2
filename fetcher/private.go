package fetcher

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// errPrivate is the fault of an address that Client.PublicOnly refuses.
var errPrivate = errors.New("the address is not asked")

// publicOnly refuses a connection to an address that is not public. A dialer calls it
// with the address that it is about to connect to, after names are resolved.
func publicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s is no address of the internet", errPrivate, address)
	}
	if what := whatIsPrivate(at.Addr()); what != "" {
		return fmt.Errorf("%w: %s is %s; say limits.allow_private: true, and start serve with --allow-private", errPrivate, at.Addr(), what)
	}
	return nil
}

// ranges that are not public, beside those that netip knows.
var ranges = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "of this network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "of a provider's own network"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("198.18.0.0/15"), "reserved for measurements"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("fec0::/10"), "a private address"},
}

// carriers are ranges of IPv6 addresses that stand for an address of IPv4, and
// where that begins in them.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

// whatIsPrivate says what an address is that is not public; "": it is.
func whatIsPrivate(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	switch {
	case !a.IsValid() || a.IsUnspecified():
		return "unspecified"
	case a.IsLoopback():
		return "this machine"
	case a.IsLinkLocalUnicast(), a.IsLinkLocalMulticast(), a.IsInterfaceLocalMulticast():
		return "link-local"
	case a.IsPrivate():
		return "a private address"
	case a.IsMulticast():
		return "a multicast address"
	}
	for _, r := range ranges {
		if r.prefix.Contains(a) {
			return r.what
		}
	}
	for _, c := range carriers {
		if b := a.As16(); a.Is6() && c.prefix.Contains(a) {
			return whatIsPrivate(netip.AddrFrom4([4]byte(b[c.at : c.at+4])))
		}
	}
	return ""
}
