package pull

import (
	"slices"
	"sync"

	"lastdrop/internal/secret"
)

// The bounds of what is hidden of a source's own secrets: how many of the
// latest, and the length below which one stands in texts by chance.
const (
	learnedMost  = 64
	learnedShort = 4
)

// learned hides the secrets that the source itself hands out while it is read:
// its cookies. The zero value knows none.
type learned struct {
	mu     sync.Mutex
	values []string
	set    *secret.Set
}

// add makes a value known.
func (l *learned) add(value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(value) < learnedShort || slices.Contains(l.values, value) {
		return
	}
	l.values = append(l.values, value)
	l.values = l.values[max(0, len(l.values)-learnedMost):]
	l.set = secret.NewSet(l.values...)
}

// hide takes the known values out of a text.
func (l *learned) hide(text string) string {
	l.mu.Lock()
	set := l.set
	l.mu.Unlock()
	return set.Hide(text)
}
