// Package frozen sends prepared public responses below net/http, at the cost of a lookup and a
// write, while every other request of the same connection stays ordinary net/http.
//
// Danger: the lane bypasses all middleware, authentication included. It must never
// hold anything private. A request with Authorization or Cookie is answered from
// an entry only where the entry says that it is Public.
//
// An [Entry] is one whole reply in each of its codings, made once. A [Table] maps
// request targets to entries. A [Lane] wraps a listener of an http.Server and
// answers from its sources what it can; [Handler] gives the same bytes by way of
// net/http, for TLS, HTTP/2, ranges and what the lane passes up. Both are needed:
//
//	table := frozen.NewTable(frozen.Limits{})
//	lane := frozen.NewLane(frozen.LaneOptions{}, table)
//	server := &http.Server{Handler: frozen.Handler(app, table), ConnState: lane.ConnState}
//	server.Serve(lane.Listener(listener))
package frozen

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/httpfield"
)

// MaxBody is the most bytes an entry's body may have.
const MaxBody = 16 << 20

// EntrySpec is what an Entry is built from.
type EntrySpec struct {
	// Status is that of the reply; 0 means 200. Conditions apply to 200 alone.
	Status int
	// Header has the fields of the reply besides those that Build makes: Date,
	// Content-Length, Content-Encoding, ETag and Last-Modified. Vary gains
	// Accept-Encoding where there are codings.
	Header http.Header
	Body   []byte
	// ETag is a strong entity tag with its quotes; "" makes one of the SHA-256 of
	// the body. The tags of codings are made of it.
	ETag         string
	LastModified time.Time // zero: not sent
	// Encodings are the body in content codings: gzip, zstd, br. One of a body
	// below 512 bytes, of a type that does not compress, or that is not at least
	// a tenth smaller is left out.
	Encodings []Encoding
	// Public entries also answer requests with Authorization or Cookie. Danger:
	// whoever asks gets them, signed in or not.
	Public bool
}

// Encoding is a body in a content coding.
type Encoding struct {
	Name string // gzip, zstd or br
	Body []byte
}

// coding of a variant. Their order is that of preference where weights tie.
type coding int

const (
	zstd coding = iota
	br
	gzip
	identity
	codings
)

var codingNames = [codings]string{"zstd", "br", "gzip", "identity"}

var codingTags = [codings]string{"-zst", "-br", "-gz", ""}

// Entry is one whole reply per coding, with its HEAD and 304 forms. It is
// immutable and safe for concurrent use.
type Entry struct {
	status   int
	public   bool
	modified time.Time // whole seconds; zero: none
	date     string    // of modified
	fields   []field   // without those that depend on the coding
	variants [codings]*variant
	size     int
}

type field struct{ name, value string }

// variant is the reply in one coding.
type variant struct {
	tag     string
	body    []byte
	full    []byte // head of the reply up to and without Date and the empty line
	same    []byte // head of the 304, likewise
	headers [2][]field
}

// refused are fields that a stored reply cannot have: those of one connection or
// one client, and those that Build makes.
var refused = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Set-Cookie", "Set-Cookie2", "Www-Authenticate", "Authentication-Info", "Date", "Content-Length", "Content-Encoding", "Content-Range", "Accept-Ranges", "Etag", "Last-Modified",
}

// Build makes an Entry. The error names the field that cannot be.
func Build(spec EntrySpec) (*Entry, error) {
	e, tag, err := spec.begin()
	if err != nil {
		return nil, err
	}
	bodies := [codings][]byte{identity: spec.Body}
	for _, enc := range spec.Encodings {
		i := slices.Index(codingNames[:identity], enc.Name)
		if i < 0 || bodies[i] != nil {
			return nil, fmt.Errorf("build frozen entry: coding %q: want gzip, zstd and br, each once", enc.Name)
		}
		if len(spec.Body) >= minCoded && httpfield.Compressible(spec.Header.Get("Content-Type")) && len(enc.Body)*10 <= len(spec.Body)*9 {
			bodies[i] = enc.Body
		}
	}
	e.assemble(tag, bodies)
	return e, nil
}

