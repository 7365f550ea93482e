package cache

import "example.com/quire/bench/harness"

// SmallSuite has a tenth of the keys and entries of the rows of a million, which take longest.
func SmallSuite() harness.Suite { return suite(100_000) }
