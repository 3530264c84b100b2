package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lastdrop/internal/har"
	"lastdrop/judge"
)

// newJudgeCmd makes `lastdrop judge`: is this answer all there is?
func newJudgeCmd() *cobra.Command {
	var asJSON, selfTest bool
	cmd := &cobra.Command{
		Use:   "judge FILE...",
		Short: "Judge whether one answer is all there is",
		Long: `Judge reads snapshots of answers and says for each whether it is COMPLETE,
TRUNCATED or UNKNOWN, with the evidence, a resume point and what to do.

A FILE holds one snapshot or an array of them as JSON. "-" is standard input, a
folder means its *.json, and a .har file gives one snapshot for each entry.

Exit status: 0 COMPLETE, 2 TRUNCATED, 3 UNKNOWN, 4 nothing to judge, 5 the
self-test failed, 1 it could not run. Of several snapshots the worst counts.`,
		Example: `  lastdrop judge snapshot.json
  curl -s https://example.org/snapshot | lastdrop judge --json -
  lastdrop judge session.har
  lastdrop judge --selftest`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if selfTest {
				return runSelfTest(cmd, args)
			}
			run := judgeRun{in: cmd.InOrStdin(), out: cmd.OutOrStdout(), errs: cmd.ErrOrStderr(), asJSON: asJSON}
			run.colour = colourful(run.out)
			return run.files(args)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a snapshot, a line each")
	cmd.Flags().BoolVar(&selfTest, "selftest", false, "run the built-in cases")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exitError{exitNotRun, err.Error()} })
	return cmd
}

// runSelfTest runs the built-in cases.
func runSelfTest(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exitError{exitNotRun, "judge: --selftest takes no files"}
	}
	passed, total, failures := judge.SelfTest()
	for _, f := range failures {
		fmt.Fprintln(cmd.ErrOrStderr(), f)
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "selftest %d/%d\n", passed, total); err != nil {
		return exitError{exitNotRun, fmt.Sprintf("judge: %v", err)}
	}
	if passed != total {
		return exitError{exitSelfTest, ""}
	}
	return nil
}

// A judgeRun is one call of the command: where it prints, and what it has seen.
type judgeRun struct {
	in             io.Reader
	out, errs      io.Writer
	asJSON, colour bool

	judged int                   // snapshots judged
	tally  map[judge.Verdict]int // how many of each verdict
	failed bool                  // something could not be read
	barren bool                  // something could be read and held no snapshot
}

// files judges every file named, and ends with the status of the worst.
func (r *judgeRun) files(args []string) error {
	r.tally = map[judge.Verdict]int{}
	for _, arg := range args {
		if err := r.file(arg); err != nil {
			return exitError{exitNotRun, fmt.Sprintf("judge: %v", err)}
		}
	}
	if err := r.sum(); err != nil {
		return exitError{exitNotRun, fmt.Sprintf("judge: %v", err)}
	}
	return r.status()
}

// file judges what one argument names. What cannot be read is reported and
// does not keep the others from being judged; an error means that nothing more
// can be printed.
func (r *judgeRun) file(arg string) error {
	paths, err := expand(arg)
	if err != nil {
		r.report(arg, err)
		return nil
	}
	if len(paths) == 0 {
		r.empty(arg, "no *.json in this folder: nothing to judge")
	}
	for _, path := range paths {
		snapshots, err := r.load(path)
		switch {
		case err != nil:
			r.report(path, err)
		case len(snapshots) == 0:
			r.empty(path, "nothing to judge")
		}
		if err := r.judge(path, snapshots); err != nil {
			return err
		}
	}
	return nil
}

// expand gives the files that an argument means: itself, or a folder's *.json.
func expand(arg string) ([]string, error) {
	if arg == "-" {
		return []string{arg}, nil
	}
	info, err := os.Stat(arg)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{arg}, nil
	}
	entries, err := os.ReadDir(arg) // sorted by name
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" && !e.IsDir() {
			paths = append(paths, filepath.Join(arg, e.Name()))
		}
	}
	return paths, nil
}

