package fetch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"code.dny.dev/ssrf"

	"example.com/quire/fetch/observe"
	"example.com/quire/fetch/retry"
)

func TestGuardList(t *testing.T) {
	for _, s := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1",
		"192.168.0.1", "192.175.48.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
		"240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1",
		"100::1", "2001::1", "2001:0:7f00:1::", "2001:db8::1", "2002:7f00:1::", "2620:4f:8000::1", "3fff::1", "4000::1",
		"fc00::1", "fd00::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "2600::1%eth0", "5f00::1",
	} {
		if err := new(Guard).Check(netip.AddrPortFrom(netip.MustParseAddr(s), 443)); !errors.Is(err, ErrAddressDenied) {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{
		"1.1.1.1", "8.8.8.8", "::ffff:8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
		"172.15.255.255", "172.32.0.0", "192.0.1.1", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2600::1", "2001:200::1", "2a00::1", "2003::1",
	} {
		if err := new(Guard).Check(netip.AddrPortFrom(netip.MustParseAddr(s), 443)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestGuardOrder(t *testing.T) {
	p := netip.MustParsePrefix
	for _, c := range []struct {
		name string
		g    Guard
		addr string
		ok   bool
	}{
		{"allowed although private", Guard{AllowPrefixes: []netip.Prefix{p("10.1.0.0/16")}}, "10.1.2.3:443", true},
		{"its mapped form too", Guard{AllowPrefixes: []netip.Prefix{p("10.1.0.0/16")}}, "[::ffff:10.1.2.3]:443", true},
		{"another prefix not", Guard{AllowPrefixes: []netip.Prefix{p("10.1.0.0/16")}}, "10.2.2.3:443", false},
		{"denied before allowed", Guard{AllowPrefixes: []netip.Prefix{p("10.0.0.0/8")}, DenyPrefixes: []netip.Prefix{p("10.1.0.0/16")}}, "10.1.2.3:443", false},
		{"denied although public", Guard{DenyPrefixes: []netip.Prefix{p("8.8.8.0/24")}}, "8.8.8.8:443", false},
		{"port", Guard{}, "8.8.8.8:22", false},
		{"own port", Guard{AllowPorts: []uint16{8443}}, "8.8.8.8:8443", true},
		{"own ports replace the usual", Guard{AllowPorts: []uint16{8443}}, "8.8.8.8:443", false},
		{"NAT64 of a public address", Guard{AllowNAT64: true}, "[64:ff9b::808:808]:443", true},
		{"NAT64 of a private address", Guard{AllowNAT64: true}, "[64:ff9b::a00:1]:443", false},
		{"NAT64 of a denied address", Guard{AllowNAT64: true, DenyPrefixes: []netip.Prefix{p("8.8.8.0/24")}}, "[64:ff9b::808:808]:443", false},
		{"zone, whatever is allowed", Guard{AllowPrefixes: []netip.Prefix{p("fe80::/10")}}, "[fe80::1%eth0]:443", false},
	} {
		if err := c.g.Check(netip.MustParseAddrPort(c.addr)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := new(Guard).Check(netip.AddrPort{}); !errors.Is(err, ErrAddressDenied) {
		t.Errorf("no address: %v", err)
	}
	for _, network := range []string{"unix", "udp", "tcp5", ""} {
		if err := new(Guard).ControlContext(t.Context(), network, "8.8.8.8:443", nil); !errors.Is(err, ErrAddressDenied) {
			t.Errorf("network %q: %v", network, err)
		}
	}
	for _, address := range []string{"/run/docker.sock", "localhost:80", "8.8.8.8", "08.8.8.8:80"} {
		if err := new(Guard).ControlContext(t.Context(), "tcp", address, nil); !errors.Is(err, ErrAddressDenied) {
			t.Errorf("address %q: %v", address, err)
		}
	}
}

func TestGuardHosts(t *testing.T) {
	g := &Guard{AllowHosts: []string{"api.example", ".Cdn.example", "2001:DB8::1", "192.0.2.7"}}
	for host, ok := range map[string]bool{
		"api.example": true, "API.example.": true, "x.api.example": false, "cdn.example": false, "a.cdn.example": true, "a.b.CDN.example": true,
		"evilcdn.example": false, "api.example.evil.test": false, ".cdn.example": false, "": false,
		"2001:db8::1": true, "2001:db8::2": false, "192.0.2.7": true, "192.0.2.8": false,
	} {
		if err := g.CheckHost(host); (err == nil) != ok {
			t.Errorf("%q: %v", host, err)
		}
	}
	if _, err := New(Config{Transport: TransportConfig{Guard: g}}); err != nil {
		t.Errorf("names and addresses are refused: %v", err)
	}
	if err := new(Guard).CheckHost("any"); err != nil {
		t.Errorf("no list: %v", err)
	}
}

// spellings are hosts that mean, or that somebody hopes will be taken to mean, an address inside.
func spellings() []string {
	var all []string
	add := func(list ...string) { all = append(all, list...) }
	// The same address in every form that inet_aton(3) or a URL parser has ever taken.
	for _, ip := range []string{"127.0.0.1", "127.1.2.3", "10.0.0.1", "169.254.169.254", "192.168.0.1", "172.16.0.1", "0.0.0.0", "100.64.0.1"} {
		b := netip.MustParseAddr(ip).As4()
		n := binary.BigEndian.Uint32(b[:])
		low := n & 0xffffff
		add(ip, ip+".",
			fmt.Sprintf("%d", n), fmt.Sprintf("0x%x", n), fmt.Sprintf("0X%X", n), fmt.Sprintf("0%o", n), fmt.Sprintf("0x%08x.", n),
			fmt.Sprintf("%d.%d", b[0], low), fmt.Sprintf("0x%x.0x%x", b[0], low), fmt.Sprintf("0%o.0%o", b[0], low),
			fmt.Sprintf("%d.%d.%d", b[0], b[1], n&0xffff),
			fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", b[0], b[1], b[2], b[3]), fmt.Sprintf("0%o.0%o.0%o.0%o", b[0], b[1], b[2], b[3]),
			fmt.Sprintf("00%d.%d.%d.%d", b[0], b[1], b[2], b[3]), fmt.Sprintf("%d.%d.%d.%d", uint(b[0])+256, b[1], b[2], b[3]),
			fmt.Sprintf("0x%x.%d.0%o.%d", b[0], b[1], b[2], b[3]), fmt.Sprintf("%d", uint64(n)+1<<32),
			fmt.Sprintf("[::ffff:%s]", ip), fmt.Sprintf("[::%s]", ip), fmt.Sprintf("[::ffff:0:%s]", ip), fmt.Sprintf("[64:ff9b::%s]", ip), fmt.Sprintf("[64:ff9b:1::%s]", ip),
			fmt.Sprintf("[2002:%x:%x::]", n>>16, n&0xffff), fmt.Sprintf("[2001:0:%x:%x::]", n>>16, n&0xffff),
			fmt.Sprintf("[fe80::5efe:%s]", ip),
		)
	}
	add("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::1%25lo]", "[fe80::1%25eth0]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]",
		"localhost", "LOCALHOST", "localhost.", "LocalHost.localdomain", "ip6-localhost", "loopback.canary.test", "a.loopback.canary.test.",
		"127。0。0。1", "１２７.0.0.1", "①②⑦.⓪.⓪.①", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "xn--lclhst-0za.canary.test", "loopback.canary.test%2e", "127.0.0.1%00.example", "127.0.0.1%2f.example",
		"example.com@127.0.0.1", "127.0.0.1@127.0.0.1", "user:pass@loopback.canary.test", "8.8.8.8@localhost", "8.8.8.8%40x@127.0.0.1", ":@127.0.0.1", "192.0.2.1#@127.0.0.1", "192.0.2.1\\@127.0.0.1",
		"127.0.0.1\t", " 127.0.0.1", "127.0.0.1:80:80", "[127.0.0.1]", "127.0.0.1.nip.test", "0", "00", "0x0", "127", "127.1", "127.0.1")
	return all
}

// canary is a listener on the loopback that nobody may reach.
type canary struct {
	port  uint16
	conns atomic.Int64
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ap, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.port = ap.Port()
	listeners := []net.Listener{l}
	// The same port over IPv6, where there is IPv6.
	if l6, err := lc.Listen(t.Context(), "tcp", net.JoinHostPort("::1", strconv.Itoa(int(c.port)))); err == nil {
		listeners = append(listeners, l6)
	}
	for _, l := range listeners {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				c.conns.Add(1)
				_ = conn.Close()
			}
		}()
		t.Cleanup(func() {
			_ = l.Close()
			<-done
		})
	}
	return c
}

// resolver answers every name over an in-memory connection by what answers returns, one call per
// question of type A.
func resolver(answers func() []netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			for {
				var size [2]byte // over a stream each message has its length before it (RFC 1035, section 4.2.2)
				if _, err := io.ReadFull(server, size[:]); err != nil {
					return
				}
				q := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := io.ReadFull(server, q); err != nil || len(q) < 12 {
					return
				}
				a := answer(q, answers)
				if _, err := server.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...)); err != nil { //nolint:gosec // a DNS message fits
					return
				}
			}
		}()
		return client, nil
	}}
}

