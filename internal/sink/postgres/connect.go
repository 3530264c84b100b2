package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"lastdrop/internal/secret"
	"lastdrop/internal/sink"
)

var errAddress = errors.New("it is no address of a database: write postgres://user:password@host:5432/database, percent-encode odd characters, and check its parameters")

// config reads the address. What pgx says of a wrong one is not repeated: it holds parts of it.
func (t *Table) config() (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(t.DSN.Reveal())
	if err != nil {
		return nil, errAddress
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 30 * time.Second
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "lastdrop"
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec // leaves no statement behind in a pooler
	return cfg, nil
}

func (t *Table) connect(ctx context.Context) (*pgx.Conn, error) {
	cfg, err := t.config()
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, cfg)
}

// hangUp ends a connection; the server takes back what was not committed.
func hangUp(conn *pgx.Conn) {
	ctx, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	_ = conn.Close(ctx)
}

// cures are what helps against errors of the server that a user can do something about, by SQLSTATE or its class.
var cures = map[string]string{
	"28": "the server refuses the user or the password: correct the address",
	"3D": "there is no such database: create it, or correct the address",
	"53": "the server has no room or connection left: free some, then run again, which goes on from here",
	"57": "the server or its administrator ended the work (a shutdown, or a statement_timeout, which ?statement_timeout=0 in the address lifts): run again, which goes on from here",
	"22": "a value does not fit the type that a column was given by others: give it back its type, or name another table",

	"2BP01": "something hangs on the table: drop it first, or say output.merge: true, which keeps the table",
	"0A000": "a view hangs on a column whose type must change: drop it first, then create it again",
	"42501": "the user lacks a right: grant it",
	"55P03": "another session, or another run, holds a lock on the table: let it end, then run again, which goes on from here",
}

// explain says what went wrong, and what helps, without any part of the address or of an item.
func (t *Table) explain(ctx context.Context, err error) error {
	var fault *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &fault):
		return t.explainServer(fault)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return errors.New("the server cannot be reached: " + cause(err) + ": check the host and port of the address")
	}
	if lost := lostConnection(err); lost {
		return errors.New("the connection to the server was lost (" + cause(err) + "): run again, which goes on from here")
	}
	return t.hide(err)
}

func (t *Table) explainServer(fault *pgconn.PgError) error {
	if fault.Code == "23505" && strings.HasPrefix(fault.TableName, stagePrefix) {
		return fmt.Errorf("%w: some items have one key (items.id)", sink.ErrReadBack)
	}
	cure, known := cures[fault.Code]
	if !known {
		cure, known = cures[fault.Code[:min(2, len(fault.Code))]]
	}
	// What the server says of values and of users repeats them.
	if class := fault.Code[:min(2, len(fault.Code))]; class == "22" || class == "28" || class == "3D" || class == "23" {
		if !known {
			cure = "the server refuses a row"
		}
		return fmt.Errorf("%s (SQLSTATE %s)", cure, fault.Code)
	}
	text := fmt.Sprintf("the server says: %s (SQLSTATE %s)", fault.Message, fault.Code)
	if known {
		text = fmt.Sprintf("%s (the server says: %s, SQLSTATE %s)", cure, fault.Message, fault.Code)
	}
	return t.hide(errors.New(text))
}

func lostConnection(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "conn closed")
}

// cause says why a connection failed, without addresses.
func cause(err error) string {
	var number syscall.Errno
	var name *net.DNSError
	var untrusted *tls.CertificateVerificationError
	var host x509.HostnameError
	var authority x509.UnknownAuthorityError
	var network net.Error
	switch {
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &name):
		return "its name is not known"
	case errors.As(err, &untrusted), errors.As(err, &host), errors.As(err, &authority):
		return "its certificate is not trusted, or is for another host (sslmode, sslrootcert)"
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "it does not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it hung up"
	}
	return "it does not talk as PostgreSQL does, or not with this sslmode"
}

// hide takes the address and its parts out of an error.
func (t *Table) hide(err error) error {
	hidden := secret.NewSet()
	hidden.Add(t.DSN.Reveal())
	if cfg, bad := t.config(); bad == nil {
		hidden.Add(cfg.Password)
	}
	text := hidden.Hide(err.Error())
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
