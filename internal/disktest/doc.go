// Package disktest gives tests a disk that is full and a user who may not write. Both are the
// kernel's own doing, on Linux only: there is no such thing to be had elsewhere without
// configuring the machine, and the code under test is the same.
package disktest