func answer(q []byte, answers func() []netip.Addr) []byte {
	end := 12
	for end < len(q) && q[end] != 0 {
		end += int(q[end]) + 1
	}
	end += 5 // the root label, type and class
	if end > len(q) {
		return q
	}
	const typeA = 1
	var addrs []netip.Addr
	if binary.BigEndian.Uint16(q[end-4:]) == typeA {
		addrs = answers()
	}
	a := slices.Clone(q[:end])
	a[2], a[3] = 0x81, 0x80                               // response, recursion
	binary.BigEndian.PutUint16(a[6:], uint16(len(addrs))) //nolint:gosec // a handful
	binary.BigEndian.PutUint32(a[8:], 0)                  // no authority, no additional records
	for _, ip := range addrs {
		a = append(a, 0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4) // the question's name, type, class, no time to live
		b := ip.As4()
		a = append(a, b[:]...)
	}
	return a
}

func guarded(t *testing.T, g *Guard, r *net.Resolver) *Client {
	t.Helper()
	return client(t, Config{Transport: TransportConfig{Guard: g, Resolver: r, DialTimeout: time.Second}, Retry: retry.Policy{MaxAttempts: 1}})
}

// rawTo is a request whose host is exactly the text, when no URL parser lets it through.
func rawTo(t *testing.T, host string, port uint16) *http.Request {
	t.Helper()
	address := fmt.Sprintf("http://%s:%d/", host, port)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		req, err = http.NewRequestWithContext(t.Context(), http.MethodGet, "http://placeholder/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.URL.Host = fmt.Sprintf("%s:%d", host, port)
	}
	return req
}

