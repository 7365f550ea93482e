// Package disktest gives tests a full disk and a user without write permission. Both come from the
// kernel, and exist on Linux only: other systems would have to be configured for them, and the
// code under test is the same.
package disktest
