//go:build unix

package pgtest

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// owner gives the folder to the user that the server runs as: it refuses to run as root.
func owner(t testing.TB, dir string) *account {
	t.Helper()
	as := &account{attr: dyingWithUs(), own: func(string) error { return nil }}
	if os.Getuid() != 0 {
		return as
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		t.Fatalf("%v: %s", err, Install)
	}
	uid, _ := strconv.ParseUint(who.Uid, 10, 31)
	gid, _ := strconv.ParseUint(who.Gid, 10, 31)
	as.attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	as.own = func(path string) error { return os.Chown(path, int(uid), int(gid)) }
	if err := as.own(dir); err != nil {
		t.Fatal(err)
	}
	return as
}