// begin checks all but the codings and makes an entry without variants, and the tag of the body.
func (spec *EntrySpec) begin() (e *Entry, tag string, err error) {
	e = &Entry{status: spec.Status, public: spec.Public}
	if e.status == 0 {
		e.status = http.StatusOK
	}
	if e.status < 200 || e.status > 599 || e.status == http.StatusNoContent || e.status == http.StatusPartialContent || e.status == http.StatusNotModified {
		return nil, "", fmt.Errorf("build frozen entry: status %d: want 200 to 599 with a body of its own", e.status)
	}
	if len(spec.Body) > MaxBody {
		return nil, "", fmt.Errorf("build frozen entry: body: %d bytes, want at most %d", len(spec.Body), MaxBody)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Header)) {
		canonical := http.CanonicalHeaderKey(name)
		if !httpfield.IsToken(name) || slices.Contains(refused, canonical) {
			return nil, "", fmt.Errorf("build frozen entry: field %q cannot be stored", name)
		}
		for _, v := range spec.Header[name] {
			if !validValue(v) {
				return nil, "", fmt.Errorf("build frozen entry: field %s: control characters or space at an end", canonical)
			}
			e.fields = append(e.fields, field{canonical, v})
		}
	}
	if tag = spec.ETag; tag == "" {
		sum := sha256.Sum256(spec.Body)
		tag = `"` + base64.RawURLEncoding.EncodeToString(sum[:])[:22] + `"`
	}
	if strings.HasPrefix(tag, "W/") || !httpfield.ValidETag(tag) {
		return nil, "", fmt.Errorf("build frozen entry: entity tag %q: want a strong one with its quotes", tag)
	}
	if !spec.LastModified.IsZero() {
		e.modified = spec.LastModified.UTC().Truncate(time.Second)
		e.date = httpfield.FormatDate(e.modified)
	}
	return e, tag, nil
}

// minCoded is the size in bytes from which a coded body is worth its cost.
const minCoded = 512

// validValue reports whether a field value may stand in a head (RFC 9110, section 5.5).
func validValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return strings.Trim(s, " \t") == s
}

