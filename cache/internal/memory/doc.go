// Package memory tests the memory use of a cache. The tests run without the race detector. They are
// in their own package so that the cache is compiled here for two types of values only, not for all
// of its tests.
package memory
