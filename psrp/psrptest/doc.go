// Package psrptest is for tests of programs that use psrp: an in-memory client and server, and
// faults between them.
//
//	s := psrptest.Open(t, &psrp.Server{Registry: commands}, psrp.Options{})
//	res, err := s.Run(t.Context(), psrp.Cmd("Get-Disk"))
//
// [Open] is a session to a server with the commands that the test needs, [Dialer] the same for
// [psrp.FanOut]. What goes wrong on the way says a [Fault]. Everything ends with the test. Time may
// be that of a testing/synctest bubble.
package psrptest
