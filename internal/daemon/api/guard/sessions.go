package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

const (
	// sessionLasts is how long a browser stays logged in.
	sessionLasts = 12 * time.Hour
	// maxSessions bounds the table; the oldest goes first.
	maxSessions = 1000
)

type hash = [sha256.Size]byte

// sessions are those of browsers, by the hash of their cookie.
type sessions struct {
	mu  sync.Mutex
	all map[hash]session
}

type session struct {
	token hash // that it was begun with
	ends  time.Time
}

// begin makes a session and gives its cookie's value.
func (s *sessions) begin(token hash, now time.Time) string {
	var secret [32]byte
	rand.Read(secret[:]) //nolint:errcheck // never fails
	value := base64.RawURLEncoding.EncodeToString(secret[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[hash]session{}
	}
	if len(s.all) >= maxSessions {
		s.makeRoom(now)
	}
	s.all[sha256.Sum256([]byte(value))] = session{token, now.Add(sessionLasts)}
	return value
}

// makeRoom drops what is over, and the oldest.
func (s *sessions) makeRoom(now time.Time) {
	var oldest hash
	var first time.Time
	for h, one := range s.all {
		if !now.Before(one.ends) {
			delete(s.all, h)
		} else if first.IsZero() || one.ends.Before(first) {
			oldest, first = h, one.ends
		}
	}
	if len(s.all) >= maxSessions {
		delete(s.all, oldest)
	}
}

// token is that of the session with a cookie's value.
func (s *sessions) token(value string, now time.Time) (hash, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[sha256.Sum256([]byte(value))]
	return one.token, ok && now.Before(one.ends)
}

func (s *sessions) end(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(value)))
}
