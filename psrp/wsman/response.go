package wsman

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of an answer.
const (
	maxDepth    = 32
	maxElements = 10_000
	maxText     = 4 << 10 // of anything but payload
	maxSelector = 16
)

// response is what is read out of an answer.
type response struct {
	relatesTo string
	action    string
	selectors []selector // of the shell that was created
	command   string     // identifier of the command that was started
	streams   []stream
	state     string // of the command, without its namespace: "Done"
	fault     *FaultError
}

type stream struct {
	name string
	data []byte
}

// FaultError is a SOAP fault: the host understood the request and refused it.
type FaultError struct {
	Code     uint32 // of Windows, such as 2150858843; 0 when the host gave none
	Subcode  string // local name, such as "InvalidSelectors"
	Reason   string // for people, at most 4 KiB
	Provider string // of the plug-in that refused; "" when there is none
}

func (e *FaultError) Error() string {
	var b strings.Builder
	b.WriteString("wsman: fault")
	if e.Code != 0 {
		fmt.Fprintf(&b, " %d", e.Code)
	}
	if e.Subcode != "" {
		b.WriteString(" " + e.Subcode)
	}
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	return b.String()
}

// Codes of faults (MS-WSMV 2.2.4.43 and the errors of WinRM).
const (
	codeTimedOut         = 2150858793 // an operation had nothing to say in its time
	codeInvalidSelectors = 2150858843 // the shell or command is gone
	codeAborted          = 995        // the read was cancelled, as its command ended
)

func (e *FaultError) timedOut() bool { return e.Code == codeTimedOut }

// gone reports whether the shell or command that was named is not there any more.
func (e *FaultError) gone() bool {
	return e.Code == codeInvalidSelectors || e.Code == codeAborted
}

var errAnswer = errors.New("wsman: the answer is not understood")

func bad(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errAnswer, fmt.Sprintf(format, a...))
}

// reader reads an answer with a bound on everything. Elements are told by namespace and name.
type reader struct {
	response
	path     []xml.StartElement
	elements int
	text     []byte
}

// parseResponse reads an envelope. No declaration but <?xml ?> is allowed in it, as SOAP demands.
func parseResponse(b []byte) (*response, error) {
	r := &reader{}
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			if r.elements == 0 {
				return nil, bad("it has no envelope")
			}
			return &r.response, nil
		}
		if err == nil {
			err = r.token(tok)
		} else {
			err = bad("%v", err)
		}
		if err != nil {
			return nil, fmt.Errorf("%w (at byte %d)", err, d.InputOffset())
		}
	}
}

func (r *reader) token(tok xml.Token) error {
	switch tok := tok.(type) {
	case xml.Directive:
		return bad("it has a document type declaration")
	case xml.ProcInst:
		if tok.Target != "xml" {
			return bad("it has a processing instruction")
		}
	case xml.StartElement:
		if r.elements++; r.elements > maxElements || len(r.path) == maxDepth {
			return bad("it has more than %d elements, or deeper than %d", maxElements, maxDepth)
		}
		if want := (xml.Name{Space: nsSOAP, Local: "Envelope"}); r.elements == 1 && tok.Name != want {
			return bad("it is not a SOAP 1.2 envelope but %q", tok.Name.Local)
		}
		r.text = r.text[:0]
		r.path = append(r.path, tok.Copy())
	case xml.CharData:
		r.text = append(r.text, tok...)
	case xml.EndElement:
		err := r.end()
		r.path = r.path[:len(r.path)-1]
		r.text = r.text[:0]
		return err
	}
	return nil
}

// at reports whether the element is this one, in that of parent.
func (r *reader) at(parentSpace, parent, space, name string) bool {
	n := len(r.path)
	return r.path[n-1].Name == xml.Name{Space: space, Local: name} && n > 1 && r.path[n-2].Name == xml.Name{Space: parentSpace, Local: parent}
}

func (r *reader) attribute(name string) string {
	for _, a := range r.path[len(r.path)-1].Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value[:min(len(a.Value), maxText)]
		}
	}
	return ""
}

// end reads the element that ends here.
func (r *reader) end() error {
	text := bytes.TrimSpace(r.text)
	if r.at(nsShell, "ReceiveResponse", nsShell, "Stream") {
		s := stream{name: r.attribute("Name")}
		var err error
		if s.data, err = base64.StdEncoding.AppendDecode(nil, text); err != nil {
			return bad("stream %q: %v", s.name, err)
		}
		r.streams = append(r.streams, s)
		return nil
	}
	t := string(text[:min(len(text), maxText)])
	switch {
	case r.at(nsSOAP, "Header", nsAddressing, "RelatesTo"):
		r.relatesTo = t
	case r.at(nsSOAP, "Header", nsAddressing, "Action"):
		r.action = t
	case r.at(nsWSMan, "SelectorSet", nsWSMan, "Selector") && r.inside(nsTransfer, "ResourceCreated"):
		if len(r.selectors) == maxSelector {
			return bad("it has more than %d selectors", maxSelector)
		}
		r.selectors = append(r.selectors, selector{r.attribute("Name"), t})
	case r.at(nsShell, "CommandResponse", nsShell, "CommandId"):
		r.command = t
	case r.at(nsShell, "ReceiveResponse", nsShell, "CommandState"):
		state := r.attribute("State")
		r.state = state[strings.LastIndexByte(state, '/')+1:]
	case r.at(nsSOAP, "Body", nsSOAP, "Fault"):
		_ = r.faulted() // it may be empty
	case !r.inside(nsSOAP, "Fault"):
	case r.at(nsSOAP, "Subcode", nsSOAP, "Value"):
		r.faulted().Subcode = t[strings.LastIndexByte(t, ':')+1:]
	case r.at(nsSOAP, "Reason", nsSOAP, "Text"):
		r.faulted().Reason = t
	case r.at(nsSOAP, "Detail", nsFault, "WSManFault"):
		if _, err := fmt.Sscan(r.attribute("Code"), &r.faulted().Code); err != nil {
			return bad("a fault with the code %q", r.attribute("Code"))
		}
	case r.at(nsFault, "Message", nsFault, "ProviderFault"):
		if p := r.attribute("provider"); p != "" {
			r.faulted().Provider = p
		}
		if f := r.faulted(); f.Reason == "" {
			f.Reason = t
		}
	}
	return nil
}

func (r *reader) faulted() *FaultError {
	if r.fault == nil {
		r.fault = &FaultError{}
	}
	return r.fault
}

func (r *reader) inside(space, name string) bool {
	for i := range r.path {
		if r.path[i].Name == (xml.Name{Space: space, Local: name}) {
			return true
		}
	}
	return false
}
