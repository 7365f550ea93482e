// Package memory has the test of what a server takes of memory while it makes documents of large
// images. It runs without the race detector, for which not the whole program is compiled here: its
// server has the routes, the engine and the limits of the program, and keeps nothing.
// `make soak-images` runs it over the whole program.
package memory
