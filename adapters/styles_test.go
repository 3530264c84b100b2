package adapters_test

import (
	"testing"

	"lastdrop/adapters"
	"lastdrop/adapters/adapterstest"
)

// TestStyles holds every style of the table to the contract of adapterstest.
func TestStyles(t *testing.T) {
	for _, style := range adapters.StyleNames() {
		t.Run(style, func(t *testing.T) { adapterstest.Run(t, style) })
	}
}
