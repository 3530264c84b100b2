package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"lastdrop/configs"
	"lastdrop/internal/pull"
	"lastdrop/internal/sim"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A story is one part of the demo: a hostile world, what a plain loop makes of
// it, and what lastdrop must find.
type story struct {
	world string
	title string
	// query asks the plain loop's page n, counted from 0, of a size.
	query string
	size  int
	items string // GJSON path
	want  judge.Verdict
}

var stories = []story{
	{"half-bodies", "Half bodies: status 200, and the JSON stops in the middle", "/repos/lastdrop/sim/commits?per_page=%[2]d&page=%[3]d", 100, "@this", judge.Complete},
	{"silent-cap", "A silent cap: asked for 5,000, given 1,000, not a word", "/items?limit=%[2]d&offset=%[1]d", 5000, "items", judge.Unknown},
	{"hard-cap", "A false end: past item 1,000 the pages are empty, and the total says 0", "/api/v1/search_by_date?hitsPerPage=%[2]d&page=%[4]d", 100, "hits", judge.Truncated},
	{"drift", "A moving source: inserts and deletes between two pages", "/items?limit=%[2]d&offset=%[1]d", 100, "messages", judge.Complete},
}

// newDemoCmd makes `lastdrop demo`.
func newDemoCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See what a plain loop believes, and what lastdrop proves",
		Long: `Demo starts a hostile API inside this process, reads it with a plain loop and
then with lastdrop, and shows both side by side. It needs no network and no
file, and leaves nothing behind.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			graceful.Store(true) // it removes its folder
			return runDemo(cmd.Context(), cmd.OutOrStdout())
		},
	}
}

func runDemo(ctx context.Context, w io.Writer) error {
	dir, err := os.MkdirTemp("", "lastdrop-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	st, err := store.Open(ctx, filepath.Join(dir, "demo.db"))
	if err != nil {
		return err
	}
	defer st.Close()
	d := demo{w: w, store: st, dir: dir, color: colourful(w)}
	d.say("Ways to get a part and take it for the whole, and one honest answer to each.\n")
	if err := d.judged(); err != nil {
		return err
	}
	for i, s := range stories {
		if err := d.tell(ctx, i+2, s); err != nil {
			return err
		}
	}
	d.say("\nA loop that stops at an empty page cannot know what it did not get. lastdrop says COMPLETE only with")
	d.say("positive evidence, TRUNCATED with evidence of loss, and UNKNOWN otherwise; the exit status is the verdict.")
	d.say("Next: lastdrop sim (this API for your own client), lastdrop rules (every rule), lastdrop drain CONFIG.yaml.")
	if d.wrong > 0 {
		return exitError{exitNotRun, fmt.Sprintf("demo: %d of %d stories did not end as they must", d.wrong, len(stories)+1)}
	}
	return nil
}

type demo struct {
	w     io.Writer
	store *store.Store
	dir   string
	color bool
	wrong int
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.w, format+"\n", args...) }

// judged is the one kind of partial read that speaks up: a tool that says that
// it cut its own result.
func (d *demo) judged() error {
	shots, err := judge.Decode([]byte(`{"kind":"file","response":{"text":"(showing lines 1-1042 of 5000, truncated)","truncated_by":"bytes",
		"next_offset":1043,"bytes_read":100000,"bytes_expected":465000,"lines_read":1042,"lines_total":5000}}`))
	if err != nil {
		return err
	}
	r := judge.Judge(shots[0])
	d.say("1. A cut that speaks up: a file reader hands out 1,042 of 5,000 lines and says so")
	d.say("   plain reader  1,042 lines, no error")
	d.say("   lastdrop      %s  %s", d.paint(r.Verdict), r.Rules[0].Evidence)
	d.say("                 go on at %s %s", r.Resume.Kind, r.Resume.Value)
	if r.Verdict != judge.Truncated {
		d.wrong++
	}
	return nil
}

func (d *demo) paint(v judge.Verdict) string { return printer{color: d.color}.paint(v, v.String()) }

// tell reads one world twice, and prints what came of it.
func (d *demo) tell(ctx context.Context, n int, s story) error {
	world, ok := sim.Named(s.world)
	if !ok {
		return fmt.Errorf("no world %q", s.world)
	}
	d.say("\n%d. %s", n, s.title)
	base, stop, err := listen(world)
	if err != nil {
		return err
	}
	d.say("   plain loop    %s", plainLoop(ctx, base, s))
	stop()
	if base, stop, err = listen(world); err != nil { // afresh: both see the same world
		return err
	}
	defer stop()
	rep, err := d.drain(ctx, world, base)
	if err != nil {
		return err
	}
	d.result(rep)
	if rep.Verdict != s.want {
		d.wrong++
		d.say("   (this story must end %s)", s.want)
	}
	if sliced, ok := world.SlicedConfig(base); ok {
		return d.sliced(ctx, world, sliced)
	}
	return nil
}

// sliced reads a capped world once more, cut into slices.
func (d *demo) sliced(ctx context.Context, world sim.NamedWorld, config string) error {
	cfg, err := configs.Parse(world.Name+".yaml", []byte(config), nil)
	if err != nil {
		return err
	}
	cfg.Name += "-sliced"
	cfg.Pages.Size.Start = 1000
	rep, err := d.run(ctx, cfg)
	if err != nil {
		return err
	}
	d.say("   with slices   %s (%s)  %s in %s requests: %s slices, each below the reach", d.paint(rep.Verdict), rep.Strength, heldText(rep),
		thousands(rep.Requests), thousands(int64(rep.Slices.Leaves)))
	if rep.Verdict != judge.Complete {
		d.wrong++
		d.say("   (cut into slices, this story must end COMPLETE)")
	}
	return nil
}

func (d *demo) result(r reconcile.Report) {
	strength := ""
	if r.Strength != reconcile.None {
		strength = " (" + r.Strength.String() + ")"
	}
	d.say("   lastdrop      %s%s  %s", d.paint(r.Verdict), strength, heldText(r))
	for i, e := range r.Evidence {
		if i == 3 {
			break
		}
		for _, l := range wrap(e.ID+" "+e.Text, 84) {
			d.say("                 %s", l)
		}
	}
	if r.PageSize.Min < r.PageSize.Start {
		d.say("                 %s", pagesText(r))
	}
}

// drain runs the world's own config.
func (d *demo) drain(ctx context.Context, world sim.NamedWorld, base string) (reconcile.Report, error) {
	cfg, err := configs.Parse(world.Name+".yaml", []byte(world.Config(base)), nil)
	if err != nil {
		return reconcile.Report{}, err
	}
	return d.run(ctx, cfg)
}

func (d *demo) run(ctx context.Context, cfg *configs.Config) (reconcile.Report, error) {
	return pull.Run(ctx, pull.Options{Config: cfg, Store: d.store, Target: filepath.Join(d.dir, cfg.Name+".jsonl"), Version: version(),
		BackoffMin: 5 * time.Millisecond, BackoffMax: 200 * time.Millisecond})
}

// listen puts a fresh world on a loopback socket, until stop.
func listen(world sim.NamedWorld) (base string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("no loopback socket: %w", err)
	}
	srv := &http.Server{Handler: world.New(1)}
	go srv.Serve(l) //nolint:errcheck // stop ends it
	return "http://" + l.Addr().String(), func() { srv.Close() }, nil
}

// plainLoop is the loop that most code has: ask for page after page, retry
// what fails three times, stop at an empty page.
func plainLoop(ctx context.Context, base string, s story) string {
	rows, ids, requests := 0, map[string]bool{}, 0
	for n := 0; n < 400; n++ {
		url := base + fmt.Sprintf(strings.ReplaceAll(s.query, "/items?", "/items?"), n*s.size, s.size, n+1, n)
		var body []byte
		var err error
		for range 3 {
			requests++
			if body, err = plainGet(ctx, url); err == nil {
				break
			}
		}
		if err != nil {
			return fmt.Sprintf("gives up at page %d with %s items: %v (\"the API is unstable\")", n+1, thousands(int64(rows)), err)
		}
		page := gjson.GetBytes(body, s.items).Array()
		if len(page) == 0 || (s.size >= 1000 && n == 1) {
			break
		}
		for _, it := range page {
			rows++
			ids[it.Raw] = true
		}
		if s.size >= 1000 && len(page) < s.size {
			break // fewer than asked: surely the last page
		}
	}
	text := fmt.Sprintf("%s items, no error, exit 0", thousands(int64(rows)))
	if len(ids) < rows {
		text += fmt.Sprintf(" (%d of them twice, and nobody counts)", rows-len(ids))
	}
	return text
}

func plainGet(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var v any
	return body, json.Unmarshal(body, &v)
}
