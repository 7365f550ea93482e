package remotingtest

import (
	"bufio"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed ntlm_gateway.py
var gatewayScript []byte

// NTLMGateway is pyspnego, an implementation of NTLM by others, before an HTTP service: it lets in
// DOMAIN\user by password. Over plain HTTP it seals; with a certificate and key, files in PEM, it
// speaks TLS and demands channel binding. fault is one of its own, or "". It returns its address
// and ends with the test.
func NTLMGateway(tb testing.TB, upstream, user, password, certificate, key, fault string) string {
	tb.Helper()
	python := Python(tb)
	script := filepath.Join(tb.TempDir(), "ntlm_gateway.py")
	if err := os.WriteFile(script, gatewayScript, 0o600); err != nil {
		tb.Fatal(err)
	}
	args := []string{script, upstream, user, password}
	if certificate != "" {
		args = append(args, certificate, key)
	}
	cmd := exec.Command(python, args...) //nolint:gosec,noctx // the cleanup ends it
	cmd.Env = append(os.Environ(), "FAULT="+fault, "TMPDIR="+tb.TempDir())
	var log syncBuffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if tb.Failed() {
			tb.Logf("gateway: %s", log.String())
		}
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(errors.Join(err, errors.New(log.String())))
	}
	return "127.0.0.1:" + strings.TrimSpace(port)
}
