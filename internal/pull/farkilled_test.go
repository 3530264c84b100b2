package pull_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lastdrop/configs"
	"lastdrop/internal/pgtest"
	"lastdrop/internal/pull"
	"lastdrop/internal/racing"
	"lastdrop/internal/s3test"
	"lastdrop/judge"
	"lastdrop/store"
)

// shopDir tells this test binary to drain a shop, as a process that the test can kill.
const shopDir = "LASTDROP_PULL_TEST_SHOP"

func beTheShopper(dir string) {
	cfg, err := configs.Load(filepath.Join(dir, "shop.yaml"), os.LookupEnv)
	if err == nil {
		var st *store.Store
		if st, err = store.Open(context.Background(), filepath.Join(dir, "runs.sqlite")); err == nil {
			_, err = pull.Run(context.Background(), pull.Options{Config: cfg, Store: st, Version: "test"})
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// process drains the shop by a process of its own.
func (s *shop) process(t *testing.T) *exec.Cmd {
	t.Helper()
	if err := os.WriteFile(s.path("shop.yaml"), s.config(), 0o600); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), shopDir+"="+s.dir, "BASE="+s.server.URL, "DIR="+s.dir)
	return process
}

// A fuse kills a process at the n-th thing that it asks of a database or object store.
type fuse struct {
	mu      sync.Mutex
	left    int // 0: never
	process *os.Process
}

// burn counts one thing, and tells whether the process was killed by now.
func (f *fuse) burn() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.process == nil {
		return false
	}
	if f.left--; f.left == 0 {
		_ = f.process.Kill()
	}
	return f.left <= 0
}

// start starts a process that is killed at the n-th thing, and gives whether it was, at its end.
func (f *fuse) start(t *testing.T, process *exec.Cmd, n int) bool {
	t.Helper()
	f.mu.Lock()
	var said strings.Builder
	process.Stdout, process.Stderr = &said, &said
	err := process.Start()
	f.left, f.process = n, process.Process
	f.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	err = process.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.process = nil
	if killed := f.left <= 0; killed {
		return true
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	return false
}

// proxied is the address of a database behind a proxy that burns a fuse with each thing that a client says.
func proxied(t *testing.T, dsn string, f *fuse) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	target := u.Host
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go forward(client, target, f)
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}

func forward(client net.Conn, target string, f *fuse) {
	defer client.Close()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil || f.burn() {
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestFarKilled kills a process at what it says to a database or to an object store, one thing after the other: what stands there is
// the old set or the new one, whole, and what goes on puts every item there once.
func TestFarKilled(t *testing.T) {
	server := pgtest.Start(t)
	for _, merge := range []bool{false, true} {
		t.Run(fmt.Sprintf("postgres, merge %v", merge), func(t *testing.T) {
			t.Parallel()
			f := &fuse{}
			dsn := server.Database(t)
			behind := proxied(t, dsn, f)
			farKilled(t, f, farStep(), func(dir string) outlet {
				pgtest.Exec(t, dsn, "DROP TABLE IF EXISTS shop")
				return postgresOutlet(behind, dir, merge)
			})
		})
	}
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		f := &fuse{}
		farKilled(t, f, 1, func(dir string) outlet {
			b := s3test.Start(t)
			b.Hook = func(*http.Request) int {
				if f.burn() {
					return s3test.Done // and nobody there to hear of it
				}
				return 0
			}
			return s3Outlet(b, dir, "gzip")
		})
	})
}

// farStep is how many of the places to be killed at are left out between two.
func farStep() int {
	if racing.On {
		return 7
	}
	return 3
}

func farKilled(t *testing.T, f *fuse, step int, place func(dir string) outlet) {
	kills, published := 0, 0
	for n := 1; ; n += step {
		s := newShop(t, 12, "")
		o := place(s.dir)
		s.output = o.output
		if rep, err := s.drain(t, 0); err != nil || rep.Verdict != judge.Complete {
			t.Fatalf("%v, %+v", err, rep)
		}
		s.things.Store(25)
		killed := f.start(t, s.process(t), n)
		if got := o.ids(t); len(got) == 25 {
			published++
			upTo(t, got, 25)
		} else {
			upTo(t, got, 12)
		}
		if !killed {
			break
		}
		kills++
		rep, err := s.drain(t, 0)
		if err != nil || rep.Verdict != judge.Complete || !rep.Output[0].Committed || rep.Items.Written != 25 {
			t.Fatalf("killed at %d: %v, %+v", n, err, rep)
		}
		upTo(t, o.ids(t), 25)
		if left := only(t, o.aside); left != o.aside {
			t.Errorf("killed at %d: %s is left", n, left)
		}
	}
	if kills < 8 || published < 2 {
		t.Errorf("%d kills, of which %d came after the new set was there", kills, published)
	}
	t.Logf("%d kills, %d of them with the new set there", kills, published-1)
}
