package wsman

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"strconv"
	"time"
)

// Namespaces.
const (
	nsSOAP       = "http://www.w3.org/2003/05/soap-envelope"
	nsAddressing = "http://schemas.xmlsoap.org/ws/2004/08/addressing"
	nsWSMan      = "http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd"
	nsWSMV       = "http://schemas.microsoft.com/wbem/wsman/1/wsman.xsd"
	nsShell      = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell"
	nsTransfer   = "http://schemas.xmlsoap.org/ws/2004/09/transfer"
	nsFault      = "http://schemas.microsoft.com/wbem/wsman/1/wsmanfault"
	nsPowerShell = "http://schemas.microsoft.com/powershell"
)

// action is what an envelope asks for.
type action uint8

const (
	actCreate action = iota
	actCommand
	actSend
	actReceive
	actSignal
	actDelete
)

var actions = [...]struct{ name, uri, option, value string }{
	actCreate:  {"Create", nsTransfer + "/Create", `MustComply="true" Name="protocolversion"`, "2.3"},
	actCommand: {"Command", nsShell + "/Command", `Name="WINRS_SKIP_CMD_SHELL"`, "False"},
	actSend:    {"Send", nsShell + "/Send", "", ""},
	actReceive: {"Receive", nsShell + "/Receive", `Name="WSMAN_CMDSHELL_OPTION_KEEPALIVE"`, "True"},
	actSignal:  {"Signal", nsShell + "/Signal", "", ""},
	actDelete:  {"Delete", nsTransfer + "/Delete", "", ""},
}

func (a action) String() string { return actions[a].name }

// Signals (MS-WSMV 2.2.4.38). PowerShell's own spelling of the first is kept.
const (
	signalStop      = "powershell/signal/crtl_c"
	signalTerminate = nsShell + "/signal/Terminate"
)

// selector names a shell (DSP0226 5.1.2.2).
type selector struct{ name, value string }

// request is one operation on a shell.
type request struct {
	action    action
	selectors []selector // all but Create
	shell     string     // Create: the identifier that is wanted
	idle      time.Duration
	command   string // identifier; "" is the shell itself
	stream    string // Send
	signal    string
	data      []byte // Create, Command, Send
}

// client is what all requests of a connection have alike.
type client struct {
	to, resource, session, locale string
	envelope                      int // MaxEnvelopeSize
	timeout                       time.Duration
}

// appendEnvelope appends the request as an envelope with the identifier id.
func (c *client) appendEnvelope(dst []byte, r *request, id string) []byte {
	a := actions[r.action]
	dst = append(dst, `<s:Envelope xmlns:s="`+nsSOAP+`" xmlns:wsa="`+nsAddressing+`" xmlns:wsman="`+nsWSMan+`" xmlns:wsmv="`+nsWSMV+`" xmlns:rsp="`+nsShell+`"><s:Header>`...)
	dst = append(dst, `<wsa:Action s:mustUnderstand="true">`+a.uri+`</wsa:Action>`...)
	locale := escape(c.locale)
	dst = append(dst, `<wsmv:DataLocale s:mustUnderstand="false" xml:lang="`+locale+`"/><wsman:Locale s:mustUnderstand="false" xml:lang="`+locale+`"/>`...)
	dst = append(dst, `<wsman:MaxEnvelopeSize s:mustUnderstand="true">`...)
	dst = strconv.AppendInt(dst, int64(c.envelope), 10)
	dst = append(dst, `</wsman:MaxEnvelopeSize><wsa:MessageID>`+id+`</wsa:MessageID><wsman:OperationTimeout>`+duration(c.timeout)+`</wsman:OperationTimeout>`...)
	dst = append(dst, `<wsa:ReplyTo><wsa:Address s:mustUnderstand="true">`+nsAddressing+`/role/anonymous</wsa:Address></wsa:ReplyTo>`...)
	dst = append(dst, `<wsman:ResourceURI s:mustUnderstand="true">`+escape(c.resource)+`</wsman:ResourceURI>`...)
	dst = append(dst, `<wsmv:SessionId s:mustUnderstand="false">`+c.session+`</wsmv:SessionId><wsa:To>`+escape(c.to)+`</wsa:To>`...)
	if a.option != "" {
		dst = append(dst, `<wsman:OptionSet s:mustUnderstand="true"><wsman:Option `+a.option+`>`+a.value+`</wsman:Option></wsman:OptionSet>`...)
	}
	if len(r.selectors) > 0 {
		dst = append(dst, `<wsman:SelectorSet>`...)
		for _, s := range r.selectors {
			dst = append(dst, `<wsman:Selector Name="`+escape(s.name)+`">`+escape(s.value)+`</wsman:Selector>`...)
		}
		dst = append(dst, `</wsman:SelectorSet>`...)
	}
	dst = append(dst, `</s:Header><s:Body>`...)
	dst = r.appendBody(dst)
	return append(dst, `</s:Body></s:Envelope>`...)
}

func (r *request) appendBody(dst []byte) []byte {
	command := ""
	if r.command != "" {
		command = ` CommandId="` + escape(r.command) + `"`
	}
	switch r.action {
	case actCreate:
		dst = append(dst, `<rsp:Shell ShellId="`+r.shell+`"><rsp:InputStreams>stdin pr</rsp:InputStreams><rsp:OutputStreams>stdout</rsp:OutputStreams>`...)
		if r.idle > 0 {
			dst = append(dst, `<rsp:IdleTimeOut>`+duration(r.idle)+`</rsp:IdleTimeOut>`...)
		}
		dst = append(dst, `<creationXml xmlns="`+nsPowerShell+`">`...)
		dst = base64.StdEncoding.AppendEncode(dst, r.data)
		dst = append(dst, `</creationXml></rsp:Shell>`...)
	case actCommand:
		dst = append(dst, `<rsp:CommandLine`+command+`><rsp:Command/><rsp:Arguments>`...)
		dst = base64.StdEncoding.AppendEncode(dst, r.data)
		dst = append(dst, `</rsp:Arguments></rsp:CommandLine>`...)
	case actSend:
		dst = append(dst, `<rsp:Send><rsp:Stream Name="`+r.stream+`"`+command+`>`...)
		dst = base64.StdEncoding.AppendEncode(dst, r.data)
		dst = append(dst, `</rsp:Stream></rsp:Send>`...)
	case actReceive:
		dst = append(dst, `<rsp:Receive><rsp:DesiredStream`+command+`>stdout</rsp:DesiredStream></rsp:Receive>`...)
	case actSignal:
		dst = append(dst, `<rsp:Signal`+command+`><rsp:Code>`+r.signal+`</rsp:Code></rsp:Signal>`...)
	case actDelete:
	}
	return dst
}

// reserve is left free in each envelope, for what the server counts otherwise than we do.
const reserve = 256

// maxPayload is how many bytes of fragments fit into an envelope of any kind, as base64.
func (c *client) maxPayload() int {
	const id = "00000000-0000-0000-0000-000000000000"
	longest := 0
	for _, a := range []action{actCreate, actCommand, actSend} {
		r := request{action: a, shell: id, command: id, stream: "stdin", idle: 100 * 24 * time.Hour, selectors: []selector{{"ShellId", id}}}
		longest = max(longest, len(c.appendEnvelope(nil, &r, "uuid:"+id)))
	}
	return (c.envelope - longest - reserve) / 4 * 3
}

// duration writes seconds as xs:duration.
func duration(d time.Duration) string {
	return fmt.Sprintf("PT%sS", strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a bytes.Buffer takes everything
	return b.String()
}
