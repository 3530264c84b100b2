package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lastdrop/internal/sim"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lastdrop": func() { os.Exit(run()) }})
}

// TestScripts runs the command line by scripts that users can read.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: false,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"sim":    startSim,
			"killed": killed,
			"grown":  grown,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
	})
}

// exits N CMD ARG… runs a command that must end with exactly that status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// startSim WORLD serves a named world for the rest of the script, puts its
// address into $WORLD_URL (dashes as underscores) and its config into
// WORLD.yaml, with the items going to WORLD.jsonl.
func startSim(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sim WORLD")
	}
	world, ok := sim.Named(args[0])
	if !ok {
		ts.Fatalf("no world %q", args[0])
	}
	base, stop, err := listen(world)
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv(urlVariable(args[0]), base)
	cfg := world.Config(base) + "\noutput: {to: " + args[0] + ".jsonl}\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".yaml"), []byte(cfg), 0o600))
}

// grown FILE BYTES waits until a file has at least so many bytes.
func grown(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: grown FILE BYTES")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if info, err := os.Stat(ts.MkAbs(args[0])); err == nil && info.Size() >= size {
			return
		}
	}
	ts.Fatalf("%s stayed below %d bytes", args[0], size)
}

// urlVariable names the variable that holds the address of a world.
func urlVariable(world string) string { return strings.ReplaceAll(world, "-", "_") + "_URL" }

// killed SIGNAL FILE BYTES CMD ARG… starts a command, waits until FILE has at
// least so many bytes, and sends the signal (KILL, TERM or INT). The command's exit status
// is printed to the file "status"; a command that ends by itself fails.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: killed SIGNAL FILE BYTES COMMAND ARG…")
	}
	size, err := strconv.ParseInt(args[2], 10, 64)
	ts.Check(err)
	sig, ok := signalsByName[args[0]]
	if !ok {
		ts.Fatalf("no signal %q", args[0])
	}
	bin, err := exec.LookPath(args[3])
	if err != nil {
		bin = filepath.Join(ts.Getenv("WORK"), "..", "..", "bin", args[3])
	}
	cmd := exec.Command(bin, args[4:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	for _, w := range sim.NamedWorlds() {
		if base := ts.Getenv(urlVariable(w.Name)); base != "" {
			cmd.Env = append(cmd.Env, urlVariable(w.Name)+"="+base)
		}
	}
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	ts.Check(cmd.Start())
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-gone:
			ts.Fatalf("the command ended before the signal: %v", err)
		case <-deadline:
			cmd.Process.Kill()
			ts.Fatalf("%s stayed below %d bytes", args[1], size)
		case <-tick.C:
			if info, err := os.Stat(ts.MkAbs(args[1])); err != nil || info.Size() < size {
				continue
			}
			ts.Check(cmd.Process.Signal(sig))
			<-gone
			status := strconv.Itoa(cmd.ProcessState.ExitCode())
			ts.Check(os.WriteFile(ts.MkAbs("status"), []byte(status+"\n"), 0o600))
			return
		}
	}
}
