// Package web is an HTTP server framework on net/http with correct defaults: a router that accepts
// every legal set of routes, handlers that return errors, problems (RFC 9457) as error responses,
// strict binding, limits and timeouts everywhere, and a drain that loses no request.
//
//	app, err := web.New(web.Options{})
//	if err != nil { ... }
//	app.GET("/hello/{name}", func(c *web.Context) error {
//		return c.JSON(http.StatusOK, map[string]string{"hello": c.Param("name")})
//	})
//	err = (&web.Server{App: app}).Run(ctx) // 127.0.0.1:8080 until ctx ends
//
// # Patterns
//
// A pattern is a path of segments. The grammar is that of net/http with two
// additions, suffixes and constraints:
//
//	pattern             path                 match
//	/users/new          /users/new           yes
//	/users/{id}         /users/7             id=7
//	/users/{id}         /users/a%2Fb         id=a/b
//	/users/{id}         /users/              no
//	/files/{path...}    /files/a/b           path=a/b
//	/files/{path...}    /files/              path=
//	/dir/               /dir/x/y             yes
//	/dir/{$}            /dir/                yes
//	/dir/{$}            /dir/x               no
//	/d/{id}.json        /d/7.json            id=7
//	/d/{id}.json        /d/.json             no
//	/n/{id:int}         /n/-7                id=-7
//	/n/{id:int}         /n/x                 no
//	/n/{id:uint}.json   /n/7.json            id=7
//
// {name} is one non-empty segment; {name...} and a final slash are the rest of
// the path, which may be empty; {$} is the exact end. The constraints are uint,
// int, hex, alpha, alnum, uuid and date, and those of App.Constraint. A route
// for GET answers HEAD; OPTIONS and 405 answer with the exact Allow.
//
// Of several patterns that match, the first segment from the left in which they
// differ decides: a literal beats a suffix (the longer first), a suffix beats a
// constraint (the narrower first), a constraint beats a plain parameter, and
// that beats a rest. The order of registration never matters. What would leave
// the choice open fails at registration and names both places.
//
// # Defaults
//
// The zero Options are the secure profile: panics are recovered, every answer
// has a request id and nosniff, no proxy is trusted, state changes from other
// origins are refused, bodies and queries are limited, dotfiles are not served.
// App.Audit lists every setting that is looser.
//
// # Coming from gin, echo or chi
//
//	/users/:id, /files/*path       /users/{id}, /files/{path...}
//	gin.H{"a": 1}                  map[string]any{"a": 1}
//	c.ShouldBindJSON(&v)           c.BindJSON(&v); c.Bind(&v) reads path, query, header, cookie and body
//	binding:"required"             validate:"required", with Options.Validator of package validate
//	c.AbortWithStatusJSON(404, v)  return web.NewProblem(404, detail, cause), or web.ErrNotFound
//	c.Next(); c.Abort()            next(c) in a Middleware; return without it
//	c.Set(k, v), c.Get(k)          a Key of NewKey, which knows its type
//	e.HTTPErrorHandler             Options.Problem, or Options.ErrorHandler
//	c.Stream, c.SSEvent            c.SSE
//	gin.Recovery(), Logger()       the App recovers; middleware.AccessLog logs
//	r.Run(), e.Start()             (&Server{App: app}).Run(ctx)
//	chi: http.Handler              FromStd, FromStdMiddleware, Group.Mount
//
// A handler returns its error rather than answering it, middleware stands before
// the routes that it is for, and a Context ends with its handler: what goes on in
// another goroutine takes Context.Context() and values.
//
// # What net/http decides
//
// Messages are read by net/http. It refuses malformed heads with 400, those over
// Server.MaxHeaderBytes with 431 and transfer codings other than chunked with 501,
// in plain text and before the App: these answers are no problems, have no request
// id and stand in no access log. It lets three things pass that RFC 9112 allows a
// server to refuse: both Content-Length and Transfer-Encoding in one request
// (section 6.1; the latter counts), folded header lines (5.2), and lines that end
// in a bare LF (2.2). Danger: a proxy in front that reads one of them in another
// way and passes it on sees other requests than the Server; use one that refuses
// them. A frozen lane answers no request that has any of them itself.
package web