// load reads the snapshots of one file.
func (r *judgeRun) load(path string) ([]judge.Snapshot, error) {
	if path == "-" {
		data, err := readBounded(r.in)
		if err != nil {
			return nil, err
		}
		return judge.Decode(data)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := readBounded(file)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(filepath.Ext(path), ".har") && len(bytes.TrimSpace(data)) > 0 {
		return har.Read(data)
	}
	return judge.Decode(data)
}

// maxInput bounds what is read of one input; tests set it lower.
var maxInput int64 = 256 << 20

// readBounded reads an input to its end, or fails where it is too long.
func readBounded(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && int64(len(data)) > maxInput {
		err = fmt.Errorf("longer than %d bytes: too long to judge; split it", maxInput)
	}
	return data, err
}

// report says that something could not be read.
func (r *judgeRun) report(path string, err error) {
	r.failed = true
	var inPath *fs.PathError
	if errors.As(err, &inPath) {
		err = inPath.Err // the path is named already
	}
	fmt.Fprintf(r.errs, "lastdrop: judge: %s: %v\n", path, err)
}

// empty says that something held no snapshot.
func (r *judgeRun) empty(path, what string) {
	r.barren = true
	fmt.Fprintf(r.errs, "lastdrop: judge: %s: %s\n", path, what)
}

// judge judges and prints the snapshots of one file. Where there are several,
// each is named by its index.
func (r *judgeRun) judge(path string, snapshots []judge.Snapshot) error {
	for i, s := range snapshots {
		line := judge.Line{Input: path, Result: judge.Judge(s)}
		if len(snapshots) > 1 {
			line.Input += "[" + strconv.Itoa(i) + "]"
		}
		if err := r.print(line); err != nil {
			return err
		}
		r.tally[line.Result.Verdict]++
		r.judged++
	}
	return nil
}

func (r *judgeRun) print(line judge.Line) error {
	if r.asJSON {
		e := json.NewEncoder(r.out)
		e.SetEscapeHTML(false)
		return e.Encode(line)
	}
	text := line.String()
	if r.colour {
		word := line.Result.Verdict.String()
		text = strings.Replace(text, word, hue[line.Result.Verdict]+word+"\x1b[0m", 1)
	}
	if r.judged > 0 {
		text = "\n" + text
	}
	_, err := io.WriteString(r.out, text)
	return err
}

// sum counts the verdicts for people, where there are several.
func (r *judgeRun) sum() error {
	if r.asJSON || r.judged < 2 {
		return nil
	}
	_, err := fmt.Fprintf(r.out, "\n%d snapshots: %d TRUNCATED, %d UNKNOWN, %d COMPLETE\n", r.judged,
		r.tally[judge.Truncated], r.tally[judge.Unknown], r.tally[judge.Complete])
	return err
}

// hue is the colour of a verdict: green for COMPLETE only.
var hue = map[judge.Verdict]string{
	judge.Complete:  "\x1b[32m",
	judge.Truncated: "\x1b[31m",
	judge.Unknown:   "\x1b[33m",
}

// colourful reports whether out is a terminal whose user has not asked for
// plain text.
func colourful(out io.Writer) bool {
	if _, set := os.LookupEnv("NO_COLOR"); set {
		return false
	}
	if os.Getenv("TERM") == "dumb" {
		return false
	}
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// status gives the exit status: what could not be read, then the worst
// verdict. An input that held nothing never ends in the status of COMPLETE.
func (r *judgeRun) status() error {
	switch {
	case r.failed:
		return exitError{exitNotRun, ""}
	case r.judged == 0 && !r.barren:
		return exitError{exitNothing, "judge: nothing to judge: name a snapshot, a .har file, a folder, or - for standard input"}
	case r.judged == 0:
		return exitError{exitNothing, ""}
	case r.tally[judge.Truncated] > 0:
		return exitError{exitTruncated, ""}
	case r.tally[judge.Unknown] > 0:
		return exitError{exitUnknown, ""}
	case r.barren:
		return exitError{exitNothing, ""}
	default:
		return nil
	}
}
