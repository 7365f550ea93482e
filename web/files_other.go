//go:build !unix

package web

import "math"

// openFiles is how many files the process may have open: here there is no such limit.
func openFiles() uint64 { return math.MaxUint64 }
