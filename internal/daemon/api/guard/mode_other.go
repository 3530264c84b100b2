//go:build !unix

package guard

import "io/fs"

// Where modes say nothing, nothing is refused for them.
func worldReadable(fs.FileMode) bool { return false }