// assemble makes the variants.
func (e *Entry) assemble(tag string, bodies [codings][]byte) {
	coded := false
	for i, body := range bodies {
		coded = coded || body != nil && coding(i) != identity
	}
	if coded {
		e.addVary()
	}
	// One order however the entry came to be, so that it is the same bytes everywhere.
	slices.SortStableFunc(e.fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	for i, body := range bodies {
		c := coding(i)
		if body == nil && c != identity {
			continue
		}
		v := &variant{tag: tag[:len(tag)-1] + codingTags[c] + `"`, body: body}
		full := append(slices.Clone(e.fields), field{"Etag", v.tag})
		if e.date != "" {
			full = append(full, field{"Last-Modified", e.date})
		}
		if c != identity {
			full = append(full, field{"Content-Encoding", codingNames[c]})
		}
		full = append(full, field{"Content-Length", strconv.Itoa(len(body))})
		var same []field
		for _, f := range full {
			// What describes the body is not repeated (RFC 9110, section 15.4.5).
			switch f.name {
			case "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Disposition", "Last-Modified":
			default:
				same = append(same, f)
			}
		}
		v.headers = [2][]field{full, same}
		v.full, v.same = head(e.status, full), head(http.StatusNotModified, same)
		e.variants[c] = v
		e.size += len(v.full) + len(v.same) + len(body)
	}
}

func (e *Entry) addVary() {
	for i, f := range e.fields {
		if f.name == "Vary" {
			if !httpfield.HasToken([]string{f.value}, "Accept-Encoding") && f.value != "*" {
				e.fields[i].value += ", Accept-Encoding"
			}
			return
		}
	}
	e.fields = append(e.fields, field{"Vary", "Accept-Encoding"})
}

// head writes status line and fields, without the empty line.
func head(status int, fields []field) []byte {
	b := append([]byte("HTTP/1.1 "), strconv.Itoa(status)...)
	text := http.StatusText(status)
	if text == "" {
		text = "status code " + strconv.Itoa(status) // as net/http writes it
	}
	b = append(append(append(b, ' '), text...), "\r\n"...)
	for _, f := range fields {
		b = append(append(append(append(b, f.name...), ": "...), f.value...), "\r\n"...)
	}
	return b
}

// Size is the memory of the entry in bytes, for a cache that counts.
func (e *Entry) Size() int { return e.size + 256 }

// ETag returns the entity tag of the body without coding.
func (e *Entry) ETag() string { return e.variants[identity].tag }

// weights are what a request's Accept-Encoding gives each coding, in thousandths.
type weights [codings]int

// noField is the outcome of a request without Accept-Encoding.
var noField = weights{identity: 1000}

func parseWeights(lines []string) weights {
	var w weights
	ranges := httpfield.ParseWeighted(lines)
	for c := range w {
		w[c] = httpfield.CodingQ(ranges, true, codingNames[c])
	}
	return w
}

// choose returns the variant that weights prefer, nil when none is acceptable.
func (e *Entry) choose(w *weights) *variant {
	var best *variant
	most := 0
	for c, v := range e.variants {
		if v != nil && w[c] > most {
			best, most = v, w[c]
		}
	}
	return best
}

// The binary form is a version, flags, status, time, fields, tag and bodies.
const version = 1

var errBinary = errors.New("read frozen entry: not the form that AppendBinary writes")

// AppendBinary appends the entry in a form for a cache: all its codings, as they
// are. It and UnmarshalBinary make *Entry a value of codec.Binary in package cache.
func (e *Entry) AppendBinary(b []byte) ([]byte, error) {
	flags := byte(0)
	if e.public {
		flags |= 1
	}
	b = append(b, version, flags)
	b = binary.AppendUvarint(b, uint64(e.status)) //nolint:gosec // 200 to 599
	seconds := int64(-1 << 62)
	if e.date != "" {
		seconds = e.modified.Unix()
	}
	b = binary.AppendVarint(b, seconds)
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	b = binary.AppendUvarint(b, uint64(len(e.fields)))
	for _, f := range e.fields {
		text(f.name)
		text(f.value)
	}
	text(e.ETag())
	for _, v := range e.variants {
		if v == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		b = append(binary.AppendUvarint(b, uint64(len(v.body))), v.body...)
	}
	return b, nil
}

// UnmarshalBinary reads what AppendBinary wrote; the entry gives the same answers,
// byte for byte. It copies no body: the entry keeps parts of data, which must not
// be changed afterwards.
func (e *Entry) UnmarshalBinary(data []byte) error {
	r := binaryReader{data}
	if len(data) < 2 || data[0] != version || data[1] > 1 {
		return errBinary
	}
	r.b = data[2:]
	spec := EntrySpec{Public: data[1] == 1, Status: int(r.uvarint(599)), Header: http.Header{}} //nolint:gosec // at most 599
	if seconds, n := binary.Varint(r.b); n <= 0 {
		return errBinary
	} else if r.b = r.b[n:]; seconds != -1<<62 {
		if spec.LastModified = time.Unix(seconds, 0); seconds < -62135596800 || seconds > 253402300799 { // years 1 to 9999
			return errBinary
		}
	}
	for range r.uvarint(1 << 10) {
		name, value := string(r.bytes()), string(r.bytes())
		spec.Header[name] = append(spec.Header[name], value)
	}
	spec.ETag = string(r.bytes())
	if spec.ETag == "" {
		return errBinary
	}
	var bodies [codings][]byte
	for c := range bodies {
		if r.uvarint(1) == 1 {
			bodies[c] = slices.Clip(r.bytes())
		}
	}
	if r.b == nil || len(r.b) > 0 || bodies[identity] == nil {
		return errBinary
	}
	built, tag, err := spec.begin()
	if err != nil {
		return fmt.Errorf("%w: %w", errBinary, err)
	}
	*e = *built
	e.assemble(tag, bodies)
	return nil
}

// binaryReader takes a text apart from the left; b is nil after a fault.
type binaryReader struct{ b []byte }

func (r *binaryReader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most {
		r.b = nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *binaryReader) bytes() []byte {
	n := r.uvarint(MaxBody)
	if uint64(len(r.b)) < n || r.b == nil {
		r.b = nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}
