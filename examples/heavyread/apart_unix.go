//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// setApart gives a process a group of its own, which the keyboard does not interrupt.
func setApart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
