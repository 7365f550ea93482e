// Package ws is WebSocket (RFC 6455) with permessage-deflate (RFC 7692) on routes of package web.
// Upgrade turns a request into a Conn; a Hub sends messages to many.
//
//	app.GET("/echo", func(c *web.Context) error {
//		conn, err := ws.Upgrade(c, ws.Options{})
//		if err != nil {
//			return err
//		}
//		for {
//			kind, message, err := conn.Read(c.Context())
//			if err != nil {
//				return err // the client has left; the App logs it as such
//			}
//			if err := conn.Write(c.Context(), kind, message); err != nil {
//				return err
//			}
//		}
//	})
//
// A page of another site may open a WebSocket to any server, with the user's cookies, and read
// what comes: browsers do not ask first as they do for other requests. So an Origin other than
// the request's host is refused by 403 unless Options.Origins lists it.
//
// The connection lives as long as the handler: when that returns it is closed. Each has one
// goroutine beside the handler's, which reads: so pings are answered, and a client that is lost
// is noticed, though the handler only writes. While a message waits to be Read nothing more is
// read, and the client is slowed by TCP.
//
// A drain closes connections with 1001 (going away). HTTP/2 has no upgrade: browsers then use a
// connection of HTTP/1.1 by themselves.
package ws

import (
	"fmt"
	"io"
	"net"
	"strconv"
)

// Kind tells whether a message is text or bytes.
type Kind byte

// The kinds of messages.
const (
	Text   Kind = 1 // valid UTF-8, which Read has checked
	Binary Kind = 2
)

func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case Binary:
		return "binary"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Code tells why a connection was closed (RFC 6455, section 7.4).
type Code uint16

// The codes that are registered. NoStatus and Abnormal are never sent: they stand for a close
// frame without code and for a connection that ended without one.
const (
	Normal             Code = 1000
	GoingAway          Code = 1001
	ProtocolError      Code = 1002
	UnsupportedData    Code = 1003
	NoStatus           Code = 1005
	Abnormal           Code = 1006
	InvalidPayload     Code = 1007
	PolicyViolation    Code = 1008
	MessageTooBig      Code = 1009
	MandatoryExtension Code = 1010
	InternalError      Code = 1011
	ServiceRestart     Code = 1012
	TryAgainLater      Code = 1013
)

// ErrClosed is what every use of a connection returns that is closed or lost; the error is a
// *CloseError then.
var ErrClosed = fmt.Errorf("websocket: %w", net.ErrClosed)

// CloseError tells how a connection ended. To errors.Is it is ErrClosed and io.EOF.
type CloseError struct {
	Code   Code   // that of the close frame; Abnormal when the connection was lost without one
	Reason string // of the close frame
	Local  bool   // this side began: the peer broke a rule or a limit, or Close was called
	Err    error  // the cause, nil when the peer closed
}

func (e *CloseError) Error() string {
	who := "the peer"
	if e.Local {
		who = "this side"
	}
	text := fmt.Sprintf("websocket: closed by %s: %d", who, e.Code)
	if e.Code == Abnormal {
		text = "websocket: connection lost"
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *CloseError) Unwrap() error { return e.Err }

// Is makes a CloseError equal to ErrClosed and io.EOF.
func (e *CloseError) Is(target error) bool { return target == ErrClosed || target == io.EOF }
