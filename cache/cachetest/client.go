package cachetest

import (
	"context"
	"errors"
	"math"
	"time"

	"example.com/quire/cache"
)

// Call is what a Client does.
type Call int

// The calls of a Client. Those up to CallPurge write.
const (
	CallSet        Call = iota
	CallUpdate          // puts a new value in place of one that is there
	CallDelete          //
	CallInvalidate      // of the tag that all keys but the first have
	CallClear           //
	CallPurge           //
	CallPeek            //
	CallGet             //
	CallGetMany         //
	CallEntry           //
	CallBounded         // GetEntry with MaxStale
	CallVerify          // GetEntry with Verify
)

// callShares are how many of 100 calls are of each kind.
var callShares = [...]int{CallSet: 12, CallUpdate: 6, CallDelete: 4, CallInvalidate: 2, CallClear: 1, CallPurge: 1, CallPeek: 14, CallGet: 17, CallGetMany: 3, CallEntry: 15, CallBounded: 10, CallVerify: 15}

// DrawCall chooses a call by n, of 0 to 99.
func DrawCall(n int) Call {
	for c, share := range callShares {
		if n -= share; n < 0 {
			return Call(c)
		}
	}
	return CallVerify
}

// Client makes calls of a cache and tells them as those of a history.
type Client struct {
	Node  int
	Cache *cache.Cache[string, []byte]
	// Now is the time of the history.
	Now func() time.Duration
	// MaxStale is that of the cache's policy, and how late the process may notice the end of a
	// time.
	MaxStale time.Duration
	// Many is the loader of CallGetMany; nil for that of the cache.
	Many func(context.Context, []string) (map[string][]byte, error)
	// Begin, if set, is told of a write before it is done; of an Update, each time that it tries.
	Begin func([]Op)
}

// maxStaleOfBounded is how old the answer of CallBounded may be.
const maxStaleOfBounded = 100 * time.Millisecond

// tag is that of all keys but the first.
const tag = "t"

// Do makes a call, with a value that no other write has, and returns what belongs to the history:
// nothing for a call that changed nothing and answered nothing. All keys of the cache are given, i
// is that of the call.
func (c *Client) Do(ctx context.Context, call Call, keys []string, i int, value string) []Op {
	o := Op{Node: c.Node, Key: keys[i], Call: c.Now()}
	if call >= CallPeek {
		return c.read(ctx, call, keys, o)
	}
	o.Write = true
	var all []Op
	var err error
	switch call {
	case CallSet:
		o.Value = value
		all = []Op{o}
	case CallUpdate:
		return c.update(ctx, o, value)
	case CallDelete:
		all = []Op{o}
	case CallInvalidate:
		all = removals(o, keys[1:])
	case CallClear:
		all = removals(o, keys)
	}
	c.begin(all)
	switch call {
	case CallSet:
		w := cache.WriteOptions{}
		if i > 0 {
			w.Tags = []string{tag}
		}
		all[0].Version, err = c.Cache.SetWith(ctx, o.Key, []byte(value), w)
	case CallDelete:
		err = c.Cache.Delete(ctx, o.Key)
	case CallInvalidate:
		err = c.Cache.InvalidateTags(ctx, tag)
	case CallClear:
		err = c.Cache.Clear(ctx)
	case CallPurge:
		_, err = c.Cache.Purge(ctx, math.MaxInt32)
	}
	return c.written(all, err)
}

func removals(o Op, keys []string) (all []Op) {
	for _, k := range keys {
		o.Key = k
		all = append(all, o)
	}
	return all
}

func (c *Client) begin(all []Op) {
	if c.Begin != nil && len(all) > 0 {
		c.Begin(all)
	}
}

func (c *Client) written(all []Op, err error) []Op {
	unsure := errors.Is(err, cache.ErrUncertain)
	if err != nil && !unsure {
		return nil
	}
	for i := range all {
		all[i].Unsure, all[i].Return = unsure, c.Now()
	}
	return all
}

// update replaces a value, which keeps its tag. Where there is none it is a read.
func (c *Client) update(ctx context.Context, o Op, value string) []Op {
	var err error
	o.Version, err = c.Cache.Update(ctx, o.Key, func(old []byte, ok bool) ([]byte, cache.Op, error) {
		if o.Write = ok; !ok {
			return nil, cache.Keep, nil
		}
		o.Value, o.Compare, o.Old = value, true, string(old)
		c.begin([]Op{o})
		return []byte(value), cache.Put, nil
	})
	if !o.Write {
		o.Value, o.Compare, o.Old = "", false, ""
	}
	return c.written([]Op{o}, err)
}

func (c *Client) read(ctx context.Context, call Call, keys []string, o Op) []Op {
	// What Staleness says holds until the link breaks.
	o.Bound = c.Cache.Staleness()
	breaks := c.Cache.Stats().LinkBreaks
	all := []Op{o}
	var v []byte
	var err error
	switch call {
	case CallPeek:
		var ok bool
		if v, ok = c.Cache.Peek(o.Key); !ok {
			return nil
		}
		all[0].Value = string(v)
	case CallGet:
		v, err = c.Cache.Get(ctx, o.Key)
		all[0].Value = string(v)
	case CallGetMany:
		var got map[string][]byte
		got, err = c.Cache.GetMany(ctx, keys, c.Many)
		all = removals(o, keys)
		for i := range all {
			all[i].Value = string(got[all[i].Key])
		}
	default:
		return c.entry(ctx, call, o, breaks)
	}
	if err != nil && !errors.Is(err, cache.ErrNotFound) {
		return nil
	}
	for i := range all {
		all[i].Return, all[i].Bound = c.Now(), c.bound(o.Bound, breaks)
	}
	return all
}

// bound is that of a read that began with that bound and that many breaks of the link.
func (c *Client) bound(d time.Duration, breaks uint64) time.Duration {
	if d == math.MaxInt64 || c.Cache.Stats().LinkBreaks != breaks {
		return c.MaxStale
	}
	return d
}

// entry is a read that tells its bound.
func (c *Client) entry(ctx context.Context, call Call, o Op, breaks uint64) []Op {
	r := cache.ReadOptions{Verify: call == CallVerify}
	if call == CallBounded {
		r.MaxStale = maxStaleOfBounded
	}
	e, err := c.Cache.GetEntry(ctx, o.Key, r)
	o.Return = c.Now()
	switch {
	case err == nil:
		o.Value, o.Bound = string(e.Value), e.Bound
	case !errors.Is(err, cache.ErrNotFound):
		return nil
	case call == CallEntry:
		o.Bound = c.bound(o.Bound, breaks)
	default:
		o.Bound = r.MaxStale
	}
	return []Op{o}
}
