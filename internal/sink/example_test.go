package sink_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"lastdrop/internal/sink"
)

// A run that was stopped goes on from the last mark that its ledger holds.
func Example() {
	dir, err := os.MkdirTemp("", "sink")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	target := filepath.Join(dir, "items.jsonl")

	f, err := sink.Open(sink.Options{Target: target})
	if err != nil {
		log.Fatal(err)
	}
	_ = f.Write([][]byte{[]byte(`{"id":1}`), []byte(`{"id":2}`)})
	mark, err := f.Sync() // now durable: write the mark into the ledger
	if err != nil {
		log.Fatal(err)
	}
	_ = f.Write([][]byte{[]byte(`{"id":3}`)}) // not in the ledger when the run is stopped
	_ = f.Close()

	f, err = sink.Open(sink.Options{Target: target, Resume: &mark})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	_ = f.Write([][]byte{[]byte(`{"id":3}`)}) // asked for again
	out, err := f.Finish(true)
	if err != nil {
		log.Fatal(err)
	}
	data, _ := os.ReadFile(out.Path)
	fmt.Printf("%d items, committed: %v\n%s", out.Items, out.Committed, data)
	// Output:
	// 3 items, committed: true
	// {"id":1}
	// {"id":2}
	// {"id":3}
}
