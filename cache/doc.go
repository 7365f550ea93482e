// Package cache keeps typed values in the process, within a limit in bytes, and loads each missing
// value from the origin once.
//
// # Contract
//
// The cache is lossy: any entry may vanish at any time, for lack of room, at
// the end of its life, or with the process. Therefore nothing whose loss would
// be a security or correctness fault may live here: no sessions, tokens, rate
// limits or locks.
//
// Values are shared. What is set or loaded is handed to every reader as it is,
// so nobody may change it afterwards.
//
// # Non-goals
//
// It is no queue and no database: there are no transactions over several keys and no writes that
// reach the origin later. A read never prolongs the life of an entry. Nothing is kept on disk, and
// replicas of the remote are not read.
//
// # The life of a Get
//
//  1. The local record is looked up. If it has a value, belongs to the present generation (Clear
//     begins a new one), has no invalidated tag and is fresh, it is returned. Most reads end here:
//     a map lookup, a few comparisons, no allocation.
//  2. A record at its hard life does not exist. A remembered "does not exist"
//     gives ErrNotFound.
//  3. A fresh value near its end may be refreshed early: the read returns it
//     and begins one background load, with a probability that grows as the
//     end comes near and with the time the value took to load.
//  4. A value past its soft life but within StaleWhileRevalidate is returned,
//     and one background load begins.
//  5. A value past that is refreshed first. The read waits, up to
//     LoadSoftTimeout, and gets the old value only if the load fails or takes
//     longer.
//  6. Nothing usable is held: the read joins the load of its key, or begins
//     it. There is one load per key. It runs on a context of its own, bounded
//     by LoadTimeout; each reader leaves on its own context, and the load
//     goes on when all have left.
//  7. The result is kept unless the key was set, deleted or cleared, or a tag of the result
//     invalidated, since the load began; then the readers get what the key holds now, or, if it
//     holds nothing, the result without its being kept. A reader that comes after such a write
//     never joins the older load.
//  8. ErrNotFound from the loader is kept for NegativeTTL. Another error is
//     kept for a pause that doubles from ErrorBackoffMin to ErrorBackoffMax;
//     in it the origin is left alone, and reads get the old value until its
//     hard life, or a *LoadError if there is none.
//
// Steps 4 and 5 need a loader: without one nothing could replace the value,
// and it ends with its soft life.
//
// A loader that asks for the key it is loading, directly or through loaders of
// other keys with the context it was given, gets an error instead of waiting
// for itself. Two loaders that wait for each other's key without such a
// context in common are released by LoadTimeout.
//
// # Two levels
//
// With Options.Remote several caches, mostly of different processes, share a second level. Where
// the steps above would begin a load, the Get goes on so:
//
//  1. A value that is held is suspect if the link to the remote was down since it was checked, and
//     is compared by its version: if it is what the remote has still, and none of its tags was
//     invalidated, it is served.
//  2. What is not held, or has changed, is fetched. A fresh record answers the read.
//  3. Otherwise one node of all gets the lease of the key and loads it. The others wait for its
//     result.
//  4. The result is stored unless the key was written meanwhile: then what was written answers.
//  5. If the remote does not answer, a value that was right not longer than MaxStale ago is served,
//     or the loader runs, and its result is kept here for five seconds at most.
//
// A write changes the remote first, in one step with the notice to all others (SyncMode says in
// which form); if that fails nothing changes here. Each record has a version, and the notice of a
// version ends what is older. Staleness says how old an answer can be, GetEntry of one value, and
// may ask for more. A load that failed is remembered by all nodes until the end of its pause,
// unless the remote has a value still. GetMany with a loader of its own takes no leases: two nodes
// may load a key at the same time, and the first to store it wins. A LoadEntry whose tags this node
// has not met since the link came up keeps its result to this node the first time. The window in
// which stale values are served at once is that of each node's own policy.
//
// # Tests with a fake clock
//
// The cache reads the time of package time and needs no clock of its own for tests: in a bubble of
// testing/synctest its lives, pauses and timeouts follow the time of the bubble. Make the cache in
// the bubble and Close it before the bubble ends. The clock of lives ticks every 5 ms, so sleep at
// least that much longer than a life to see it end.
package cache
