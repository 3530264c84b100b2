package adapters

import "fmt"

var stateNames = [...]string{"not said", "follow", "ended", "broken"}

// String gives the state in words.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "not said"
}

// MarshalText writes what String gives; it never fails.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads exactly what MarshalText writes.
func (s *State) UnmarshalText(text []byte) error {
	for i, name := range stateNames {
		if string(text) == name {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("adapters: %q is no state of a continuation", text)
}

var troubleNames = [...]string{"missing", "passing", "cost", "error", "malformed", "expired"}

// String gives the kind in one word.
func (k TroubleKind) String() string {
	if int(k) < len(troubleNames) {
		return troubleNames[k]
	}
	return "error"
}

// MarshalText writes what String gives; it never fails.
func (k TroubleKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads exactly what MarshalText writes.
func (k *TroubleKind) UnmarshalText(text []byte) error {
	for i, name := range troubleNames {
		if string(text) == name {
			*k = TroubleKind(i)
			return nil
		}
	}
	return fmt.Errorf("adapters: %q is no kind of trouble", text)
}
