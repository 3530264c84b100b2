// Package api is what programs ask of the daemon: /api/v1 over HTTP, and the OpenAPI
// document that describes it. One table of routes makes both. What it needs of the
// daemon it declares as Engine; who may ask is the business of package guard.
//
// # Lists
//
// Every list answers with items, total, returned, has_more and next. total counts the
// whole list, not the part; next is the path of the next part, or null. Following next
// to its end gives every item once.
//
// What only grows (runs, jobs, and the pages, totals, events, slices, sizes and
// children of a run) is listed as of one moment: the first answer's next carries
// as_of, the newest that there was, and no answer of that walk lists or counts
// anything newer. So total stays the same through a walk, and the items of a walk
// are as many, however much is added meanwhile. What is removed (lastdrop gc) is
// gone from lists and totals alike. Pulls and broken files are listed by name as they
// stand at each request; a file that comes or goes during a walk is seen in total.
// So are jobs by state: those that change their state meanwhile are.
package api
