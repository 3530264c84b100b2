// Package store keeps the ledger of runs in one SQLite file: what was asked,
// what came, what was declared, what was ruled, and where an unfinished run
// goes on.
//
// # The promise
//
// Run.Commit is atomic and durable: when it returns nil, everything of the
// checkpoint survives kill -9 and power loss; when it returns an error, or
// the process dies in it, nothing of it counts. The caller syncs its sink
// first and hands over the sink's length, so that a run can always go on from
// its last checkpoint: cut the sink to that length, rebuild the set of held
// items from the keys, ask on from the state. Nothing is lost and nothing is
// there twice.
//
// # One process a run
//
// A run belongs to the process that began it or took it up, until that
// process finishes it, closes it or dies (see lock.go for how). A second one
// gets a *HeldError that says who holds it.
//
// # The file
//
// The tables and views are documented where they are made, in
// migrations/0001_ledger.sql, and are meant to be queried by people with
// plain SQL; README.md has queries to start from. The store holds no secrets
// as long as nobody hands it any: it hides nothing itself.
//
// A Store has one connection that writes and a few that only read; all its
// methods may be called from several goroutines. Several processes may use
// one file.
package store
