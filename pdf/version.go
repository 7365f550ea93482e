package pdf

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode"

	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/standard"
)

// byteLeaves are the modules whose version may change the bytes of a document
// (compression, barcodes, line breaks, normalisation, images), with the versions that go.mod names:
// a program without build information has those. Fonts are named by their hash.
var byteLeaves = []struct{ path, version string }{
	{"github.com/klauspost/compress", "v1.20.3"},
	{"github.com/boombuler/barcode", "v1.1.0"},
	{"github.com/go-text/typesetting", "v0.3.5"},
	{"github.com/yuin/goldmark", "v1.8.7"},
	{"golang.org/x/text", "v0.43.0"},
	{"golang.org/x/image", "v0.47.0"},
}

// version returns Result.Engine: the number raised by hand, the hash of the
// embedded fonts and profiles, the versions of the leaves, and that of Unicode in
// the Go the program was built with, whose tables say what a letter, a mark and
// its capital are, as in
//
//	quire-pdf/11 data/0f3a91c2 compress@v1.20.3 barcode@v1.1.0 typesetting@v0.3.5 goldmark@v1.8.7 text@v0.43.0 image@v0.47.0 unicode@15.0.0
func version() string {
	h := sha256.New()
	fonts := liberation.Fingerprint()
	h.Write(fonts[:])
	h.Write(standard.SRGBProfile())
	parts := []string{
		"quire-pdf/" + strconv.Itoa(engineNumber),
		"data/" + hex.EncodeToString(h.Sum(nil)[:4]),
	}
	for _, leaf := range byteLeaves {
		name := leaf.path[strings.LastIndexByte(leaf.path, '/')+1:]
		parts = append(parts, name+"@"+moduleVersion(leaf.path, leaf.version))
	}
	return strings.Join(append(parts, "unicode@"+unicode.Version), " ")
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
