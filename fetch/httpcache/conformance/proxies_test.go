//go:build judges

package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"example.com/quire/internal/judgetest"
)

// proxy is a caching proxy of others: its name with the version, and the arguments that start it in
// dir, in the foreground, before the server at origin. root has the unpacked Debian packages.
type proxy struct {
	name, binary string
	start        func(t *testing.T, root, dir, address, origin string) []string
}

func proxies() []proxy {
	return []proxy{
		{"nginx 1.22", "nginx", func(t *testing.T, _, dir, address, origin string) []string {
			t.Helper()
			log := filepath.Join(dir, "error.log")
			return []string{"-p", dir, "-e", log, "-c", file(t, dir, "nginx.conf", fmt.Sprintf(`
				daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
				events {}
				http {
					access_log off;
					client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b;
					fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
					proxy_cache_path %[1]s/cache keys_zone=z:10m;
					server {
						listen %[2]s;
						location / {
							proxy_pass http://%[3]s; proxy_http_version 1.1; proxy_set_header Host $http_host;
							proxy_cache z; proxy_cache_revalidate on; proxy_cache_use_stale updating;
							add_header Age $upstream_http_age;
						}
					}
				}`, dir, address, origin))}
		}},
		{"squid 5.7", "squid", func(t *testing.T, root, dir, address, origin string) []string {
			t.Helper()
			host, port, _ := net.SplitHostPort(origin)
			return []string{"-N", "-f", file(t, dir, "squid.conf", fmt.Sprintf(`
http_port %[1]s accel defaultsite=%[2]s no-vhost
cache_peer %[3]s parent %[4]s 0 no-query originserver name=origin
http_access allow all
cache_mem 64 MB
access_log none
cache_log %[5]s/cache.log
pid_filename none
coredump_dir %[5]s
mime_table %[6]s/squid/mime.conf
icon_directory %[6]s/squid/icons
error_directory %[6]s/squid-langpack/en
shutdown_lifetime 0 seconds
unlinkd_program /bin/true
pinger_enable off
`, address, origin, host, port, dir, filepath.Join(root, "usr/share")))}
		}},
		{"varnish 7.1", "varnishd", func(_ *testing.T, _, dir, address, origin string) []string {
			return []string{
				"-F", "-j", "none", "-n", dir, "-a", address, "-b", origin, "-s", "malloc,64m",
				"-p", "default_grace=0", "-p", "default_ttl=0", "-p", "default_keep=60",
			}
		}},
	}
}

func file(t *testing.T, dir, name, content string) string {
	t.Helper()
	full := filepath.Join(dir, name)
	err := os.WriteFile(full, []byte(content), 0o644) //nolint:gosec // a server's other user reads it
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// TestOthersPassFewer runs the suite against proxies of others, which takes a minute; with -update
// it keeps their scores for the page.
func TestOthersPassFewer(t *testing.T) {
	tools := suite(t)
	root := judgetest.Tool(t, "nginx, squid and varnish", "proxies/root")
	list := proxies()
	scores := make([]proxyScore, len(list))
	t.Run("all", func(t *testing.T) {
		for i, p := range list {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				all := score(t, tools, "shared", p.run(t, root, origin(t, tools).Host))
				scores[i].Name = p.name
				scores[i].Required, _ = count(all, "required")
				scores[i].Optimal, scores[i].OfOptimal = count(all, "optimal")
			})
		}
	})
	if t.Failed() {
		return
	}
	ours := 0
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for id, cell := range read(string(b), 1) {
		if _, ok := exceptions(t)[id]; cell == passed && !ok {
			ours++
		}
	}
	for _, s := range scores {
		_, _ = fmt.Fprintf(os.Stdout, "%s: shared %d/%d optimal %d/%d\n", s.Name, s.Required,
			requiredShared, s.Optimal, s.OfOptimal)
		if s.Required < 30 || s.Required+s.Optimal >= ours {
			t.Errorf("%s passes %d, and we %d: is it the cache that answers?", s.Name, s.Required+s.Optimal,
				ours)
		}
	}
	if *update {
		b, err := json.MarshalIndent(scores, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file(t, ".", proxyScores, string(b)+"\n")
	}
}

// run starts the proxy and returns its address.
func (p *proxy) run(t *testing.T, root, origin string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "proxy") //nolint:usetesting // reachable for servers of fewer rights
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	address := free(t)
	ctx, cancel := context.WithCancel(context.Background())
	args := p.start(t, root, dir, address, origin)
	program := filepath.Join(root, "usr/sbin", p.binary)
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // our own arguments
	lib := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib+":"+filepath.Join(lib, "varnish"))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	log, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // ended by the signal
		_ = log.Close()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if !listens(t, address) {
		b, _ := os.ReadFile(log.Name())
		t.Fatalf("%s does not listen: %s", p.name, b)
	}
	return "http://" + address
}
