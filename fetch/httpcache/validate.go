package httpcache

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/internal/httpfield"
)

// validate asks the origin whether what is stored still holds (RFC 9111, section 4.3).
func (x *exchange) validate(why string) (*http.Response, error) {
	sent, ours := x.conditional()
	if !ours {
		return x.forward(why)
	}
	resp, err := x.send(sent)
	now := time.Now()
	if err != nil {
		if x.mayBeStale(now) && x.req.Context().Err() == nil {
			x.c.stats.stale.Add(1)
			return x.serve(x.v, now, forwarded{why: why}, ResultStale), nil
		}
		return nil, err
	}
	switch status := resp.StatusCode; {
	case status == http.StatusNotModified:
		return x.notModified(resp, why, !strings.Contains(sent.Header.Get("If-None-Match"), ","), now)
	case serverError(status):
		if x.mayBeStale(now) {
			discard(resp)
			x.c.stats.stale.Add(1)
			return x.serve(x.v, now, forwarded{why: why, status: status}, ResultStale), nil
		}
		return x.take(resp, sent, why, false), nil // what is stored outlives it
	}
	return x.take(resp, sent, why, true), nil
}

// serverError tells whether stale-if-error covers a status (RFC 5861, section 4).
func serverError(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// mayBeStale tells whether the stored response may stand in for an error.
func (x *exchange) mayBeStale(now time.Time) bool {
	v, d := x.v, &x.demands
	if v == nil || v.invalidated || v.noCache || v.revalidate || d.noCache || v.partial && !x.within(v) {
		return false
	}
	window := v.sie
	if d.sie.set {
		window = max(window, d.sie.d)
	}
	return v.ageAt(now)-v.life <= window
}

// conditional returns the request with the validators of what is stored, and those of the request's
// own; ours is false when nothing stored has any. The request's range is left out where the whole
// is stored: its validation is one of the whole.
func (x *exchange) conditional() (sent *http.Request, ours bool) {
	var tags []string
	for _, v := range x.entry.variants {
		if httpfield.ValidETag(v.etag) && !v.partial && !slices.Contains(tags, v.etag) {
			tags = append(tags, v.etag)
		}
	}
	modified := ""
	if v := x.v; v != nil {
		if m := v.fields.get("Last-Modified"); !v.modified.IsZero() && len(m) == 1 {
			modified = m[0]
		} else if len(tags) == 0 {
			modified = httpfield.FormatDate(v.date)
		}
	}
	if len(tags) == 0 && modified == "" {
		return x.req, false
	}
	for tag := range httpfield.Members(x.req.Header["If-None-Match"]) {
		if httpfield.ValidETag(tag) && !slices.Contains(tags, tag) && len(tags) < maxMembers {
			tags = append(tags, tag)
		}
	}
	c := *x.req
	c.Header = x.req.Header.Clone()
	if c.Header == nil {
		c.Header = make(http.Header, 2)
	}
	for _, name := range []string{"If-None-Match", "If-Modified-Since", "If-Range", "Range"} {
		delete(c.Header, name)
	}
	if len(tags) > 0 {
		c.Header["If-None-Match"] = []string{strings.Join(tags, ", ")}
	}
	if modified != "" {
		c.Header["If-Modified-Since"] = []string{modified}
	}
	return &c, true
}

// notModified answers out of the store after a 304, which updates what it selects (section 4.3.4).
func (x *exchange) notModified(resp *http.Response, why string, sole bool, now time.Time) (*http.Response, error) {
	old := x.chosen(resp.Header, sole, now)
	if old == nil {
		if x.ownTag(resp.Header) {
			return x.take(resp, x.req, why, false), nil // it is about what the caller has
		}
		discard(resp)
		c := *x.req
		c.Header = x.req.Header.Clone()
		delete(c.Header, "If-None-Match")
		delete(c.Header, "If-Modified-Since")
		again, err := x.send(&c)
		if err != nil {
			return nil, err
		}
		return x.take(again, &c, why, true), nil
	}
	next, kept := x.c.updated(old, resp.Header, x, now)
	status := resp.StatusCode
	discard(resp)
	x.c.stats.revalidated.Add(1)
	switch {
	case !kept:
		x.c.forget(x.req.Context(), x.key)
	case x.demands.noStore || x.options.NoStore: // what is stored stays as it is
	case x.v == old:
		x.c.replace(x.req.Context(), x.key, old, next, x.number)
	default: // this request selects it too, says the origin
		x.c.commit(x.req.Context(), x.key, next, x.number)
	}
	return x.serve(next, now, forwarded{why: why, status: status}, ResultRevalidated), nil
}

// chosen returns the variant that a 304 is about: by its strong tag, by its weak one, by its date;
// without any of these it is about the one that was selected.
//
// A strong tag that is nobody's updates nothing, says section 4.3.4: of several variants it may
// mean any. But when the request had a single tag, "not modified" can be about that one alone.
// Servers that compress on the way do answer so: they take the tag "x-gzip" and name "x". It is
// taken for what it was sent for, and keeps its own tag.
func (x *exchange) chosen(h http.Header, sole bool, now time.Time) *variant {
	if tags := h["Etag"]; len(tags) > 0 {
		tag, _, ok := httpfield.ParseETag(strings.TrimSpace(tags[0]))
		if !ok {
			return nil
		}
		var found *variant
		for _, v := range x.entry.variants {
			have, _, ok := httpfield.ParseETag(v.etag)
			if !ok || v.partial || have.Opaque != tag.Opaque || !tag.Weak && have.Weak {
				continue
			}
			if found == nil || v == x.v || found != x.v && v.date.After(found.date) {
				found = v
			}
		}
		if found == nil && sole {
			return x.v
		}
		return found
	}
	if at, ok := dateField(h, "Last-Modified", now); ok {
		if x.v != nil && (x.v.modified.Equal(at) || x.v.modified.IsZero()) {
			return x.v
		}
		for _, v := range x.entry.variants {
			if !v.partial && v.modified.Equal(at) {
				return v
			}
		}
		return nil
	}
	return x.v
}

// ownTag tells whether a 304 names a tag that the caller sent itself.
func (x *exchange) ownTag(h http.Header) bool {
	tags := h["Etag"]
	if len(tags) == 0 || x.v == nil && !conditional(x.req.Header) {
		return false
	}
	tag, _, ok := httpfield.ParseETag(strings.TrimSpace(tags[0]))
	for member := range httpfield.Members(x.req.Header["If-None-Match"]) {
		if own, _, good := httpfield.ParseETag(member); ok && good && own.Opaque == tag.Opaque {
			return true
		}
	}
	return false
}

// maxUpdated bounds the fields of what is updated, names and values: so many bytes a transport
// takes from one response, and each update may add to what came with those before.
const maxUpdated = 1 << 20

// updated returns v with the fields of a 304 or of an answer to HEAD (section 3.2) in the place of
// its own, but those that describe the stored body, and with the freshness that they give and what
// they select by. kept is false when by these fields it must not stay stored.
func (c *Cache) updated(v *variant, h http.Header, x *exchange, now time.Time) (next *variant, kept bool) {
	n := *v
	own := v.fields.header(nil, len(h), nil)
	delete(own, "Age") // it was that of the response before
	connection := h["Connection"]
	for name, values := range h {
		switch name {
		case "Content-Length", "Content-Encoding", "Content-Range", "Content-Md5", "Etag":
			continue
		}
		if hopByHop(name) || len(connection) > 0 && httpfield.HasToken(connection, name) {
			continue
		}
		own[name] = values
	}
	var ok bool
	if n.date, ok = dateField(h, "Date", now); !ok {
		n.date = now
		own["Date"] = []string{httpfield.FormatDate(now)}
	}
	n.setHeader(own)
	n.arrived, n.invalidated = now, false
	d := c.responseDirectives(own)
	if c.cfg.Mode == TTLOnly {
		d.noCache, d.mustRevalidate, d.proxyRevalidate, d.sMaxAge = false, false, false, seconds{}
	}
	ttl := c.cfg.TTL
	if x.options.TTL > 0 {
		ttl = x.options.TTL
	}
	c.judge(&n, own, &d, ttl, x.asked, now)
	size := 0
	for _, name := range n.fields.names {
		size += len(name.text)
	}
	for _, value := range n.fields.values {
		size += len(value)
	}
	varies := true
	if x.v != v || !slices.Equal(own["Vary"], v.fields.get("Vary")) { // otherwise the request was selected by what v has
		n.vary, varies = selectors(own["Vary"], x.req.Header)
	}
	return &n, varies && size <= maxUpdated && c.permitted(x.req, n.status, own, &d)
}

// forget removes what is stored under a key.
func (c *Cache) forget(ctx context.Context, k Key) {
	mu := c.lock(&k)
	mu.Lock()
	defer mu.Unlock()
	c.remove(ctx, k)
}

// head forwards a HEAD and brings the stored GET up to date with its answer, or marks it stale
// (section 4.3.5).
func (x *exchange) head(why string) (*http.Response, error) {
	resp, err := x.send(x.req)
	if err != nil {
		return nil, err
	}
	if v := x.v; v != nil && !v.partial && resp.StatusCode == http.StatusOK {
		now := time.Now()
		if v.status == http.StatusOK && v.agrees(resp, now) && !x.demands.noStore && !x.options.NoStore {
			if next, kept := x.c.updated(v, resp.Header, x, now); kept {
				x.c.replace(x.req.Context(), x.key, v, next, x.number)
			} else {
				x.c.forget(x.req.Context(), x.key)
			}
		} else {
			n := *v
			n.invalidated = true
			x.c.replace(x.req.Context(), x.key, v, &n, x.number)
		}
	}
	return x.take(resp, x.req, why, false), nil
}

// agrees tells whether an answer to HEAD describes the stored body.
func (v *variant) agrees(resp *http.Response, now time.Time) bool {
	if tags := resp.Header["Etag"]; len(tags) > 0 && strings.TrimSpace(tags[0]) != v.etag {
		return false
	}
	if at, ok := dateField(resp.Header, "Last-Modified", now); ok && !v.modified.IsZero() && !at.Equal(v.modified) {
		return false
	}
	return len(resp.Header["Content-Length"]) == 0 || resp.ContentLength < 0 || resp.ContentLength == int64(len(v.body))
}

// background validates x.key once, apart from the request that found it stale (RFC 5861, section
// 3).
func (x *exchange) background() {
	c := x.c
	c.mu.Lock()
	_, busy := c.busy[x.key]
	if busy || c.closed {
		c.mu.Unlock()
		return
	}
	select {
	case c.slots <- struct{}{}:
	default: // all are taken: the next request tries again
		c.mu.Unlock()
		return
	}
	c.busy[x.key] = struct{}{}
	c.wg.Add(1)
	c.mu.Unlock()
	b := *x
	// Here, not in the goroutine: the caller may change his own as soon as he has his answer.
	b.req = call.Apart(x.req.Context(), x.req)
	go func() {
		defer func() {
			c.mu.Lock()
			delete(c.busy, b.key)
			c.mu.Unlock()
			<-c.slots
			c.wg.Done()
		}()
		ctx, cancel := context.WithTimeout(call.Detach(b.req.Context(), false), backgroundWait)
		defer cancel()
		defer context.AfterFunc(c.ctx, cancel)()
		of := b.st
		b.st = call.New(ctx, time.Now())
		if of != nil {
			b.st.Continue(of)
		}
		b.options = &b.st.Options.Cache
		b.req = b.req.WithContext(b.st)
		for _, name := range []string{"If-None-Match", "If-Modified-Since", "If-Range", "Range"} {
			delete(b.req.Header, name)
		}
		b.fields = b.req.Header
		resp, err := b.validate(fwdStale)
		if err != nil {
			return // the next request that finds it stale tries again
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, c.cfg.MaxEntry+1)) // its end commits it
		_ = resp.Body.Close()
	}()
}

