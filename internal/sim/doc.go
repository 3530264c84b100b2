// Package sim is a hostile paginated API over a world of known truth.
//
// A [Sim] is data: a [World] (items and the changes that they go through), an
// [API] (how that world is paged and what the wire looks like), a list of
// [Fault] values (when something goes wrong, and what) and a seed. The same
// data gives the same answers to the same requests, whatever the machine.
//
// A Sim is an [net/http.Handler], so that it can be put on a real socket, and
// has a [Sim.Transport] that serves the same answers without one: half bodies,
// cut codings and resets come out of it as a net/http client would see them.
//
// Because the truth is known, a run can be judged: [Sim.Truth] names the items
// that existed from the first to the last request, those that existed at any
// time, and whether the answers that were given could have told the
// difference at all.
//
// The package imports nothing else of this module; [ClientHints] says in
// neutral words how a client has to be configured for a Sim.
package sim
