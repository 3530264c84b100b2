// Package guard stands between the network and everything that the daemon serves: who
// may ask (tokens, sessions of browsers), from where (names of the host, origins), how
// often and how much, and which headers every answer has.
package guard
