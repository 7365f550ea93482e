package pdf

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/standard"
)

// byteLeaves are the modules whose version may change the bytes of a document,
// line breaks and normalisation, with the versions that go.mod names: a program
// without build information has those. Fonts are named by their hash.
var byteLeaves = []struct{ path, version string }{
	{"github.com/go-text/typesetting", "v0.3.5"},
	{"golang.org/x/text", "v0.43.0"},
}

// version returns Result.Engine: the number raised by hand, the hash of the
// embedded fonts and profiles, and the versions of the leaves and of Go (whose
// compress/flate makes the streams), as in
//
//	quire-pdf/1 go1.26 data/0f3a91c2 typesetting@v0.3.5 text@v0.43.0
func version() string {
	h := sha256.New()
	fonts := liberation.Fingerprint()
	h.Write(fonts[:])
	h.Write(standard.SRGBProfile())
	parts := []string{
		"quire-pdf/" + strconv.Itoa(engineNumber),
		goMinor(runtime.Version()),
		"data/" + hex.EncodeToString(h.Sum(nil)[:4]),
	}
	for _, leaf := range byteLeaves {
		name := leaf.path[strings.LastIndexByte(leaf.path, '/')+1:]
		parts = append(parts, name+"@"+moduleVersion(leaf.path, leaf.version))
	}
	return strings.Join(parts, " ")
}

// goMinor cuts a Go version to its language release: patch releases keep what
// compress/flate writes.
func goMinor(v string) string {
	v, _, _ = strings.Cut(v, " ")
	major, rest, ok := strings.Cut(v, ".")
	if !ok {
		return v
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	return major + "." + rest[:n]
}

// moduleVersion returns the version of a module that the program was built
// with, named when the program does not say.
func moduleVersion(path, named string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return named
	}
	for _, d := range info.Deps {
		if d.Path != path {
			continue
		}
		if d.Replace != nil {
			return d.Replace.Version
		}
		return d.Version
	}
	return named
}
