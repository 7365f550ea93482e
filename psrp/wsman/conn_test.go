package wsman_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/internal/remotingtest"
	"example.com/quire/psrp"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/psrptest"
	"example.com/quire/psrp/wsman"
	"example.com/quire/psrp/wsman/ntlm"
)

const canary = "c4nary-in-the-c0al-mine"

func noLeaks(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		goleak.VerifyNone(t, goleak.IgnoreTopFunction("testing.(*T).Run"), goleak.IgnoreAnyFunction("testing.tRunner"))
	})
}

// psrpcore is a service whose shells are psrpcore servers.
func psrpcore(t *testing.T) *remotingtest.WSMan {
	t.Helper()
	python, script := remotingtest.Python(t), remotingtest.ServerScript(t)
	return remotingtest.NewWSMan(t, func(ctx context.Context) (psrp.Transport, error) {
		return oop.StartProcess(ctx, python, script)
	})
}

// own is a service whose shells are servers of our own.
func own(t *testing.T, faults ...psrptest.Fault) *remotingtest.WSMan {
	t.Helper()
	return remotingtest.NewWSMan(t, psrptest.Dialer(t, &psrp.Server{Registry: remotingtest.Commands()}, psrp.Identity{}, faults...))
}

func start(t *testing.T, h http.Handler, secure bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// roots trust a server of the test.
func roots(s *httptest.Server) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

func open(t *testing.T, c wsman.Config, o psrp.Options) (*psrp.Session, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	conn, err := wsman.Dial(ctx, c)
	if err != nil {
		return nil, err
	}
	return psrp.Open(ctx, conn, o)
}

func closeSession(t *testing.T, s *psrp.Session) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := s.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestPSRPCoreServerOverWSMan(t *testing.T) {
	noLeaks(t)
	w := psrpcore(t)
	w.User, w.Password = "user", canary
	s := start(t, w, true)
	var log bytes.Buffer
	session, err := open(t, wsman.Config{Endpoint: s.URL, Auth: wsman.Basic("user", canary), TLS: roots(s), Logger: slog.New(slog.NewTextHandler(&log, nil))},
		psrp.Options{Host: remotingtest.Host(), MaxRunspaces: 3})
	if err != nil {
		t.Fatal(err)
	}
	remotingtest.ClientScenariosUpTo(t, session, 1<<20)
	closeSession(t, session)
	for _, action := range []string{"Create", "Command", "Send", "Receive", "Signal", "Delete"} {
		if w.Seen(action) == 0 {
			t.Errorf("no %s was asked for", action)
		}
	}
	if strings.Contains(log.String(), canary) {
		t.Errorf("the log holds the password: %s", log.String())
	}
}

// login is a RoundTripper of a user: it proves who one is in its own way, as one for Kerberos does.
type login struct {
	*http.Transport
	requests atomic.Int64
}

func (l *login) RoundTrip(r *http.Request) (*http.Response, error) {
	l.requests.Add(1)
	r = r.Clone(r.Context())
	r.SetBasicAuth("user", canary)
	return l.Transport.RoundTrip(r)
}

func TestPSRPCoreServerThroughARoundTripperOfTheUser(t *testing.T) {
	noLeaks(t)
	w := psrpcore(t)
	w.User, w.Password = "user", canary
	s := start(t, w, true)
	l := &login{Transport: &http.Transport{TLSClientConfig: roots(s)}}
	defer l.CloseIdleConnections()
	session, err := open(t, wsman.Config{Endpoint: s.URL, RoundTripper: l}, psrp.Options{Host: remotingtest.Host(), MaxRunspaces: 3})
	if err != nil {
		t.Fatal(err)
	}
	remotingtest.ClientScenariosUpTo(t, session, 100<<10)
	closeSession(t, session)
	if n := int(l.requests.Load()); n < w.Seen("Send")+w.Seen("Receive") {
		t.Errorf("%d requests came through the RoundTripper", n)
	}
	if err := echo(t, wsman.Config{Endpoint: s.URL, RoundTripper: l.Transport}); err == nil {
		t.Error("a RoundTripper that proves nothing is let in")
	}
}

func TestPSRPCoreServerOverSealedWSMan(t *testing.T) {
	noLeaks(t)
	s := start(t, psrpcore(t), false)
	addr := remotingtest.NTLMGateway(t, s.Listener.Addr().String(), "user", canary, "", "", "")
	session, err := open(t, wsman.Config{Endpoint: "http://" + addr, Auth: wsman.NTLM(`DOMAIN\user`, canary)}, psrp.Options{Host: remotingtest.Host(), MaxRunspaces: 3})
	if err != nil {
		t.Fatal(err)
	}
	remotingtest.ClientScenariosUpTo(t, session, 1<<20)
	closeSession(t, session)
}

// echo opens a session, has an object echoed and closes it.
func echo(t *testing.T, c wsman.Config) error {
	t.Helper()
	s, err := open(t, c, psrp.Options{})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	res, err := s.Run(ctx, psrp.Cmd("Get-Args").Arg("text"))
	if err == nil && (len(res.Output) != 1 || res.Output[0].String() != "text|1|false|") {
		err = fmt.Errorf("output %v", res.Output)
	}
	return errors.Join(err, s.Close(ctx))
}

func TestHostsThatDoNotSealAsPromisedAreRefused(t *testing.T) {
	noLeaks(t)
	// A fault that never comes: sessions may be left without an end.
	s := start(t, own(t, psrptest.Fault{From: psrptest.FromServer, Packet: 1 << 30}), false)
	for fault, want := range map[string]error{
		"": nil, "space": nil, "flip": ntlm.ErrTampered, "repeat": ntlm.ErrTampered, "weak": ntlm.ErrChallenge, "plain": wsman.ErrNotSealed,
	} {
		t.Run("fault "+fault, func(t *testing.T) {
			addr := remotingtest.NTLMGateway(t, s.Listener.Addr().String(), "user", canary, "", "", fault)
			err := echo(t, wsman.Config{Endpoint: "http://" + addr, Auth: wsman.NTLM(`DOMAIN\user`, canary)})
			if !errors.Is(err, want) || err != nil && want == nil {
				t.Errorf("error %v, want %v", err, want)
			}
		})
	}
	t.Run("wrong password", func(t *testing.T) {
		addr := remotingtest.NTLMGateway(t, s.Listener.Addr().String(), "user", canary, "", "", "")
		err := echo(t, wsman.Config{Endpoint: "http://" + addr, Auth: wsman.NTLM(`DOMAIN\user`, canary+"!")})
		if e, ok := errors.AsType[*psrp.TransportError](err); !ok || e.Phase != "auth" || !e.Unreachable() || strings.Contains(e.Error(), canary) {
			t.Errorf("error %v", err)
		}
	})
}

func TestNTLMOverTLSIsBoundToTheChannel(t *testing.T) {
	noLeaks(t)
	upstream := start(t, own(t), false)
	s := start(t, http.NotFoundHandler(), true) // for its certificate
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	private, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	err = errors.Join(err,
		os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for fault, refused := range map[string]bool{"": false, "other channel": true} {
		t.Run("fault "+fault, func(t *testing.T) {
			addr := remotingtest.NTLMGateway(t, upstream.Listener.Addr().String(), "user", canary, certificate, key, fault)
			err := echo(t, wsman.Config{Endpoint: "https://" + addr, Auth: wsman.NTLM(`DOMAIN\user`, canary), TLS: roots(s)})
			e, ok := errors.AsType[*psrp.TransportError](err)
			if refused != (ok && e.Phase == "auth") || !refused && err != nil {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("unknown certificate", func(t *testing.T) {
		addr := remotingtest.NTLMGateway(t, upstream.Listener.Addr().String(), "user", canary, certificate, key, "")
		err := echo(t, wsman.Config{Endpoint: "https://" + addr, Auth: wsman.NTLM(`DOMAIN\user`, canary)})
		if _, ok := errors.AsType[*tls.CertificateVerificationError](err); !ok {
			t.Errorf("error %v", err)
		}
	})
}

func TestPlaintextIsRefusedUnlessAllowed(t *testing.T) {
	noLeaks(t)
	w := own(t)
	w.User, w.Password = "user", canary
	s := start(t, w, false)
	c := wsman.Config{Endpoint: s.URL, Auth: wsman.Basic("user", canary)}
	if err := echo(t, c); !errors.Is(err, wsman.ErrPlaintext) || w.Seen("Create") > 0 {
		t.Errorf("error %v", err)
	}
	c.AllowPlaintext = true
	if err := echo(t, c); err != nil {
		t.Error(err)
	}
	c.Auth = wsman.Basic("user", "wrong")
	err := echo(t, c)
	if e, ok := errors.AsType[*psrp.TransportError](err); !ok || e.Phase != "auth" {
		t.Errorf("error %v", err)
	}
	// NTLM seals or ends: a host that offers Basic alone gets nothing.
	c.Auth = wsman.NTLM("user", canary)
	before := w.Seen("Create")
	if err := echo(t, c); err == nil || w.Seen("Create") > before {
		t.Errorf("error %v", err)
	}
}

func TestClientCertificateIsShown(t *testing.T) {
	noLeaks(t)
	w := own(t)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) != 1 || r.Header.Get("Authorization") != "http://schemas.dmtf.org/wbem/wsman/1/wsman/secprofile/https/mutual" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.ServeHTTP(rw, r)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	if err := echo(t, wsman.Config{Endpoint: s.URL, Auth: wsman.Certificate(s.TLS.Certificates[0]), TLS: roots(s)}); err != nil {
		t.Error(err)
	}
}

func TestConfigurationsThatCannotWorkAreRefused(t *testing.T) {
	noLeaks(t)
	auth := wsman.Basic("u", "p")
	for name, c := range map[string]wsman.Config{
		"no endpoint":               {Auth: auth},
		"no host":                   {Endpoint: "https://", Auth: auth},
		"another scheme":            {Endpoint: "ftp://h", Auth: auth},
		"password in the endpoint":  {Endpoint: "https://u:" + canary + "@h", Auth: auth},
		"password in a wrong URL":   {Endpoint: "https://u:" + canary + "@h:port", Auth: auth},
		"nobody":                    {Endpoint: "https://h"},
		"certificate over HTTP":     {Endpoint: "http://h", Auth: wsman.Certificate(tls.Certificate{}), AllowPlaintext: true},
		"NTLM with a RoundTripper":  {Endpoint: "https://h", Auth: wsman.NTLM("u", "p"), RoundTripper: &http.Transport{}},
		"small envelope":            {Endpoint: "https://h", Auth: auth, MaxEnvelope: 1000},
		"large envelope":            {Endpoint: "https://h", Auth: auth, MaxEnvelope: 1 << 30},
		"names that fill envelopes": {Endpoint: "https://h", Auth: auth, MaxEnvelope: 16 << 10, ConfigurationName: strings.Repeat("n", 15<<10)},
		"no time":                   {Endpoint: "https://h", Auth: auth, OperationTimeout: time.Millisecond},
	} {
		_, err := wsman.Dial(t.Context(), c)
		if e, ok := errors.AsType[*psrp.TransportError](err); !ok || e.Phase != "dial" || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
		if wrong, ok := errors.AsType[*psrp.ConfigError](err); name != "names that fill envelopes" && (!ok || !strings.HasPrefix(wrong.Field, "Config.") || wrong.Want == "") {
			t.Errorf("%s names no field: %v", name, err)
		}
	}
	for _, a := range []wsman.Auth{wsman.Basic("u", canary), wsman.NTLM("u", canary)} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "auth", a)
		if s := fmt.Sprintf("%v %+v %#v %s", a, a, a, log.String()); strings.Contains(s, canary) {
			t.Errorf("%q shows the password", s)
		}
	}
}
