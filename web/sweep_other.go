//go:build !unix

package web

import "net"

// sweep is not to be had here: a connection that comes between the last accept and the close of the
// socket is reset.
func sweep(net.Listener) (queued []net.Conn, ok bool) { return nil, false }
