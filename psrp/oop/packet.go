package oop

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// AppendPacket appends the line of a packet with its LF, as PowerShell writes it.
func AppendPacket(dst []byte, p proto.Packet) []byte {
	dst = append(dst, '<')
	dst = append(dst, p.Kind.String()...)
	if p.Kind == proto.PacketData {
		dst = append(dst, " Stream='"...)
		dst = append(dst, p.Stream.String()...)
		dst = append(dst, '\'')
	}
	dst = append(dst, " PSGuid='"...)
	dst = p.Target.AppendText(dst)
	if p.Kind != proto.PacketData {
		return append(dst, "' />\n"...)
	}
	dst = append(dst, "'>"...)
	dst = base64.StdEncoding.AppendEncode(dst, p.Data)
	return append(dst, "</Data>\n"...)
}

// ParsePacket reads a line without its line end. Its Data is new memory. Errors are
// *proto.RemoteProtocolError.
func ParsePacket(line []byte) (proto.Packet, error) {
	p, _, err := parsePacket(line, nil)
	return p, err
}

// parsePacket decodes Data into buf, which it returns as it grew.
func parsePacket(line, buf []byte) (p proto.Packet, grown []byte, err error) {
	s := scanner{line: line}
	name, ok := s.start()
	if !ok {
		return p, buf, s.fail("not a packet")
	}
	if p.Kind = kindOf(name); p.Kind == 0 {
		return p, buf, s.fail(fmt.Sprintf("unknown element %q", clip(name)))
	}
	var hasGUID, hasStream bool
	for {
		key, value, more, err := s.attribute()
		if err != nil {
			return p, buf, err
		}
		if !more {
			break
		}
		switch {
		case string(key) == "PSGuid" && !hasGUID:
			hasGUID = true
			if p.Target, ok = parseGUID(value); !ok {
				return p, buf, s.fail(fmt.Sprintf("PSGuid %q is not a GUID", clip(value)))
			}
		case string(key) == "Stream" && !hasStream && p.Kind == proto.PacketData:
			hasStream = true
			switch string(value) {
			case "Default":
			case "PromptResponse":
				p.Stream = proto.StreamPromptResponse
			default:
				return p, buf, s.fail(fmt.Sprintf("stream %q", clip(value)))
			}
		default:
			return p, buf, s.fail(fmt.Sprintf("attribute %q of %v", clip(key), p.Kind))
		}
	}
	if !hasGUID || hasStream != (p.Kind == proto.PacketData) {
		return p, buf, s.fail(fmt.Sprintf("%v without an attribute that it needs", p.Kind))
	}
	text, err := s.content(name)
	if err != nil {
		return p, buf, err
	}
	if p.Kind != proto.PacketData {
		if len(text) > 0 {
			return p, buf, s.fail(fmt.Sprintf("text in %v", p.Kind))
		}
		return p, buf, nil
	}
	if len(text) == 0 {
		return p, buf, s.fail("Data without text")
	}
	at := s.pos
	size := base64.StdEncoding.DecodedLen(len(text))
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	n, err := strict.Decode(buf[:cap(buf)], text)
	if err != nil {
		s.pos = at
		return p, buf, s.fail("the text of Data is not base64")
	}
	p.Data = buf[:n:n]
	return p, buf, nil
}

var strict = base64.StdEncoding.Strict()

func clip[T string | []byte](s T) string {
	if len(s) > 64 {
		return string(s[:64]) + "..."
	}
	return string(s)
}

func kindOf(name []byte) proto.PacketKind {
	switch string(name) {
	case "Data":
		return proto.PacketData
	case "DataAck":
		return proto.PacketDataAck
	case "Command":
		return proto.PacketCommand
	case "CommandAck":
		return proto.PacketCommandAck
	case "Signal":
		return proto.PacketSignal
	case "SignalAck":
		return proto.PacketSignalAck
	case "Close":
		return proto.PacketClose
	case "CloseAck":
		return proto.PacketCloseAck
	}
	return 0
}

