package remotingtest

import (
	"context"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/psrp"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// WSMan is a service of Windows Remote Management (MS-WSMV) whose shells are servers behind
// Backend, an http.Handler. It notices requests that break a rule of the protocol.
type WSMan struct {
	// Backend makes the transport to the server of a new shell.
	Backend func(ctx context.Context) (psrp.Transport, error)
	// User and Password, when not empty, are asked for by Basic.
	User, Password string
	// Spoil, when not nil, may alter an answer.
	Spoil func(action, answer string) string

	tb     testing.TB
	mu     sync.Mutex
	shells map[string]*wsmanShell
	seen   map[string]int // requests by action
}

// NewWSMan returns a service that fails tb when a request breaks the protocol, and ends its shells
// with the test.
func NewWSMan(tb testing.TB, backend func(ctx context.Context) (psrp.Transport, error)) *WSMan {
	tb.Helper()
	w := &WSMan{Backend: backend, tb: tb, shells: map[string]*wsmanShell{}, seen: map[string]int{}}
	tb.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, s := range w.shells {
			_ = s.transport.Close()
			<-s.ended
		}
	})
	return w
}

// Seen returns how many requests of an action came, such as "Receive".
func (w *WSMan) Seen(action string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[action]
}

// wsmanShell is a shell; what its server says waits until it is asked for.
type wsmanShell struct {
	transport psrp.Transport
	ended     chan struct{}
	sending   sync.Mutex

	mu      sync.Mutex
	changed *sync.Cond
	acks    map[string]int
	out     map[clixml.GUID]*wsmanOut
	err     error
}

type wsmanOut struct {
	data    [][]byte
	done    bool // ended by a signal
	reading bool
}

type wsmanEnvelope struct {
	XMLName xml.Name `xml:"http://www.w3.org/2003/05/soap-envelope Envelope"`
	Header  struct {
		Action      string `xml:"http://schemas.xmlsoap.org/ws/2004/08/addressing Action"`
		MessageID   string `xml:"http://schemas.xmlsoap.org/ws/2004/08/addressing MessageID"`
		MaxEnvelope int    `xml:"http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd MaxEnvelopeSize"`
		Timeout     string `xml:"http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd OperationTimeout"`
		Selectors   []struct {
			Name  string `xml:"Name,attr"`
			Value string `xml:",chardata"`
		} `xml:"http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd SelectorSet>Selector"`
	} `xml:"http://www.w3.org/2003/05/soap-envelope Header"`
	Body struct {
		Shell *struct {
			ID       string `xml:"ShellId,attr"`
			Creation string `xml:"http://schemas.microsoft.com/powershell creationXml"`
		} `xml:"http://schemas.microsoft.com/wbem/wsman/1/windows/shell Shell"`
		Line *struct {
			ID        string `xml:"CommandId,attr"`
			Arguments string `xml:"http://schemas.microsoft.com/wbem/wsman/1/windows/shell Arguments"`
		} `xml:"http://schemas.microsoft.com/wbem/wsman/1/windows/shell CommandLine"`
		Send *struct {
			Stream struct {
				Name string `xml:"Name,attr"`
				ID   string `xml:"CommandId,attr"`
				Data string `xml:",chardata"`
			} `xml:"http://schemas.microsoft.com/wbem/wsman/1/windows/shell Stream"`
		} `xml:"http://schemas.microsoft.com/wbem/wsman/1/windows/shell Send"`
		Receive *struct {
			Desired struct {
				ID string `xml:"CommandId,attr"`
			} `xml:"http://schemas.microsoft.com/wbem/wsman/1/windows/shell DesiredStream"`
		} `xml:"http://schemas.microsoft.com/wbem/wsman/1/windows/shell Receive"`
		Signal *struct {
			ID   string `xml:"CommandId,attr"`
			Code string `xml:"http://schemas.microsoft.com/wbem/wsman/1/windows/shell Code"`
		} `xml:"http://schemas.microsoft.com/wbem/wsman/1/windows/shell Signal"`
	} `xml:"http://www.w3.org/2003/05/soap-envelope Body"`
}

// wsmanError is what a service refuses by.
type wsmanError struct {
	code    uint32
	subcode string
	text    string
}

func (f *wsmanError) Error() string { return f.text }

var (
	errWSManTimedOut = &wsmanError{2150858793, "TimedOut", "the operation timed out"}
	errWSManNoShell  = &wsmanError{2150858843, "InvalidSelectors", "no such shell or command"}
)

