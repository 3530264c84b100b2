package guard

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"
)

// CheckListen refuses an address that others than this machine can reach, unless a
// token is asked for, or noAuth says that none is to be.
func CheckListen(addr, tokenFile string, noAuth bool) error {
	host, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return fmt.Errorf("listen address %q: write it as HOST:PORT, as in 127.0.0.1:8080", addr)
	case tokenFile != "" && noAuth:
		return fmt.Errorf("a token file and --no-auth contradict each other: leave one out")
	case tokenFile == "" && !noAuth && !loopback(host):
		return fmt.Errorf("%s can be reached from other machines: name a file of tokens with --token-file, or listen on 127.0.0.1 (or say --no-auth, and let everybody in)", addr)
	}
	return nil
}

// loopback reports whether a host is this machine alone.
func loopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Server is an HTTP server whose every side has a time-out. A handler that writes for
// longer sets deadlines of its own by an http.ResponseController.
func Server(addr string, h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Addr: addr, Handler: h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// A Certificate is a pair of files that may change.
type Certificate struct {
	cert, key string
	pair      atomic.Pointer[tls.Certificate]
}

// LoadCertificate reads a certificate and its key, both PEM.
func LoadCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{cert: certFile, key: keyFile}
	return c, c.Reload()
}

// Reload reads the files anew. After an error the earlier pair stays in use.
func (c *Certificate) Reload() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", c.cert, c.key, err)
	}
	c.pair.Store(&pair)
	return nil
}

// Config serves the pair that was read last.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return c.pair.Load(), nil
	}}
}
