package cache

// EventKind says what an Event tells.
type EventKind uint8

// The kinds of an Event.
const (
	EventSet         EventKind = iota + 1 // a value was set here
	EventDelete                           // a key was deleted here
	EventInvalidate                       // tags were invalidated, here or elsewhere
	EventClear                            // everything was dropped, here or elsewhere
	EventRemoteWrite                      // another node has written a key: set, loaded or deleted it
	EventRefuse                           // a value was too large to be held, or one from elsewhere could not be read
	EventLinkUp                           // notices of the remote arrive
	EventLinkDown                         // they do not: Err says why
)

// Event is something that has happened to a cache.
type Event[K comparable] struct {
	Kind EventKind
	// Key is what it happened to, for EventSet, EventDelete, EventRemoteWrite and EventRefuse.
	Key K
	// Version is that of the write, for EventRemoteWrite and, with Options.Remote, EventSet and
	// EventDelete.
	Version Version
	// Tags are those that were invalidated.
	Tags []string
	Err  error
}

// observe tells the observer, if there is one. No lock is held.
func (c *Cache[K, V]) observe(e Event[K]) {
	if c.o.Observer != nil {
		c.o.Observer(e)
	}
}
