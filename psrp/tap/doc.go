// Package tap records the traffic between a PowerShell remoting client and server over the
// out-of-process framing, and replays it. A transcript is plain text of the whole traffic:
// commands, output and, from protocol 2.4 on, the text of SecureStrings. It is for tests and
// debugging, not for keeping.
//
// A transcript has one JSON object a line: {"n": count, "t_us": microseconds, "dir": "c2s", "line":
// "<Data ...>"}, with the directions c2s and s2c and eof for the end of one of them. It is valid up
// to its last full line, whatever happened to the program.
package tap