func (w *WSMan) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if w.User != "" {
		if user, password, ok := r.BasicAuth(); !ok || user != w.User || password != w.Password {
			rw.Header().Set("WWW-Authenticate", `Basic realm="WSMAN"`)
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var e wsmanEnvelope
	if err := xml.Unmarshal(body, &e); err != nil {
		w.tb.Errorf("request %.300q: %v", body, err)
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	if len(body) > e.Header.MaxEnvelope {
		w.tb.Errorf("an envelope of %d bytes, which has MaxEnvelopeSize %d", len(body), e.Header.MaxEnvelope)
	}
	name := e.Header.Action[strings.LastIndexByte(e.Header.Action, '/')+1:]
	w.mu.Lock()
	w.seen[name]++
	w.mu.Unlock()
	answer, err := w.operation(r.Context(), name, &e)
	action := e.Header.Action + "Response"
	status := http.StatusOK
	if err != nil {
		fault, ok := err.(*wsmanError) //nolint:errorlint // none is wrapped
		if !ok {
			fault = &wsmanError{87, "InvalidParameter", err.Error()}
		}
		status, action = http.StatusInternalServerError, "http://schemas.dmtf.org/wbem/wsman/1/wsman/fault"
		answer = fmt.Sprintf(`<s:Fault><s:Code><s:Value>s:Receiver</s:Value><s:Subcode><s:Value>w:%s</s:Value></s:Subcode></s:Code><s:Reason><s:Text xml:lang="en-US">%s</s:Text></s:Reason>`+
			`<s:Detail><f:WSManFault xmlns:f="http://schemas.microsoft.com/wbem/wsman/1/wsmanfault" Code="%d" Machine="h"><f:Message>%[2]s</f:Message></f:WSManFault></s:Detail></s:Fault>`, fault.subcode, fault.text, fault.code)
	}
	text := `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:w="http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd" xmlns:x="http://schemas.xmlsoap.org/ws/2004/09/transfer" xmlns:r="http://schemas.microsoft.com/wbem/wsman/1/windows/shell">` +
		`<s:Header><a:Action>` + action + `</a:Action><a:RelatesTo>` + e.Header.MessageID + `</a:RelatesTo></s:Header><s:Body>` + answer + `</s:Body></s:Envelope>`
	if w.Spoil != nil {
		text = w.Spoil(name, text)
	}
	rw.Header().Set("Content-Type", "application/soap+xml;charset=UTF-8")
	rw.WriteHeader(status)
	_, _ = io.WriteString(rw, text)
}

func wsmanGUID(s string) (g clixml.GUID, err error) {
	if s == "" {
		return g, nil
	}
	return clixml.ParseGUID(s)
}

func (w *WSMan) operation(ctx context.Context, name string, e *wsmanEnvelope) (string, error) {
	if name == "Create" {
		return w.create(ctx, e)
	}
	w.mu.Lock()
	var s *wsmanShell
	if sel := e.Header.Selectors; len(sel) == 1 && sel[0].Name == "ShellId" {
		s = w.shells[sel[0].Value]
	}
	w.mu.Unlock()
	if s == nil {
		return "", errWSManNoShell
	}
	switch b := &e.Body; {
	case name == "Command" && b.Line != nil:
		id, err := wsmanGUID(b.Line.ID)
		if err != nil {
			return "", err
		}
		if !strings.EqualFold(b.Line.ID, id.String()) || b.Line.ID != strings.ToUpper(b.Line.ID) {
			w.tb.Errorf("command %q", b.Line.ID)
		}
		s.mu.Lock()
		s.out[id] = &wsmanOut{}
		s.mu.Unlock()
		if err := s.do(proto.Packet{Kind: proto.PacketCommand, Target: id}, proto.PacketCommandAck); err != nil {
			return "", err
		}
		if err := s.data(id, "stdin", b.Line.Arguments); err != nil {
			return "", err
		}
		return `<r:CommandResponse><r:CommandId>` + b.Line.ID + `</r:CommandId></r:CommandResponse>`, nil
	case name == "Send" && b.Send != nil:
		id, err := wsmanGUID(b.Send.Stream.ID)
		if err == nil {
			err = s.data(id, b.Send.Stream.Name, b.Send.Stream.Data)
		}
		return `<r:SendResponse/>`, err
	case name == "Receive" && b.Receive != nil:
		id, err := wsmanGUID(b.Receive.Desired.ID)
		if err != nil {
			return "", err
		}
		return w.receive(ctx, s, id, b.Receive.Desired.ID, e.Header.Timeout)
	case name == "Signal" && b.Signal != nil:
		id, err := wsmanGUID(b.Signal.ID)
		if err != nil {
			return "", err
		}
		if strings.HasSuffix(b.Signal.Code, "/Terminate") {
			err = s.do(proto.Packet{Kind: proto.PacketClose, Target: id}, proto.PacketCloseAck)
			s.mu.Lock()
			if o := s.out[id]; o != nil {
				o.done = true
			}
			s.changed.Broadcast()
			s.mu.Unlock()
		} else {
			err = s.do(proto.Packet{Kind: proto.PacketSignal, Target: id}, proto.PacketSignalAck)
		}
		return `<r:SignalResponse/>`, err
	case name == "Delete":
		err := s.do(proto.Packet{Kind: proto.PacketClose}, proto.PacketCloseAck)
		_ = s.transport.Close()
		<-s.ended
		w.mu.Lock()
		delete(w.shells, e.Header.Selectors[0].Value)
		w.mu.Unlock()
		return "", err
	}
	w.tb.Errorf("a request %q without its body", name)
	return "", errWSManNoShell
}

func (w *WSMan) create(ctx context.Context, e *wsmanEnvelope) (string, error) {
	if e.Body.Shell == nil {
		return "", errWSManNoShell
	}
	t, err := w.Backend(context.WithoutCancel(ctx))
	if err != nil {
		return "", err
	}
	s := &wsmanShell{transport: t, ended: make(chan struct{}), acks: map[string]int{}, out: map[clixml.GUID]*wsmanOut{{}: {}}}
	s.changed = sync.NewCond(&s.mu)
	go s.read() //nolint:gosec // G118: it lives as long as the shell
	w.mu.Lock()
	w.shells[e.Body.Shell.ID] = s
	w.mu.Unlock()
	if err := s.data(clixml.GUID{}, "stdin", e.Body.Shell.Creation); err != nil {
		return "", err
	}
	return `<x:ResourceCreated><a:ReferenceParameters><w:SelectorSet><w:Selector Name="ShellId">` + e.Body.Shell.ID + `</w:Selector></w:SelectorSet></a:ReferenceParameters></x:ResourceCreated>`, nil
}

// read takes what the server says.
func (s *wsmanShell) read() {
	defer close(s.ended)
	for {
		p, err := s.transport.Recv(context.Background())
		s.mu.Lock()
		switch {
		case err != nil:
			s.err = err
		case p.Kind == proto.PacketData:
			if o := s.out[p.Target]; o != nil {
				o.data = append(o.data, append([]byte(nil), p.Data...))
			}
		default:
			s.acks[fmt.Sprint(p.Kind, p.Target)]++
		}
		s.changed.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// do sends a packet and waits for its acknowledgement.
func (s *wsmanShell) do(p proto.Packet, ack proto.PacketKind) error {
	s.sending.Lock()
	err := s.transport.Send(context.Background(), p)
	s.sending.Unlock()
	if err != nil {
		return errWSManNoShell
	}
	key := fmt.Sprint(ack, p.Target)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.acks[key] == 0 && s.err == nil {
		s.changed.Wait()
	}
	if s.acks[key] == 0 {
		return errWSManNoShell
	}
	s.acks[key]--
	return nil
}

func (s *wsmanShell) data(id clixml.GUID, stream, text string) error {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	p := proto.Packet{Kind: proto.PacketData, Target: id, Data: b}
	if stream == "pr" {
		p.Stream = proto.StreamPromptResponse
	}
	return s.do(p, proto.PacketDataAck)
}

// receive answers what there is, waiting for it as long as the client wants.
func (w *WSMan) receive(ctx context.Context, s *wsmanShell, id clixml.GUID, name, timeout string) (string, error) {
	seconds, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(timeout, "PT"), "S"), 64)
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})()
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.out[id]
	if o == nil {
		return "", errWSManNoShell
	}
	if o.reading {
		w.tb.Errorf("two requests ask for the output of %q at once", name)
	}
	o.reading = true
	defer func() { o.reading = false }()
	for len(o.data) == 0 && !o.done && s.err == nil && ctx.Err() == nil {
		s.changed.Wait()
	}
	command := ""
	if name != "" {
		command = ` CommandId="` + name + `"`
	}
	var b strings.Builder
	b.WriteString(`<r:ReceiveResponse>`)
	n := 0
	for len(o.data) > 0 && n < 100_000 {
		b.WriteString(`<r:Stream Name="stdout"` + command + `>` + base64.StdEncoding.EncodeToString(o.data[0]) + `</r:Stream>`)
		n += len(o.data[0])
		o.data = o.data[1:]
	}
	switch {
	case n > 0:
	case o.done:
		b.WriteString(`<r:CommandState` + command + ` State="http://schemas.microsoft.com/wbem/wsman/1/windows/shell/CommandState/Done"/>`)
		delete(s.out, id)
	case s.err != nil:
		return "", errWSManNoShell
	default:
		return "", errWSManTimedOut
	}
	return b.String() + `</r:ReceiveResponse>`, nil
}
