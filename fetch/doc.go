// Package fetch is an HTTP client for programs that depend on APIs they do not control.
//
// It is a set of layers, each a func(http.RoundTripper) http.RoundTripper and usable alone under a
// plain http.Client, and one preset, [New], that stacks them in the right order, outermost first:
//
//	call              events, total deadline, guard's host list
//	Middleware        yours, per logical call
//	decode            gzip, MaxBody
//	cache             RFC 9111; hits end here
//	collapse          one request for identical ones
//	limit             rates by key; bulkhead or adaptive limit
//	retry             backoff, Retry-After, budget
//	hedge             a second leg for late answers, out of the same budget
//	breaker           per origin
//	attempt deadline  headers, then body idle; deadline, id and idempotency fields
//	PerAttempt        yours, per attempt
//	drain             closing a body early keeps its connection
//	transport         an own *http.Transport, with the guard in its dialer
//
// Cache, collapse, limit and hedge are there when the Config has them. Hits cost no token of a
// limit, and the cache stores what was sent, not what was decoded. The breaker sits inside the
// retries, so that it sees every attempt; its refusals and those of limits are typed and not
// retried. A hedge is one attempt's second leg. Redirects sit above the stack, so each hop passes
// every layer, the guard included, and the total deadline spans all hops.
//
// # Use
//
//	c, err := fetch.New(fetch.Config{})
//	...
//	items, err := fetch.GetJSON[[]Item](ctx, c, "https://api.example/items")
//
// A failed call is an [*Error] with the log of its attempts; a response of any status is a
// response, and [InfoOf] tells what it took to get it.
//
// # Defaults
//
//	total, attempt, body idle      30 s, 10 s, 15 s
//	attempts, backoff              3, 100 ms to 10 s, full jitter
//	longest Retry-After obeyed     5 min, and never past the deadline
//	retry budget per origin        20 % of the calls of 10 s, plus 10
//	breaker per origin             5 failures in a row, or half of 20 calls in 10 s; open 5 s to 60 s
//	cache                          none; when set: private, 64 MiB, entries up to 8 MiB
//	redirects                      10; not from https to http; credentials stay at their origin
//	body handed out, JSON          32 MiB
//	response header                1 MiB
//	proxy                          none, the environment is not asked
//	TLS                            1.2 and newer
//
// # Do and do not
//
// Do make one client and share it: budget, breakers and connections are its. Do close bodies. Do
// give POST requests an idempotency key ([Overrides]) when the server knows it; without one they
// are sent once, unless it is proven that nothing of them was sent. Do set a [Guard] when somebody
// else chooses the addresses.
//
// Do not set http.Client.Timeout over it; it cuts off what the deadlines here tell apart. Do not
// log what a response says without quoting it.
//
// When not to use this: to stream for longer than minutes (switch the deadlines off by
// [OffDeadlines] and bound the stream yourself), and for WebSockets, where only the handshake is
// HTTP.
//
// # Write your own layer
//
// A layer is a function from RoundTripper to RoundTripper. Four rules let it work with the others:
// never modify the request, send a copy; close the request's body when you do not send it; return a
// response or an error, never both; wrap a body rather than reading it. Config.Middleware puts it
// around each call, Config.PerAttempt around each attempt. See the example of [Layer].
package fetch
