package ssh_test

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"example.com/quire/psrp"
	"example.com/quire/psrp/ssh"
)

// A server lets in who holds one of its authorized keys, and a client that knows the server's key
// runs a command there.
func Example() {
	if err := greet(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: Good day, ops.
}

func greet(ctx context.Context) (err error) {
	_, hostKey, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	_, userKey, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	hostPublic, err := ssh.NewPublicKey(hostKey)
	if err != nil {
		return err
	}
	userPublic, err := ssh.NewPublicKey(userKey)
	if err != nil {
		return err
	}

	commands := &psrp.Registry{}
	psrp.Add(commands, psrp.CommandInfo{Name: "Get-Greeting"}, func(_ context.Context, _ struct{}, c *psrp.Call) error {
		return c.Output("Good day, " + c.Identity().User + ".")
	})
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() {
		c := ssh.ServerConfig{HostKeys: []crypto.Signer{hostKey}, AuthorizedKey: ssh.AuthorizedKeys(userPublic)}
		served <- ssh.Serve(serving, l, c, &psrp.Server{Registry: commands})
	}()
	defer func() {
		stop()
		if ended := <-served; err == nil {
			err = ended
		}
	}()

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // an example's own directory
	known := filepath.Join(dir, "known_hosts")
	port := l.Addr().(*net.TCPAddr).Port
	if err := os.WriteFile(known, fmt.Appendf(nil, "[127.0.0.1]:%d %s", port, hostPublic), 0o600); err != nil {
		return err
	}
	t, err := ssh.Dial(ctx, ssh.Config{Addr: l.Addr().String(), User: "ops", Auth: []ssh.Auth{ssh.Key(userKey)}, KnownHosts: []string{known}})
	if err != nil {
		return err
	}
	s, err := psrp.Open(ctx, t, psrp.Options{})
	if err != nil {
		return err
	}
	for text, err := range psrp.Invoke[string](ctx, s, psrp.Cmd("Get-Greeting")) {
		if err != nil {
			return err
		}
		fmt.Println(text)
	}
	return s.Close(ctx)
}
