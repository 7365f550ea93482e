package wsman

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"log/slog"

	"example.com/quire/psrp/wsman/ntlm"
)

// Auth is a way to prove who one is: Basic, Certificate or NTLM. None shows its secret when it is
// printed or logged.
type Auth interface {
	fmt.Formatter
	slog.LogValuer
	scheme() string
}

// Basic sends a name and a password with each request, so it is for HTTPS.
func Basic(user, password string) Auth {
	return basic{user, func() string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)) }}
}

type basic struct {
	user   string
	header func() string
}

func (basic) scheme() string               { return "Basic" }
func (b basic) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "Basic as %s", b.user) }
func (b basic) LogValue() slog.Value       { return slog.StringValue(fmt.Sprint(b)) }

// Certificate proves who one is by a certificate of the client in TLS, which the host maps to an
// account.
func Certificate(c tls.Certificate) Auth { return certificate{c} }

type certificate struct{ certificate tls.Certificate }

const mutual = "http://schemas.dmtf.org/wbem/wsman/1/wsman/secprofile/https/mutual"

func (certificate) scheme() string             { return "certificate" }
func (certificate) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("a certificate")) }
func (certificate) LogValue() slog.Value       { return slog.StringValue("a certificate") }

// NTLM proves a password by NTLMv2, over HTTPS bound to the connection's certificate and over HTTP
// with sealed bodies. user is NAME, DOMAIN\NAME or NAME@DOMAIN.
func NTLM(user, password string) Auth { return negotiate{ntlm.New(user, password)} }

type negotiate struct{ credentials *ntlm.Credentials }

func (negotiate) scheme() string               { return "Negotiate" }
func (n negotiate) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, n.credentials) }
func (n negotiate) LogValue() slog.Value       { return n.credentials.LogValue() }