// Invalidate removes what is stored for a URL, in every partition that the store can list, and
// keeps out what is on its way.
func (c *Cache) Invalidate(ctx context.Context, u *url.URL) {
	k, _ := KeyOf(&http.Request{URL: u})
	c.invalidate(ctx, k)
}

func (c *Cache) invalidate(ctx context.Context, k Key) {
	partition := k.Partition
	k.Partition = ""
	mu := c.lock(&k)
	mu.Lock()
	defer mu.Unlock()
	c.invalidated(k)
	c.remove(ctx, k)
	if partition != "" {
		own := k
		own.Partition = partition
		c.remove(ctx, own)
	}
	if c.direct != nil && c.direct.partitioned.Load() == 0 {
		return
	}
	if p, ok := c.cfg.Store.(Purger); ok {
		_, _ = p.Purge(ctx, func(have Key) bool { // a failure leaves what its freshness leaves
			have.Partition = ""
			return have == k
		})
	}
}

// invalidateBy removes what a successful unsafe request has made out of date: its target, and what
// Location and Content-Location name at the same origin.
func (c *Cache) invalidateBy(req *http.Request, resp *http.Response) {
	k, ok := c.keyOf(req, req.Header)
	if !ok {
		return
	}
	c.invalidate(req.Context(), k)
	for _, name := range []string{"Location", "Content-Location"} {
		values := resp.Header[name]
		if len(values) == 0 {
			continue
		}
		u, err := req.URL.Parse(values[0])
		if err != nil {
			continue
		}
		other := *req
		other.URL, other.Host = u, ""
		o, ok := c.keyOf(&other, other.Header)
		if ok && o.Scheme == k.Scheme && o.Host == k.Host && o != k {
			c.invalidate(req.Context(), o)
		}
	}
}

// Purge removes what is stored under addresses that begin with prefix, such as
// "https://api.example/v1/", and returns how many entries they were. A store that cannot list its
// keys has none.
func (c *Cache) Purge(ctx context.Context, prefix string) (int, error) {
	p, ok := c.cfg.Store.(Purger)
	if !ok {
		return 0, nil
	}
	c.mu.Lock()
	c.floor = c.number.Add(1) // whatever is on its way may fall under it
	c.mu.Unlock()
	return p.Purge(ctx, func(k Key) bool {
		k.Partition = ""
		return strings.HasPrefix(k.String(), prefix)
	})
}
