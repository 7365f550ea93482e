package wsman

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"

	"example.com/quire/psrp/wsman/ntlm"
)

// The form of a sealed body (MS-WSMV 2.2.9.1).
const (
	sealedProtocol = "application/HTTP-SPNEGO-session-encrypted"
	sealedBoundary = "Encrypted Boundary"
	sealedType     = `multipart/encrypted;protocol="` + sealedProtocol + `";boundary="` + sealedBoundary + `"`
	plainType      = "application/soap+xml;charset=UTF-8"
)

// ErrNotSealed is an answer over plain HTTP that is not sealed, or not in the form that it has to
// have.
var ErrNotSealed = errors.New("wsman: the answer is not sealed as it has to be")

func notSealed(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrNotSealed, fmt.Sprintf(format, a...))
}

// appendSealed appends a plain body, sealed.
func appendSealed(dst []byte, s *ntlm.Session, plain []byte) []byte {
	dst = append(dst, "--"+sealedBoundary+"\r\n\tContent-Type: "+sealedProtocol+"\r\n\tOriginalContent: type="+plainType+";Length="...)
	dst = strconv.AppendInt(dst, int64(len(plain)), 10)
	dst = append(dst, "\r\n--"+sealedBoundary+"\r\n\tContent-Type: application/octet-stream\r\n"...)
	at := len(dst)
	dst = append(dst, make([]byte, 4+ntlm.SignatureSize)...)
	binary.LittleEndian.PutUint32(dst[at:], ntlm.SignatureSize)
	dst, sig := s.Seal(dst, plain)
	copy(dst[at+4:], sig[:])
	return append(dst, "--"+sealedBoundary+"--\r\n"...)
}

// sealedBody is a body taken apart. Its fields are views.
type sealedBody struct {
	signature, data []byte
}

// parseSealed takes a body apart. Its contentType is that of the answer; some hosts write a space
// after the dashes of a boundary.
func parseSealed(contentType string, body []byte) (sealedBody, error) {
	var none sealedBody
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/encrypted" || params["protocol"] != sealedProtocol || params["boundary"] == "" {
		return none, notSealed("its type is %.100q", contentType)
	}
	part := func(b []byte) ([]byte, bool) {
		rest, ok := bytes.CutPrefix(b, []byte("--"))
		if !ok {
			return b, false
		}
		if rest, ok = bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(" ")), []byte(params["boundary"]+"\r\n")); !ok {
			return b, false
		}
		return rest, true
	}
	rest, ok := part(body)
	if !ok {
		return none, notSealed("it does not begin with its boundary")
	}
	length := -1
	for ok = false; !ok; rest, ok = part(rest) {
		line, after, found := bytes.Cut(rest, []byte("\r\n"))
		if !found {
			return none, notSealed("its first part does not end")
		}
		rest = after
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		if strings.EqualFold(name, "OriginalContent") {
			_, text, _ := strings.Cut(value, "Length=")
			if length, err = strconv.Atoi(text); err != nil || length < 0 {
				return none, notSealed("its length is %.100q", text)
			}
		}
	}
	line, data, _ := bytes.Cut(rest, []byte("\r\n"))
	if !strings.EqualFold(strings.TrimSpace(string(line)), "Content-Type: application/octet-stream") {
		return none, notSealed("its second part is %.100q", line)
	}
	end := -1
	for _, last := range []string{"--" + params["boundary"] + "--\r\n", "-- " + params["boundary"] + "--\r\n"} {
		if bytes.HasSuffix(data, []byte(last)) {
			end = len(data) - len(last)
		}
	}
	switch {
	case end < 4+ntlm.SignatureSize:
		return none, notSealed("its second part is not all there")
	case binary.LittleEndian.Uint32(data) != ntlm.SignatureSize:
		return none, notSealed("its signature has %d bytes", binary.LittleEndian.Uint32(data))
	}
	s := sealedBody{signature: data[4 : 4+ntlm.SignatureSize], data: data[4+ntlm.SignatureSize : end]}
	if length != len(s.data) {
		return none, notSealed("it has %d bytes and says %d", len(s.data), length)
	}
	return s, nil
}

// openSealed returns the plain body, in the memory of body.
func openSealed(s *ntlm.Session, contentType string, body []byte) ([]byte, error) {
	parts, err := parseSealed(contentType, body)
	if err != nil {
		return nil, err
	}
	return s.Open(parts.signature, parts.data)
}
