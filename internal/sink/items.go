package sink

import (
	"bufio"
	"os"
	"strings"
)

// Items hands each item of a finished file to do, in order, without its
// newline; the slice counts until do returns. path is an Output's: a target, or
// the file beside it. It returns the first error of do or of reading; a last
// item that is not ended is an error.
func Items(path string, do func(item []byte) error) error {
	f, err := formatOf(strings.TrimSuffix(path, asideEnding))
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fault("open", path, err)
	}
	defer file.Close()
	r, err := f.reader(bufio.NewReaderSize(file, bufferSize))
	if err != nil {
		return fault("read", path, err)
	}
	defer r.Close()
	var refused error
	err = eachLine(bufio.NewReaderSize(r, bufferSize), func(item []byte) error {
		refused = do(item)
		return refused
	})
	if refused != nil {
		return refused
	}
	return fault("read", path, err)
}
