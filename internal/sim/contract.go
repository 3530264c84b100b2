package sim

// Contract is what an API documents and a client's operator may configure
// beyond what the answers say. It must be true of the Sim.
type Contract struct {
	// Ends lists documented ends by the config's words: short_page,
	// empty_page, absent_link, absent_continuation.
	Ends []string
	// Reach is a documented cap on the items that can be paged; 0 is none.
	Reach int
}
