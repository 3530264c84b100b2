package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"time"

	"lastdrop/internal/secret"
)

const (
	// runWithin is how long a command may take: then it is killed, with all that it started.
	runWithin = time.Minute
	// lastWord is how long the output of a killed command is waited for.
	lastWord = 500 * time.Millisecond
)

// A runner gives messages to a command.
type runner struct {
	Exec
	secrets *secret.Set
	log     *slog.Logger
}

// send runs the command once, with the message on its standard input. It is not run again where it fails: it may have done a part.
func (x runner) send(ctx context.Context, m message) (again bool, wait time.Duration, err error) {
	within, done := context.WithTimeout(ctx, runWithin)
	defer done()
	cmd := exec.CommandContext(within, x.Command[0], x.Command[1:]...)
	cmd.Stdin = bytes.NewReader(m.body)
	said := &tail{}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.WaitDelay = lastWord
	together(cmd)
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		err = fmt.Errorf("ended with status %d", exit.ExitCode())
	}
	if within.Err() != nil && ctx.Err() == nil && err != nil {
		err = fmt.Errorf("killed after %v", runWithin)
	}
	if err != nil {
		return false, 0, errors.New(hide(x.secrets, err.Error()) + x.secrets.Hide(said.text()))
	}
	x.log.Info("exec ended with status 0", "pull", m.pull, "run", m.run)
	return false, 0, nil
}

// tailSize is how much of what a command says is told.
const tailSize = 500

// A tail keeps the first bytes that are written to it.
type tail struct{ b []byte }

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[:min(len(p), max(0, 64<<10-len(t.b)))]...)
	return len(p), nil
}

// text is what was said, as the end of a sentence.
func (t *tail) text() string {
	said := bytes.TrimSpace(bytes.ToValidUTF8(t.b, []byte("\uFFFD")))
	if len(said) == 0 {
		return ""
	}
	return ": " + secret.Clip(string(said), tailSize)
}
