package pull

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"lastdrop/configs"
	"lastdrop/internal/sink"
	"lastdrop/internal/sink/codec"
	"lastdrop/internal/sink/command"
	"lastdrop/internal/sink/csv"
	"lastdrop/internal/sink/parquet"
	"lastdrop/internal/sink/singer"
	"lastdrop/internal/sink/sqlite"
)

// forms are the endings of files that are made of all items at the end.
var forms = map[string]sink.Form{
	".csv":     csv.Form{Codec: codec.Plain{}},
	".csv.gz":  csv.Form{Codec: codec.Gzip{}},
	".csv.zst": csv.Form{Codec: codec.Zstd{}},
	".parquet": parquet.Form{},
}

// output says where and as what the items go; run is empty before there is one.
func (p *pull) output(run string, stop func() error) (sink.Options, error) {
	c := p.cfg
	if p.target != sink.Stdout && configs.FormatOf(p.target) == "" {
		return sink.Options{}, fmt.Errorf("cannot open %q: its ending names no known format; endings that work: %s", p.target, strings.Join(configs.Formats(), ", "))
	}
	ids := make([]string, len(c.Items.ID))
	for i, path := range c.Items.ID {
		ids[i] = string(path)
	}
	o := sink.Options{Target: p.target, Stdout: p.opt.Stdout, OnAny: c.Output.On == "any", ResumeCommitted: true, Stop: stop,
		Form: forms[configs.FormatOf(p.target)]}
	if table := c.TableOf(p.target); table != "" {
		o.Table = &sqlite.Table{Path: p.target, Table: table, Run: run, ID: ids, Stop: stop}
	}
	if p.target == sink.Stdout && c.Output.Format == "singer" {
		s := singer.Stream{Name: c.Name, ID: ids, Run: run}
		o.Stream = func(w io.Writer) sink.Stream { return singer.New(w, s) }
	}
	if len(c.Output.Exec) == 0 {
		return o, nil
	}
	if p.target == sink.Stdout {
		return o, errors.New(c.Name + ": output.exec needs a file, where the items wait until the command has taken them: say --out FILE")
	}
	o.Before = func(n int64, items sink.Lines) error {
		env := []string{"LASTDROP_RUN=" + run, "LASTDROP_NAME=" + c.Name, fmt.Sprint("LASTDROP_ITEMS=", n)}
		return command.Command{Args: c.Output.Exec, Env: env, Stop: stop}.Run(items)
	}
	return o, nil
}
