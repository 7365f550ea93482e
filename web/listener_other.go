//go:build !linux

package web

import "net"

// refuse does nothing here: a connection that comes in the microseconds between
// the last accept and the close of the socket is reset.
func refuse(net.Listener) {}
