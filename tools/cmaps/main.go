// Command cmaps packs the predefined CMaps of ISO 32000-2, table 116, into the file that
// pdf/internal/content embeds, and copies the licence in their heads beside it.
//
//	go run ./cmaps -from verapdf.jar -to ../pdf/internal/content/data
//
// The CMaps are Adobe's, as its cmap-resources have them. They are taken from the folder font/cmap
// of the archive of veraPDF, which has the latest ones.
package main

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// names are the CMaps that are taken, each before those that build on it.
var names = strings.Fields(`
	GB-EUC-H GB-EUC-V GBpc-EUC-H GBpc-EUC-V GBK-EUC-H GBK-EUC-V GBKp-EUC-H GBKp-EUC-V GBK2K-H GBK2K-V
	UniGB-UCS2-H UniGB-UCS2-V UniGB-UTF16-H UniGB-UTF16-V
	B5pc-H B5pc-V HKscs-B5-H HKscs-B5-V ETen-B5-H ETen-B5-V ETenms-B5-H ETenms-B5-V CNS-EUC-H CNS-EUC-V
	UniCNS-UCS2-H UniCNS-UCS2-V UniCNS-UTF16-H UniCNS-UTF16-V
	83pv-RKSJ-H 90ms-RKSJ-H 90ms-RKSJ-V 90msp-RKSJ-H 90msp-RKSJ-V 90pv-RKSJ-H Add-RKSJ-H Add-RKSJ-V
	EUC-H EUC-V Ext-RKSJ-H Ext-RKSJ-V H V
	UniJIS-UCS2-H UniJIS-UCS2-V UniJIS-UCS2-HW-H UniJIS-UCS2-HW-V UniJIS-UTF16-H UniJIS-UTF16-V
	KSC-EUC-H KSC-EUC-V KSCms-UHC-H KSCms-UHC-V KSCms-UHC-HW-H KSCms-UHC-HW-V KSCpc-EUC-H
	UniKS-UCS2-H UniKS-UCS2-V UniKS-UTF16-H UniKS-UTF16-V`)

func main() {
	from := flag.String("from", "", "`archive` of veraPDF")
	to := flag.String("to", "", "`folder` written to")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "cmaps:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	archive, err := zip.OpenReader(from)
	if err != nil {
		return err
	}
	defer archive.Close() //nolint:errcheck // it is read only
	var packed []byte
	var licences []string
	for _, name := range names {
		f, err := archive.Open("font/cmap/" + name)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m, err := read(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if m.base != "" && !slices.Contains(names, m.base) {
			return fmt.Errorf("%s: it builds on %s, which is not taken", name, m.base)
		}
		body := m.pack()
		packed = append(text8(packed, name), binary.AppendUvarint(nil, uint64(len(body)))...)
		packed = append(packed, body...)
		if own := licenceOf(string(text)); !slices.Contains(licences, own) {
			licences = append(licences, own)
		}
	}
	head := "The CMaps in this folder are made of those of Adobe (github.com/adobe-type-tools/cmap-resources),\nwhose heads say:\n\n"
	if err := os.WriteFile(filepath.Join(to, "LICENSE.txt"), []byte(head+strings.Join(licences, "\n")), 0o644); err != nil { //nolint:gosec // G306: it is public
		return err
	}
	return os.WriteFile(filepath.Join(to, "cmaps"), packed, 0o644) //nolint:gosec // G306: it is public
}

// licenceOf returns the comments of copyright in the head of a CMap.
func licenceOf(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if s, ok := strings.CutPrefix(line, "%%Copyright:"); ok {
			out.WriteString(strings.TrimSpace(s) + "\n")
		}
	}
	return out.String()
}

// entry is a range of codes of n bytes, of which low has the CID to.
type entry struct{ n, low, high, to uint64 }

type cmap struct {
	ordering        string
	base            string
	vertical        bool
	spaces          []entry
	cids, undefined []entry
}

var (
	comment  = regexp.MustCompile(`(?m)%.*$`)
	builds   = regexp.MustCompile(`/([\w-]+)\s+usecmap`)
	ordering = regexp.MustCompile(`/Ordering\s*\((\w+)\)`)
	vertical = regexp.MustCompile(`/WMode\s+1\s+def`)
	section  = regexp.MustCompile(`(?s)begin(codespacerange|cidchar|cidrange|notdefchar|notdefrange)(.*?)end(?:codespace|cid|notdef)`)
	word     = regexp.MustCompile(`<[0-9A-Fa-f]+>|[0-9]+`)
)