func TestGuardRefusesSpellings(t *testing.T) {
	list := spellings()
	if len(list) < 150 {
		t.Fatalf("only %d spellings", len(list))
	}
	c := newCanary(t)
	loopback := resolver(func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	// A name that rebinds leads to 127.0.0.2, which is allowed here and where nobody listens, and
	// the next time to the canary.
	n := 0
	rebinding := resolver(func() []netip.Addr {
		n++
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + n%2)})}
	})
	for _, g := range []*Client{
		guarded(t, &Guard{AllowPorts: []uint16{c.port, 80, 443}}, loopback),
		guarded(t, &Guard{AllowPorts: []uint16{c.port}, AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}}, rebinding),
	} {
		for _, host := range list {
			for _, scheme := range []string{"http", "hTTp"} {
				req := rawTo(t, host, c.port)
				req.URL.Scheme = scheme
				resp, err := g.Do(req)
				if err == nil {
					t.Errorf("%s: answered %s", host, resp.Status)
					_ = resp.Body.Close()
				}
			}
		}
	}
	if n := c.conns.Load(); n != 0 {
		t.Errorf("%d connections reached the canary", n)
	}
	open := client(t, Config{Transport: TransportConfig{Resolver: loopback}})
	// That the canary sings: without a guard the same name reaches it.
	if resp, err := open.Do(rawTo(t, "loopback.canary.test", c.port)); err == nil {
		_ = resp.Body.Close()
	}
	if c.conns.Load() == 0 {
		t.Error("the canary does not sing without a guard either")
	}
}

