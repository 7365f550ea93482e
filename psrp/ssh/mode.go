package ssh

import (
	"io/fs"
	"runtime"
)

// isOpen reports whether others than its owner may read or write a file. Windows says that by other
// means, which are not looked at.
func isOpen(m fs.FileMode) bool { return runtime.GOOS != "windows" && m.Perm()&0o077 != 0 }
