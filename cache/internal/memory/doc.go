// Package memory has the tests of what a cache takes of memory. They run without the race detector,
// for which the cache is compiled here for two kinds of values, not for all of its own tests.
package memory
