// Package memory tests the memory that a server needs while it makes documents of large images. It
// runs without the race detector, and to save compiling it does not include the whole program: its
// server has the routes, the engine and the limits of the program, but stores nothing. `make
// soak-images` runs the same test with the whole program.
package memory