// read reads the text of a CMap.
func read(text string) (*cmap, error) {
	text = comment.ReplaceAllString(text, "")
	m := &cmap{vertical: vertical.MatchString(text)}
	if use := builds.FindStringSubmatch(text); use != nil {
		m.base = use[1]
	}
	of := ordering.FindStringSubmatch(text)
	if of == nil {
		return nil, errors.New("no character collection")
	}
	m.ordering = of[1]
	for _, s := range section.FindAllStringSubmatch(text, -1) {
		words := word.FindAllString(s[2], -1)
		size := map[string]int{"codespacerange": 2, "cidchar": 2, "cidrange": 3, "notdefchar": 2, "notdefrange": 3}[s[1]]
		if len(words)%size != 0 {
			return nil, fmt.Errorf("a section %s of %d words", s[1], len(words))
		}
		for w := range slices.Chunk(words, size) {
			n, low, err := code(w[0])
			if err != nil {
				return nil, err
			}
			e := entry{n, low, low, 0}
			if strings.HasSuffix(s[1], "range") {
				if _, e.high, err = code(w[1]); err != nil {
					return nil, err
				}
			}
			if s[1] != "codespacerange" {
				if e.to, err = strconv.ParseUint(w[size-1], 10, 16); err != nil {
					return nil, err
				}
			}
			switch s[1] {
			case "codespacerange":
				m.spaces = append(m.spaces, e)
			case "cidchar", "cidrange":
				m.cids = append(m.cids, e)
			default:
				m.undefined = append(m.undefined, e)
			}
		}
	}
	if len(m.cids) == 0 || m.base == "" && len(m.spaces) == 0 {
		return nil, fmt.Errorf("%d ranges of CIDs and %d of codes", len(m.cids), len(m.spaces))
	}
	m.cids, m.undefined = sorted(m.cids, 1), sorted(m.undefined, 0)
	for _, all := range [][]entry{m.cids, m.undefined} {
		for i, e := range all {
			if i > 0 && all[i-1].n == e.n && all[i-1].high >= e.low {
				return nil, fmt.Errorf("the code %X has two CIDs", e.low)
			}
		}
	}
	return m, nil
}

// code reads a code and the number of its bytes.
func code(s string) (n, value uint64, err error) {
	b, err := hex.DecodeString(strings.Trim(s, "<>"))
	if err != nil || len(b) < 1 || len(b) > 4 {
		return 0, 0, fmt.Errorf("the code %q", s)
	}
	for _, x := range b {
		value = value<<8 | uint64(x)
	}
	return uint64(len(b)), value, nil
}

// sorted sorts ranges and joins those that go on where the one before ends; each code counts the
// CID up by step.
func sorted(all []entry, step uint64) (out []entry) {
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.low, b.low)) })
	for _, e := range all {
		if i := len(out) - 1; i >= 0 && out[i].n == e.n && out[i].high+1 == e.low && out[i].to+step*(e.low-out[i].low) == e.to {
			out[i].high = e.high
			continue
		}
		out = append(out, e)
	}
	return out
}

// text8 writes a short name behind its length.
func text8(b []byte, s string) []byte {
	return append(append(b, byte(len(s))), s...) //nolint:gosec // G115: names have a few bytes
}

// pack writes a CMap as package content reads it: the ordering of its character collection, the
// map that it builds on, the writing mode, the codespace ranges, and the ranges of CIDs and of
// undefined characters.
func (m *cmap) pack() []byte {
	b := text8(text8(nil, m.ordering), m.base)
	if m.vertical {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(m.spaces)))
	for _, s := range m.spaces {
		b = binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(b, s.n), s.low), s.high)
	}
	return ranges(ranges(b, m.cids), m.undefined)
}

// ranges writes how many ranges there are of codes of 1 to 4 bytes, and then, each by itself since
// that packs best, how far each begins behind the one before, how many codes it has beyond the
// first, and by how much its CID is another than the one that would follow.
func ranges(b []byte, all []entry) []byte {
	for n := uint64(1); n <= 4; n++ {
		count := uint64(0)
		for _, e := range all {
			if e.n == n {
				count++
			}
		}
		b = binary.AppendUvarint(b, count)
	}
	var sizes, cids []byte
	var before entry
	next, cid := uint64(0), int64(0)
	for _, e := range all {
		if e.n != before.n {
			next, cid = 0, 0
		}
		b = binary.AppendUvarint(b, e.low-next)
		sizes = binary.AppendUvarint(sizes, e.high-e.low)
		cids = binary.AppendVarint(cids, int64(e.to)-cid)                         //nolint:gosec // G115: 16 bits
		before, next, cid = e, e.high+1, int64(e.to)+int64(e.high)-int64(e.low)+1 //nolint:gosec // G115: 32 bits
	}
	return append(append(b, sizes...), cids...)
}
