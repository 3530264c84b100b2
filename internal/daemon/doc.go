// Package daemon runs pulls by schedule and by hand for as long as its process
// lives: decision 018 says how. It is the engine of `lastdrop serve`; who may look
// and ask is the business of package api, what people see that of package web.
package daemon
