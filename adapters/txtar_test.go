package adapters_test

import (
	"bytes"
	"os"
	"strings"
)

// An archive is a file in the txtar format: a comment, then files behind
// marker lines "-- NAME --". (A few lines of our own: the format's package
// would be one more dependency.)
type archive struct {
	comment string
	files   []archived
}

type archived struct {
	name string
	data []byte
}

func readArchive(file string) (*archive, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	a := &archive{}
	for line := range strings.Lines(string(raw)) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		if name, marked := strings.CutSuffix(name, " --"); ok && marked {
			a.files = append(a.files, archived{name: name})
			continue
		}
		if len(a.files) == 0 {
			a.comment += line
			continue
		}
		last := &a.files[len(a.files)-1]
		last.data = append(last.data, line...)
	}
	return a, nil
}

func (a *archive) write(file string) error {
	var b bytes.Buffer
	b.WriteString(a.comment)
	for _, f := range a.files {
		b.WriteString("-- " + f.name + " --\n")
		b.Write(f.data)
	}
	return os.WriteFile(file, b.Bytes(), 0o666)
}
