package sink

// OddJSON are items as sources really send them.
var OddJSON = oddJSON