func TestGuardRefusesSpellingsByRedirect(t *testing.T) {
	c := newCanary(t)
	var target atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Location"] = []string{target.Load().(string)}
		w.WriteHeader(http.StatusFound)
	}))
	defer s.Close()
	server := netip.MustParseAddrPort(strings.TrimPrefix(s.URL, "http://"))
	loopback := resolver(func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	first := client(t, Config{Transport: TransportConfig{Resolver: loopback}})
	g := guarded(t, &Guard{AllowPorts: []uint16{c.port, 80, 443}}, loopback)
	for _, host := range spellings() {
		target.Store(fmt.Sprintf("http://%s:%d/", host, c.port))
		// The first hop comes from a transport without a guard, every further one passes the guard.
		hop, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s/", server), nil)
		if err != nil {
			t.Fatal(err)
		}
		moved, err := first.Transport().RoundTrip(hop) //nolint:bodyclose // discard closes it
		if err != nil {
			t.Fatal(err)
		}
		r, st, err := g.begin(hop)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := g.follow(r, moved)
		discard(t, moved)
		if err == nil {
			_ = resp.Body.Close()
			if !strings.ContainsAny(host, "\t ") { // net/http drops a Location that it cannot read: then the 302 is the answer
				t.Errorf("%q: answered %s", host, resp.Status)
			}
			continue
		}
		if err = g.fail(r, st, err); err.Error() == "" {
			t.Error("no text")
		}
	}
	if n := c.conns.Load(); n != 0 {
		t.Errorf("%d connections reached the canary", n)
	}
}

func TestGuardJudgesEveryResolvedAddress(t *testing.T) {
	c := newCanary(t)
	// 127.0.0.2 plays the public address: allowed, and nobody listens there. The name leads there
	// when it is asked first, and to the canary from then on, alone and as the second address
	// beside the allowed one.
	allowed := &Guard{AllowPorts: []uint16{c.port}, AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}}
	good, bad := netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.1")
	n := 0
	g := guarded(t, allowed, resolver(func() []netip.Addr {
		n++
		switch n {
		case 1:
			return []netip.Addr{good}
		case 2:
			return []netip.Addr{good, bad}
		}
		return []netip.Addr{bad}
	}))
	denied := 0
	for range 3 {
		resp, err := g.Get(With(t.Context(), Overrides{MaxAttempts: 1}), fmt.Sprintf("http://rebind.canary.test:%d/", c.port))
		if err == nil {
			_ = resp.Body.Close()
			t.Fatal("answered")
		}
		if errors.Is(err, ErrAddressDenied) {
			denied++
			if strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("the error names the address: %v", err)
			}
		}
	}
	if c.conns.Load() != 0 || denied == 0 || n < 3 {
		t.Errorf("%d connections, %d denied, %d questions", c.conns.Load(), denied, n)
	}
}

