package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	packetBegin = "<?xpacket begin="
	packetEnd   = "<?xpacket end="
	idName      = "xmpMM:DocumentID"
	// idReach is how far behind its name the end of an id can lie.
	idReach = 512
	maxIDs  = 16
)

// DocumentIDs finds the document ids in the XMP metadata of a file, as [RenderOptions.DocumentID]
// writes them: each once, in order. There is normally one. XMP packets are found by their markers
// (ISO 16684-1 section 7.3.2), without reading the file's structure, because the file may be
// damaged and metadata is not compressed. In a packet, the property xmpMM:DocumentID may be an
// element or an attribute. White space around its value is removed; references such as &amp; are
// not decoded. At most 16 ids of at most 512 bytes are returned. Errors are those of r. Memory use
// does not depend on the file.
func DocumentIDs(r io.Reader) ([]string, error) {
	s := idScanner{}
	buf := make([]byte, 0, 64<<10)
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return nil, fmt.Errorf("pdf: look for the document id: %w", err)
		}
		rest := s.scan(buf, last)
		if last || len(s.found) == maxIDs {
			return s.found, nil
		}
		buf = buf[:copy(buf, rest)]
	}
}

type idScanner struct {
	inPacket bool
	found    []string
}

// scan looks through b and returns its unread rest, which is short. Unless b is
// the last part, an id too near to the end is left in the rest.
func (s *idScanner) scan(b []byte, last bool) []byte {
	for len(s.found) < maxIDs {
		if !s.inPacket {
			at := bytes.Index(b, []byte(packetBegin))
			if at < 0 {
				return tail(b, len(packetBegin)-1)
			}
			s.inPacket = true
			b = b[at+len(packetBegin):]
			continue
		}
		end, id := bytes.Index(b, []byte(packetEnd)), bytes.Index(b, []byte(idName))
		switch {
		case id >= 0 && (end < 0 || id < end):
			if !last && len(b)-id < idReach {
				// Keep one byte before the name: it tells an element from a word.
				return b[max(id-1, 0):]
			}
			before := byte(0)
			if id > 0 {
				before = b[id-1]
			}
			b = b[id+len(idName):]
			if v := idValue(before, b[:min(len(b), idReach)]); v != "" && !slices.Contains(s.found, v) {
				s.found = append(s.found, v)
			}
		case end >= 0:
			s.inPacket = false
			b = b[end+len(packetEnd):]
		default:
			return tail(b, max(len(packetEnd), len(idName)))
		}
	}
	return nil
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// idValue reads what follows the property's name: >VALUE< after "<", or ="VALUE" after white space.
// It is "" when there is no value.
func idValue(before byte, b []byte) string {
	const space = " \t\r\n"
	b = bytes.TrimLeft(b, space)
	var until []byte
	switch {
	case before == '<' && bytes.HasPrefix(b, []byte(">")):
		b, until = b[1:], []byte("<")
	case bytes.IndexByte([]byte(space), before) >= 0 && bytes.HasPrefix(b, []byte("=")):
		b = bytes.TrimLeft(b[1:], space)
		if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
			return ""
		}
		b, until = b[1:], b[:1]
	default:
		return ""
	}
	value, _, ok := bytes.Cut(b, until)
	if !ok || bytes.IndexByte(value, '<') >= 0 { // no attribute value has that (XML 1.0 section 2.3)
		return ""
	}
	return string(bytes.Trim(value, space))
}
