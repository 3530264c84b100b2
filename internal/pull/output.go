package pull

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"lastdrop/configs"
	"lastdrop/internal/secret"
	"lastdrop/internal/sink"
	"lastdrop/internal/sink/codec"
	"lastdrop/internal/sink/command"
	"lastdrop/internal/sink/csv"
	"lastdrop/internal/sink/objects"
	"lastdrop/internal/sink/parquet"
	"lastdrop/internal/sink/postgres"
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
	format := configs.FormatOf(p.target)
	if p.target != sink.Stdout && format == "" {
		return sink.Options{}, fmt.Errorf("cannot open %q: its ending names no known format; endings that work: %s", p.hide(p.target), strings.Join(configs.Formats(), ", "))
	}
	o := sink.Options{Target: c.Shown(p.target), Stdout: p.opt.Stdout, OnAny: c.Output.On == "any", ResumeCommitted: true, Stop: stop, Form: forms[format]}
	ids := make([]string, len(c.Items.ID))
	for i, path := range c.Items.ID {
		ids[i] = string(path)
	}
	switch table := c.TableOf(p.target); {
	case format == configs.Postgres:
		o.Table = &postgres.Table{DSN: secret.Value(p.target), Table: table, Run: run, ID: ids, Merge: c.Output.Merge, Stop: stop}
	case format == configs.S3:
		store, err := p.objects(run, stop)
		if err != nil {
			return o, err
		}
		o.Table = store
	case table != "":
		o.Table = &sqlite.Table{Path: p.target, Table: table, Run: run, ID: ids, Stop: stop}
	}
	if configs.Far(p.target) {
		o.Beside = p.beside()
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

// objects is the folder of an object store.
func (p *pull) objects(run string, stop func() error) (*objects.Target, error) {
	bucket, folder := configs.BucketOf(p.target)
	if bucket == "" || folder == "" {
		return nil, fmt.Errorf("%s: %s names no folder of a bucket: write s3://bucket/folder", p.cfg.Name, p.target)
	}
	s := p.cfg.Output.S3
	if s == nil {
		s = &configs.Store{}
	}
	return &objects.Target{Bucket: bucket, Folder: folder, Endpoint: s.Endpoint, Region: s.Region, AccessKey: s.AccessKey, SecretKey: s.SecretKey,
		SessionToken: s.SessionToken, Compress: s.Compress, PartSize: int64(s.PartSize), Dir: p.spool(), Pull: p.cfg.Name, Run: run,
		Verdict: func() string { return p.verdict.String() }, Stop: stop}, nil
}

// spool is the folder where the items wait for what is no file.
func (p *pull) spool() string { return cmp.Or(p.cfg.Output.Spool, ".") }

// beside stands for the file that such an output is not: no two pulls or places have the same.
func (p *pull) beside() string {
	name, _, _ := strings.Cut(p.cfg.Name, "/")
	sum := sha256.Sum256([]byte(p.cfg.Name + "\x00" + configs.PlaceOf(p.target)))
	return filepath.Join(p.spool(), name+"-"+hex.EncodeToString(sum[:4]))
}
