package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be the command.
func TestMain(m *testing.M) {
	switch mode, file, _ := strings.Cut(os.Getenv("COMMAND_TEST"), " "); mode {
	case "":
		os.Exit(m.Run())
	case "keep":
		data, err := io.ReadAll(os.Stdin)
		if err == nil {
			err = os.WriteFile(file, []byte(os.Getenv("LASTDROP_RUN")+"\n"+strings.Join(os.Args[1:], "|")+"\n"+string(data)), 0o600)
		}
		if err != nil {
			os.Exit(9)
		}
	case "fail":
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Println("loading")
		fmt.Fprintln(os.Stderr, "the table is gone")
		os.Exit(3)
	case "one":
		_, _ = bufio.NewReaderSize(os.Stdin, 16).ReadString('\n')
	}
	os.Exit(0)
}

func command(t *testing.T, mode string, args ...string) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{Args: append([]string{self}, args...), Env: []string{"COMMAND_TEST=" + mode, "LASTDROP_RUN=r7"}}
}

func of(n int, last error) func(func([]byte) error) error {
	return func(each func([]byte) error) error {
		for i := range n {
			if err := each(fmt.Appendf(nil, `{"id":%d}`, i)); err != nil {
				return err
			}
		}
		return last
	}
}

func TestItemsOnStandardInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "got")
	if err := command(t, "keep "+file, "a b", "$HOME", "*", ";").Run(of(3, nil)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := "r7\na b|$HOME|*|;\n{\"id\":0}\n{\"id\":1}\n{\"id\":2}\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestStatusIsRespected(t *testing.T) {
	err := command(t, "fail").Run(of(100_000, nil))
	if err == nil || !strings.Contains(err.Error(), "ended with status 3: loading\nthe table is gone") {
		t.Errorf("%v", err)
	}
}

func TestEndsTooEarly(t *testing.T) {
	err := command(t, "one").Run(of(1_000_000, nil))
	if err == nil || !strings.Contains(err.Error(), "before it had read all items") {
		t.Errorf("%v", err)
	}
}

// A command never sees the end of its input when the items cannot be read to their end.
func TestItemsThatEndTooEarly(t *testing.T) {
	gone := errors.New("gone")
	file := filepath.Join(t.TempDir(), "got")
	if err := command(t, "keep "+file).Run(of(3, gone)); !errors.Is(err, gone) {
		t.Errorf("%v, want the items' error", err)
	}
	if got, err := os.ReadFile(file); err == nil {
		t.Errorf("the command took %q for the whole", got)
	}
}

// TestStopped stops a command that does not read, one that does not end, and one whose child holds its output: none of them sees the end of its input.
func TestStopped(t *testing.T) {
	halt := errors.New("halt")
	for name, c := range map[string]struct {
		script string
		items  int
	}{
		"does not read": {`touch "$0"; exec sleep 60`, 1_000_000},
		"does not end":  {`cat >/dev/null; touch "$0"; sleep 60`, 1},
		"child":         {`touch "$0"; cat >/dev/null; sleep 60 & wait`, 1_000_000},
		"child reads":   {`exec 3<&0; (cat <&3 >"$0.got"; echo end >"$0.end") & touch "$0"; wait`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			begun := filepath.Join(t.TempDir(), "begun")
			run := Command{Args: []string{"sh", "-c", c.script, begun}, Stop: func() error {
				if _, err := os.Stat(begun); err != nil {
					return nil
				}
				return halt
			}}
			items := of(c.items, nil)
			if c.items < 0 { // until it is stopped, as those of a sink
				items = func(each func([]byte) error) error {
					for {
						if err := run.Stop(); err != nil {
							return err
						}
						if err := each([]byte("1")); err != nil {
							return err
						}
					}
				}
			}
			if err := run.Run(items); !errors.Is(err, halt) {
				t.Errorf("%v, want what it was stopped with", err)
			}
			if _, err := os.Stat(begun + ".end"); err == nil {
				t.Error("a child of it took a part for the whole")
			}
		})
	}
}

func TestNoSuchCommand(t *testing.T) {
	c := Command{Args: []string{filepath.Join(t.TempDir(), "nothing")}}
	if err := c.Run(of(1, nil)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestTailBeginsAtAWord: half a secret at the cut would not be hidden later.
func TestTailBeginsAtAWord(t *testing.T) {
	script := `printf '%s ' token; head -c 500 /dev/zero | tr '\0' k; printf ' '; head -c 700 /dev/zero | tr '\0' y; printf ' end'; exit 3`
	err := Command{Args: []string{"sh", "-c", script}}.Run(func(func([]byte) error) error { return nil })
	if err == nil || strings.Contains(err.Error(), "k") || !strings.HasSuffix(err.Error(), "yyy end") {
		t.Errorf("%v, want only whole words of the end", err)
	}
	long := Command{Args: []string{"sh", "-c", `head -c 3000 /dev/zero | tr '\0' y; exit 3`}}
	if err := long.Run(func(func([]byte) error) error { return nil }); err == nil || strings.Contains(err.Error(), "yy") {
		t.Errorf("%v, want nothing of a word that was cut", err)
	}
}