// parseGUID reads the 8-4-4-4-12 form without allocating.
func parseGUID(b []byte) (g clixml.GUID, ok bool) {
	if len(b) != 36 || b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' {
		return g, false
	}
	wrong := byte(0)
	for i, at := range [len(g)]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34} {
		high, low := hexDigits[b[at]], hexDigits[b[at+1]]
		g[i] = high<<4 | low
		wrong |= high | low
	}
	if wrong > 15 {
		return clixml.GUID{}, false
	}
	return g, true
}

// hexDigits are the values of digits, and 255 of all else.
var hexDigits = func() (values [256]byte) {
	for c := range values {
		values[c] = 255
		if n, err := strconv.ParseUint(string(rune(c)), 16, 4); err == nil {
			values[c] = byte(n)
		}
	}
	return values
}()

// scanner reads the one element of a line.
type scanner struct {
	line []byte
	pos  int
}

func (s *scanner) fail(reason string) error {
	return &proto.RemoteProtocolError{Stage: "packet", Offset: int64(s.pos), Err: errors.New(reason)}
}

func (s *scanner) space() {
	for s.pos < len(s.line) && (s.line[s.pos] == ' ' || s.line[s.pos] == '\t') {
		s.pos++
	}
}

func (s *scanner) name() []byte {
	from := s.pos
	for s.pos < len(s.line) && (s.line[s.pos]|0x20 >= 'a' && s.line[s.pos]|0x20 <= 'z') {
		s.pos++
	}
	return s.line[from:s.pos]
}

func (s *scanner) start() ([]byte, bool) {
	if len(s.line) == 0 || s.line[0] != '<' {
		return nil, false
	}
	s.pos = 1
	n := s.name()
	return n, len(n) > 0
}

// attribute reads the next one; more is false before the tag's end.
func (s *scanner) attribute() (key, value []byte, more bool, err error) {
	before := s.pos
	s.space()
	if s.pos < len(s.line) && (s.line[s.pos] == '>' || s.line[s.pos] == '/') {
		return nil, nil, false, nil
	}
	key = s.name()
	if len(key) == 0 || s.pos == before+len(key) {
		return nil, nil, false, s.fail("a start tag that does not end")
	}
	s.space()
	if s.pos >= len(s.line) || s.line[s.pos] != '=' {
		return nil, nil, false, s.fail("an attribute without a value")
	}
	s.pos++
	s.space()
	if s.pos >= len(s.line) || s.line[s.pos] != '\'' && s.line[s.pos] != '"' {
		return nil, nil, false, s.fail("an attribute without quotes")
	}
	quote := s.line[s.pos]
	s.pos++
	n := bytes.IndexByte(s.line[s.pos:], quote)
	if n < 0 {
		s.pos = len(s.line)
		return nil, nil, false, s.fail("an attribute that does not end")
	}
	value = s.line[s.pos : s.pos+n]
	s.pos += n + 1
	return key, value, true, nil
}

// content reads the rest of the line: the text between the tags, which is all there may be.
func (s *scanner) content(name []byte) ([]byte, error) {
	if s.line[s.pos] == '/' {
		if string(s.line[s.pos:]) != "/>" {
			return nil, s.fail("more after the element, or a tag that does not end")
		}
		return nil, nil
	}
	s.pos++
	end := len(s.line) - len(name) - 3
	if end < s.pos || s.line[end] != '<' || s.line[end+1] != '/' || string(s.line[end+2:len(s.line)-1]) != string(name) || s.line[len(s.line)-1] != '>' {
		return nil, s.fail("the line does not end with the element's end tag")
	}
	return s.line[s.pos:end], nil
}

// quote makes what is not a packet fit for an error message.
func quote(lines []string) string { return clip(strings.Join(lines, "\n")) }
