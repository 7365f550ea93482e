// Package psrp runs commands on hosts over the PowerShell Remoting Protocol (MS-PSRP), as
// PowerShell does: typed objects, seven streams, prompts, secure strings, input and stop, over any
// [Transport].
//
//	t, err := oop.StartProcess(ctx, "pwsh", "-s", "-NoLogo")
//	s, err := psrp.Open(ctx, t, psrp.Options{})
//	defer s.Close(context.WithoutCancel(ctx))
//	res, err := s.Run(ctx, psrp.Cmd("Get-Process").Param("Name", "pwsh"))
//
// A [Session] is a runspace pool. [Session.Run] collects what a pipeline gives, [Session.Start]
// streams it as records, [Invoke] as Go values. Parameters travel as typed arguments, never inside
// script text.
//
// No record is dropped or overtakes another. A consumer that does not keep up holds the server
// back, except while something else of the session waits for the server: a Run or Send inside a
// loop over Records does not dead-lock.
//
// A [Server] is the other end: Go functions that a [Registry] makes commands, which PowerShell's
// Enter-PSSession and Invoke-Command reach.
//
//	psrp.Add(&registry, psrp.CommandInfo{Name: "Get-Disk"}, func(ctx context.Context, a args, c *psrp.Call) error {
//		return c.Output(disk)
//	})
//	err := (&psrp.Server{Registry: &registry}).ServeStdio(ctx)
package psrp