func TestGuardStandsAlone(t *testing.T) {
	g := &Guard{}
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }
	for field, c := range map[string]Config{
		"Base":                          {Base: &http.Transport{}, Transport: TransportConfig{Guard: g}},
		"Transport.Proxy":               {Transport: TransportConfig{Guard: g, Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.example"})}},
		"Transport.DialContext":         {Transport: TransportConfig{Guard: g, DialContext: dial}},
		"Transport.DialTLSContext":      {Transport: TransportConfig{Guard: g, DialTLSContext: dial}},
		"Transport.Guard.AllowPrefixes": {Transport: TransportConfig{Guard: &Guard{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("::ffff:10.0.0.0/104")}}}},
		"Transport.Guard.DenyPrefixes":  {Transport: TransportConfig{Guard: &Guard{DenyPrefixes: []netip.Prefix{{}}}}},
		"Transport.Guard.AllowPorts":    {Transport: TransportConfig{Guard: &Guard{AllowPorts: []uint16{0}}}},
		"Transport.Guard.AllowHosts":    {Transport: TransportConfig{Guard: &Guard{AllowHosts: []string{"https://api.example"}}}},
	} {
		_, err := New(c)
		if ce, ok := errors.AsType[*ConfigError](err); !ok || ce.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

func TestClientsDoNotSharePools(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	port := netip.MustParseAddrPort(strings.TrimPrefix(s.URL, "http://")).Port()
	open := guarded(t, &Guard{AllowPorts: []uint16{port}, AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, nil)
	shut := guarded(t, &Guard{AllowPorts: []uint16{port}}, nil)
	for range 3 {
		resp, err := open.Get(t.Context(), s.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp, err := shut.Get(t.Context(), s.URL); !errors.Is(err, ErrAddressDenied) {
			t.Errorf("got %v", err)
			_ = resp.Body.Close()
		}
	}
}

func TestGuardTellsTheLogOnly(t *testing.T) {
	var detail string
	c := client(t, Config{Transport: TransportConfig{Guard: &Guard{}}, Observers: []observe.Func{func(_ context.Context, e *observe.Event) {
		if e.Kind == observe.Denied {
			detail = e.Detail
		}
	}}})
	resp, err := c.Get(t.Context(), "http://[::ffff:127.0.0.1]/")
	if err == nil {
		_ = resp.Body.Close()
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || !errors.Is(err, ErrAddressDenied) || IsTransient(err) || len(e.Attempts) != 1 || e.Attempts[0].Reason != "denied" {
		t.Errorf("got %+v", err)
	}
	if !strings.Contains(detail, "127.0.0.1") {
		t.Errorf("detail %q", detail)
	}
	hosts := guarded(t, &Guard{AllowHosts: []string{"api.example"}}, nil)
	if resp, err := hosts.Post(t.Context(), "http://other.example/", "text/plain", strings.NewReader("x")); !errors.Is(err, ErrAddressDenied) {
		t.Errorf("got %v", err)
		_ = resp.Body.Close()
	}
}

func FuzzGuardCheck(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1%eth0", "8.8.8.8", "2600::1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := netip.ParseAddr(s)
		if err != nil {
			return
		}
		err = new(Guard).Check(netip.AddrPortFrom(a, 443))
		// By net/netip's own notions nothing but a global unicast address may pass, and no private
		// one.
		u := a.Unmap()
		if err == nil && (!u.IsGlobalUnicast() || u.IsPrivate() || u.IsLoopback() || a.Zone() != "") {
			t.Errorf("%s passed", s)
		}
		// The mapped form of an IPv4 address is judged like the address.
		if u.Is4() {
			if again := new(Guard).Check(netip.AddrPortFrom(netip.AddrFrom16(u.As16()), 443)); (again == nil) != (err == nil) {
				t.Errorf("%s: %v, mapped %v", s, err, again)
			}
		}
	})
}

// The judge is a guard of others, whose list comes from the same registries.
func TestGuardDeniesWhatAnotherDenies(t *testing.T) {
	theirs := ssrf.New(ssrf.WithAnyPort())
	list := slices.Concat(denied4, denied6)
	r := rand.New(rand.NewPCG(26, 1)) //nolint:gosec // repeatable on purpose
	draw := func() netip.Addr {
		var b [16]byte
		binary.BigEndian.PutUint64(b[:], r.Uint64())
		binary.BigEndian.PutUint64(b[8:], r.Uint64())
		switch r.IntN(4) {
		case 0:
			return netip.AddrFrom4([4]byte(b[:4]))
		case 1:
			b[0] = 0x20 | b[0]&0x1f // in 2000::/3
		case 2: // beside the border of a prefix of ours
			p := list[r.IntN(len(list))]
			if r.IntN(2) == 0 {
				return p.Addr().Prev()
			}
			return member(p, b)
		}
		return netip.AddrFrom16(b)
	}
	for range 100_000 {
		a := draw()
		if !a.IsValid() {
			continue
		}
		at := netip.AddrPortFrom(a, 443)
		mine, his := new(Guard).Check(at), theirs.SafeAddr(a)
		if (mine == nil) != (his == nil) {
			t.Fatalf("%s: %v here, %v there", a, mine, his)
		}
	}
}

// member returns an address of p, drawn by random bytes.
func member(p netip.Prefix, random [16]byte) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= random[i/8] & (0x80 >> (i % 8))
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
