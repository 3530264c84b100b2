//go:build unix

package guard

import "io/fs"

func worldReadable(m fs.FileMode) bool { return m.Perm()&0o004 != 0 }
