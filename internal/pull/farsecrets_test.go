package pull_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"

	"lastdrop/configs"
	"lastdrop/internal/pgtest"
	"lastdrop/internal/pull"
	"lastdrop/internal/s3test"
	"lastdrop/store"
)

// TestNoAddressIsKept writes to a database and an object store, well and badly, and looks for their secrets in every byte that a run
// leaves behind: store, log, report, errors.
func TestNoAddressIsKept(t *testing.T) {
	server := pgtest.Start(t)
	bucket := s3test.Start(t)
	dsn := server.Database(t)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	wrong := *u
	wrong.User = url.UserPassword("keeper", token)
	pgtest.Exec(t, dsn, "CREATE ROLE clerk LOGIN PASSWORD '"+token+"'", "GRANT CREATE ON SCHEMA public TO clerk")
	right := *u
	right.User = url.UserPassword("clerk", token)
	pgtest.Exec(t, dsn, `CREATE TABLE theirs (id int)`)
	const s3 = `, s3: {endpoint: "${ENDPOINT}", access_key: "${AK}", secret_key: "${SK}"}`
	for name, c := range map[string]struct {
		to, output, out string
		fails           bool
	}{
		"from the environment": {right.String(), `{to: "${TO}", spool: "${DIR}"}`, "", false},
		"in the config":        {"", `{to: "` + right.String() + `", spool: "${DIR}"}`, "", false},
		"by --out":             {"", `{to: x.jsonl}`, right.String(), false},
		"a wrong password":     {wrong.String(), `{to: "${TO}", spool: "${DIR}"}`, "", true},
		"a wrong one by --out": {"", `{to: x.jsonl}`, wrong.String(), true},
		"another scheme":       {"", `{to: x.jsonl}`, strings.Replace(right.String(), "postgres:", "postgrex:", 1), true},
		"a table of others":    {right.String(), `{to: "${TO}", table: theirs, spool: "${DIR}"}`, "", true},
		"a parameter":          {strings.Replace(dsn, server.User+":"+server.Password, "clerk", 1) + "?password=" + token, `{to: "${TO}", spool: "${DIR}"}`, "", false},
		"an object store":      {"s3://things/x", `{to: "${TO}", spool: "${DIR}"` + s3 + `}`, "", false},
		"no such bucket":       {"s3://nothing/x", `{to: "${TO}", spool: "${DIR}"` + s3 + `}`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, 25, c.output)
			t.Chdir(s.dir) // where --out waits
			env := map[string]string{"BASE": s.server.URL, "DIR": s.dir, "TO": c.to, "ENDPOINT": bucket.URL, "AK": "AK" + token, "SK": token}
			cfg, err := configs.Parse("shop.yaml", s.config(), func(k string) (string, bool) { v, ok := env[k]; return v, ok })
			if err != nil {
				t.Fatal(err)
			}
			st, err := store.Open(context.Background(), s.path("runs.sqlite"))
			if err != nil {
				t.Fatal(err)
			}
			log := &bytes.Buffer{}
			for _, pages := range []int64{1, 0} {
				rep, err := pull.Run(context.Background(), pull.Options{Config: cfg, Store: st, Target: c.out, MaxPages: pages, Version: "test",
					Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
				var early *pull.NotStarted
				if errors.As(err, &early) != c.fails || (err != nil) != c.fails {
					t.Errorf("%v, %+v", err, rep)
				}
				fmt.Fprintf(log, "%+v %v\n%s\n", rep, err, cfg.Redacted())
				seek(t, s.dir, log.Bytes())
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			seek(t, s.dir, log.Bytes())
			database, err := os.ReadFile(s.path("runs.sqlite"))
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{u.Host, "clerk", server.User} {
				if bytes.Contains(database, []byte(part)) {
					t.Errorf("the store holds %q of the address", part)
				}
			}
		})
	}
}
