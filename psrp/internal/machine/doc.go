// Package machine is the state of a PowerShell remoting session, for the client and for the server,
// as plain data: no goroutines, no clock, no reader or writer. The caller that runs a session feeds
// it and empties it:
//
//	call      what the program wants: Create, Input, Record, Finish, ...
//	Receive   what the transport brought
//	NextPacket, NextEvent   until both report that there is nothing: what goes out, what to tell
//
// A machine has one owner at a time and takes no locks. Calls that the state does not allow return
// *proto.LocalProtocolError and change nothing; what the peer may not do is a
// *proto.RemoteProtocolError, after which the session is broken: every pipeline has ended, and the
// packets that close the session are still to be sent.
//
// The states and what may happen in each are the tables of tables.go.
package machine
