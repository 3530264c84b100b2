// Package command gives the items of a run to a command on its standard input.
package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"lastdrop/internal/group"
	"lastdrop/internal/sink"
)

// Command is a program and its arguments. No shell reads them.
type Command struct {
	Args []string
	Env  []string // further variables, NAME=value
	// Stop is asked over and over: with its error the command is killed, with all that it started, and Run ends. Nil never stops.
	Stop func() error
}

// lastWord is how long the output of a killed command is waited for, should something that it started still hold it.
const lastWord = 500 * time.Millisecond

// Run starts the command, writes it a line an item, and waits for its end. It fails with what the command said last when the command
// ends with another status than 0, or before it was given everything. What the command writes goes nowhere else.
func (c Command) Run(items func(each func(line []byte) error) error) error {
	ctx, done := sink.Until(c.Stop)
	defer done()
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.WaitDelay = lastWord
	group.Together(cmd)
	said := &tail{}
	cmd.Stdout, cmd.Stderr = said, said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("output.exec: %w", err)
	}
	given, source, refused := feed(in, items)
	if source != nil {
		// The command must not take a part for the whole: it is ended before it can see the end of its input.
		_ = cmd.Cancel()
		_ = cmd.Wait()
		return source
	}
	closed := in.Close()
	err = cmd.Wait()
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("output.exec: %s ended with %s%s", c.Args[0], status(err), said.text())
	case refused != nil || (closed != nil && !errors.Is(closed, os.ErrClosed)):
		return fmt.Errorf("output.exec: %s ended with status 0 before it had read all items (%d were written)%s", c.Args[0], given, said.text())
	}
	return nil
}

// feed writes the items, and tells apart what failed: reading them, or writing them.
func feed(w io.Writer, items func(each func(line []byte) error) error) (given int64, source, refused error) {
	out := bufio.NewWriterSize(w, 64<<10)
	err := items(func(line []byte) error {
		if _, refused = out.Write(line); refused == nil {
			refused = out.WriteByte('\n')
		}
		if refused == nil {
			given++
		}
		return refused
	})
	if refused != nil {
		return given, nil, refused
	}
	if err != nil {
		return given, err, nil
	}
	return given, nil, out.Flush()
}

func status(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return fmt.Sprintf("status %d", exit.ExitCode())
	}
	return err.Error()
}

// tail keeps the end of what is written to it.
type tail struct {
	b   []byte
	cut bool // something came before it
}

const tailSize = 1000

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > tailSize {
		t.b, t.cut = bytes.Clone(t.b[len(t.b)-tailSize:]), true
	}
	return len(p), nil
}

// text is what was said last, as the end of a sentence. What is cut begins
// behind a border of words: half a secret would not be known for one.
func (t *tail) text() string {
	b := t.b
	if t.cut {
		i := bytes.IndexAny(b, " \t\r\n\"'`,;&")
		if i < 0 {
			return ""
		}
		b = b[i+1:]
	}
	said := strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD"))
	if said == "" {
		return ""
	}
	return ": " + said
}
