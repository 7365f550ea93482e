package proto_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// allMessages is one of each of the 31, with every field set.
func allMessages() []proto.Message {
	scope := true
	size := proto.Size{Width: 80, Height: 24}
	host := proto.HostInfo{Default: &proto.HostDefaultData{
		Foreground: 7, Background: -1, Cursor: proto.Coordinates{X: 1, Y: 2}, WindowPosition: proto.Coordinates{X: 3}, CursorSize: 25,
		Buffer: size, Window: size, MaxWindow: size, MaxPhysicalWindow: size, Title: "t",
	}}
	args := (&clixml.Object{TypeNames: clixml.PrimitiveDictionaryTypes(), Base: (&clixml.Dict{Entries: []clixml.Entry{{Key: clixml.String("k"), Value: clixml.Int32(1)}}}).Value()}).Value()
	failed := proto.NewErrorRecord("Id,Cmd", proto.InvalidData, "message")
	failed.TargetObject, failed.Activity, failed.TargetName, failed.TargetType, failed.DetailsMessage = clixml.Int32(42), "act", "tn", "tt", "details"
	failed.RecommendedAction, failed.ScriptStackTrace, failed.CategoryMessage = "do", "at <ScriptBlock>", "InvalidData: (tn:tt) [act], rs"
	failed.Exception, failed.InvocationInfo = proto.ExceptionValue("System.Exception", "message"), clixml.Value{}
	when := clixml.DateTime{Ticks: 5, Kind: clixml.DateUTC}.Value()
	return []proto.Message{
		&proto.SessionCapability{Protocol: clixml.NewVersion(2, 3), PSVersion: clixml.NewVersion(2, 0), Serialization: clixml.Version{1, 1, 0, 1}, TimeZone: []byte{1}},
		&proto.InitRunspacePool{MinRunspaces: 1, MaxRunspaces: 3, ThreadOptions: proto.ThreadReuseThread, ApartmentState: proto.ApartmentMTA, ApplicationArguments: args, Host: host},
		&proto.PublicKey{Blob: []byte{1, 2}}, &proto.EncryptedSessionKey{Blob: []byte{3}}, &proto.PublicKeyRequest{},
		&proto.ConnectRunspacePool{HasLimits: true, MinRunspaces: 1, MaxRunspaces: 2}, &proto.ConnectRunspacePool{},
		&proto.SetMaxRunspaces{Max: 2, CallID: 3}, &proto.SetMinRunspaces{Min: 2, CallID: 3}, &proto.RunspaceAvailability{CallID: 1, Accepted: true},
		&proto.RunspaceAvailability{CallID: 1, IsCount: true, Count: 3}, &proto.RunspacePoolState{State: proto.PoolBroken, Error: failed},
		&proto.CreatePipeline{Pipeline: proto.Pipeline{
			Statements: [][]proto.Command{
				{
					{
						Name: "Get-Item", LocalScope: &scope, Args: []proto.Arg{{Name: "Path", Value: clixml.String("x")}, {Value: clixml.Int32(1)}, {Name: "-Force", Value: clixml.Nil()}},
						Merge: proto.Merge{MyResult: proto.ResultError, ToResult: proto.ResultOutput, Error: proto.ResultOutput, Information: proto.ResultNull, Debug: proto.ResultNull},
					},
					{Name: "Out-Default", Merge: proto.Merge{PreviousResults: proto.ResultOutput | proto.ResultError}},
				},
				{{Name: "'b'", Script: true}},
			},
			Input: true, AddToHistory: true, Nested: true, History: "h", ApartmentState: proto.ApartmentSTA, RemoteStreams: proto.AddInvocationInfo, Host: &host,
		}},
		&proto.GetAvailableRunspaces{CallID: 9}, &proto.ResetRunspaceState{CallID: 9},
		&proto.UserEvent{EventIdentifier: 1, SourceIdentifier: "src", TimeGenerated: when, Sender: clixml.String("s"), SourceArgs: clixml.NewList(clixml.Int32(1)).Value(), MessageData: clixml.Int32(2), ComputerName: "c", RunspaceID: clixml.GUID{1}},
		&proto.ApplicationPrivateData{Data: args}, &proto.GetCommandMetadata{Names: []string{"Get-*"}, Types: proto.CommandAll, Modules: []string{"M"}, ArgumentList: []clixml.Value{clixml.Int32(1)}},
		&proto.RunspacePoolInitData{MinRunspaces: 1, MaxRunspaces: 4},
		&proto.HostCall{Pool: true, CallID: 1, Method: proto.HostReadLine}, &proto.HostCall{CallID: proto.VoidCall, Method: proto.HostWriteLine2, Params: []clixml.Value{clixml.String("x")}},
		&proto.HostResponse{Pool: true, CallID: 1, Method: proto.HostReadLine, Result: clixml.String("x")}, &proto.HostResponse{CallID: 2, Method: proto.HostReadKey, Error: failed},
		&proto.PipelineInput{Value: clixml.Int32(1)}, &proto.PipelineInput{Value: clixml.Nil()}, &proto.EndOfPipelineInput{}, &proto.PipelineOutput{Value: clixml.Nil()}, failed,
		&proto.PipelineStateMessage{State: proto.PipelineFailed, Error: failed}, &proto.PipelineStateMessage{State: proto.PipelineCompleted},
		&proto.InformationalRecord{Kind: proto.RecordDebug, Message: "d"}, &proto.InformationalRecord{Kind: proto.RecordVerbose, Message: "v"}, &proto.InformationalRecord{Kind: proto.RecordWarning, Message: "w"},
		&proto.ProgressRecord{Activity: "a", ActivityID: 1, StatusDescription: " ", CurrentOperation: "op", ParentActivityID: -1, PercentComplete: 50, Completed: true, SecondsRemaining: 3},
		&proto.InformationRecord{MessageData: clixml.String("m"), Source: "s", TimeGenerated: when, Tags: []string{"PSHOST"}, User: "u", Computer: "c", ProcessID: 1, NativeThreadID: 2, ManagedThreadID: 3},
	}
}

// forgetRaw drops the received form, for a comparison of what was understood.
func forgetRaw(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			forgetRaw(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "Raw" {
				v.Field(i).SetZero()
			} else if v.Field(i).CanSet() && v.Type().Field(i).IsExported() {
				forgetRaw(v.Field(i))
			}
		}
	}
}

func TestAll31MessagesAreTyped(t *testing.T) {
	seen := map[proto.MessageType]bool{}
	v := clixml.NewVersion(2, 4)
	for _, m := range allMessages() {
		seen[m.Type()] = true
		var e clixml.Encoder
		body, err := proto.AppendBody(nil, &e, m, v)
		if err != nil {
			t.Errorf("%v: %v", m.Type(), err)
			continue
		}
		got, err := proto.DecodeMessage(m.Type(), body, &clixml.Decoder{})
		if err != nil {
			t.Errorf("%v: %v\n%s", m.Type(), err, body)
			continue
		}
		again, err := proto.AppendBody(nil, &e, got, v)
		if err != nil || string(again) != string(body) {
			t.Errorf("%v is written\n%s, %v, want\n%s", m.Type(), again, err, body)
		}
		// What is not a clixml.Value must be equal as a Go value.
		forgetRaw(reflect.ValueOf(got))
		if want, text := reflect.ValueOf(m).Elem(), reflect.ValueOf(got).Elem(); want.Type() != text.Type() {
			t.Errorf("%v is read as %v", want.Type(), text.Type())
		} else {
			for i := range want.NumField() {
				f := want.Type().Field(i)
				if strings.Contains(f.Type.String(), "clixml.Value") || f.Type == reflect.TypeFor[*proto.ErrorRecord]() || f.Type == reflect.TypeFor[proto.Pipeline]() {
					continue
				}
				if !reflect.DeepEqual(want.Field(i).Interface(), text.Field(i).Interface()) {
					t.Errorf("%v.%s is read as %+v, want %+v", want.Type(), f.Name, text.Field(i), want.Field(i))
				}
			}
		}
	}
	if len(seen) != 31 {
		t.Errorf("%d types of message, want 31", len(seen))
	}
}

func TestPipelineIsReadAsItWasWritten(t *testing.T) {
	for _, m := range allMessages() {
		p, ok := m.(*proto.CreatePipeline)
		if !ok {
			continue
		}
		body, err := proto.AppendBody(nil, &clixml.Encoder{}, p, clixml.NewVersion(2, 4))
		if err != nil {
			t.Fatal(err)
		}
		got, err := proto.DecodeMessage(p.Type(), body, &clixml.Decoder{})
		if err != nil {
			t.Fatal(err)
		}
		a, b := p.Pipeline, got.(*proto.CreatePipeline).Pipeline
		for i := range a.Statements {
			for j := range a.Statements[i] {
				x, y := a.Statements[i][j], b.Statements[i][j]
				if x.Name != y.Name || x.Script != y.Script || x.Merge != y.Merge || (x.LocalScope == nil) != (y.LocalScope == nil) || len(x.Args) != len(y.Args) {
					t.Errorf("command %+v is read as %+v", x, y)
				}
				for k := range x.Args {
					if x.Args[k].Name != y.Args[k].Name || !clixml.Equal(x.Args[k].Value, y.Args[k].Value) {
						t.Errorf("argument %+v is read as %+v", x.Args[k], y.Args[k])
					}
				}
			}
		}
		a.Statements, b.Statements = nil, nil
		if !reflect.DeepEqual(a, b) {
			t.Errorf("pipeline %+v is read as %+v", a, b)
		}
	}
}

func TestMergesAreGatedByVersion(t *testing.T) {
	p := &proto.CreatePipeline{Pipeline: proto.Pipeline{Statements: [][]proto.Command{{{Name: "x"}}}}}
	for minor, want := range map[int32]int{1: 3, 2: 7, 3: 8, 4: 8} {
		body, err := proto.AppendBody(nil, &clixml.Encoder{}, p, clixml.NewVersion(2, minor))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(body), `N="Merge`); got != want {
			t.Errorf("protocol 2.%d has %d Merge fields, want %d", minor, got, want)
		}
	}
}

func TestReadersAreTolerantWherePowerShellIs(t *testing.T) {
	decode := func(mt proto.MessageType, body string) (proto.Message, error) {
		return proto.DecodeMessage(mt, []byte(body), &clixml.Decoder{})
	}
	for _, body := range []string{
		`<Obj RefId="0"><MS><I32 N="MaxRunspaces">5</I32><I64 N="ci">1</I64></MS></Obj>`, "\xEF\xBB\xBF" + `<Obj RefId="0"><MS><I64 N="CI">1</I64><I64 N="maxrunspaces">5</I64><S N="Other">x</S></MS></Obj>`,
	} {
		m, err := decode(proto.MessageSetMaxRunspaces, body)
		if got, ok := m.(*proto.SetMaxRunspaces); !ok || err != nil || got.Max != 5 || got.CallID != 1 {
			t.Errorf("%s is read as %+v, %v", body, m, err)
		}
	}
	for _, mi := range []string{`<I32 N="mi">11</I32>`, `<S N="mi">ReadLine</S>`, `<S N="mi">readline</S>`, `<By N="mi">11</By>`, `<Obj N="mi" RefId="1"><ToString>x</ToString><I32>11</I32></Obj>`} {
		m, err := decode(proto.MessagePipelineHostCall, `<Obj RefId="0"><MS><I64 N="ci">1</I64>`+mi+`<Obj N="mp" RefId="2"><LST /></Obj></MS></Obj>`)
		if got, ok := m.(*proto.HostCall); !ok || err != nil || got.Method != proto.HostReadLine {
			t.Errorf("%s is read as %+v, %v", mi, m, err)
		}
	}
	for _, mt := range []proto.MessageType{proto.MessagePipelineOutput, proto.MessagePipelineInput, proto.MessageEndOfPipelineInput} {
		for _, body := range []string{"", "\xEF\xBB\xBF"} {
			m, err := decode(mt, body)
			if r, ok := proto.RecordOf(m); err != nil || ok && !r.Output.IsNil() {
				t.Errorf("an empty %v is read as %+v, %v", mt, m, err)
			}
		}
	}
}

func TestMissingAndWrongFieldsAreNamed(t *testing.T) {
	for body, want := range map[string]string{
		`<Obj RefId="0"><MS><I64 N="ci">1</I64></MS></Obj>`:                                       "psrp: decode SET_MAX_RUNSPACES: field MaxRunspaces: missing",
		`<Obj RefId="0"><MS><Nil N="MaxRunspaces" /><I64 N="ci">1</I64></MS></Obj>`:               "psrp: decode SET_MAX_RUNSPACES: field MaxRunspaces: Nil, not a number",
		`<Obj RefId="0"><MS><I64 N="MaxRunspaces">5000000000</I64><I64 N="ci">1</I64></MS></Obj>`: "psrp: decode SET_MAX_RUNSPACES: field MaxRunspaces: 5000000000 is not a 32-bit number",
		`<S></S>`:                              "psrp: decode SET_MAX_RUNSPACES: field MaxRunspaces: missing",
		`<Obj><MS><Foo /></MS></Obj>`:          `psrp: decode SET_MAX_RUNSPACES at byte 16: a property without N`,
		`<Obj><MS><S N="">x</S></MS></Obj>`:    `psrp: decode SET_MAX_RUNSPACES at byte 17: a property with an empty name`,
		`<Obj><Props><S N="" /></Props></Obj>`: `psrp: decode SET_MAX_RUNSPACES at byte 22: a property with an empty name`,
		`<Foo />`:                              `psrp: decode SET_MAX_RUNSPACES at byte 7: unknown tag "Foo" where a value is expected`,
	} {
		_, err := proto.DecodeMessage(proto.MessageSetMaxRunspaces, []byte(body), &clixml.Decoder{})
		if _, ok := errors.AsType[*proto.RemoteProtocolError](err); !ok || err.Error() != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
	for mt, body := range map[proto.MessageType]string{
		proto.MessageRunspacePoolState: `<Obj RefId="0"><MS><I32 N="RunspaceState">9</I32></MS></Obj>`,
		proto.MessagePipelineState:     `<Obj RefId="0"><MS><I32 N="PipelineState">7</I32></MS></Obj>`,
	} {
		if m, err := proto.DecodeMessage(mt, []byte(body), &clixml.Decoder{}); err == nil || !strings.Contains(err.Error(), "unknown state") {
			t.Errorf("%v: %+v, %v", mt, m, err)
		}
	}
	for _, body := range []string{`<Obj RefId="0"><MS><S N="PipelineState">done</S></MS></Obj>`, `<I32>4</I32>`, ``, `<Obj RefId="0"><MS><Obj N="PipelineState" RefId="1"><ToString>Completed</ToString></Obj></MS></Obj>`} {
		if m, err := proto.DecodeMessage(proto.MessagePipelineState, []byte(body), &clixml.Decoder{}); err == nil {
			t.Errorf("%q is the state %+v", body, m)
		}
	}
}

func TestStateNumbersAreThoseOfTheWire(t *testing.T) {
	if proto.PoolClosed != 3 || proto.PoolClosing != 4 || proto.PoolOpened != 2 || proto.PoolBroken != 5 || proto.PipelineStopped != 3 || proto.PipelineCompleted != 4 || proto.PipelineFailed != 5 {
		t.Error("a state has another number than on the wire")
	}
	for s, want := range map[interface{ String() string }]string{
		proto.PoolClosing: "Closing", proto.PipelineStopped: "Stopped", proto.RemoteStreamOptions(0): "0", proto.AddInvocationInfo: "AddInvocationInfo", proto.RemoteStreamOptions(3): "AddInvocationInfoToErrorRecord, AddInvocationInfoToWarningRecord",
		proto.CommandTypes(15): "Alias, Function, Filter, Cmdlet", proto.ColorNone: "-1", proto.ColorWhite: "White", proto.ResultStream(3): "Warning", proto.HostPopRunspace: "PopRunspace", proto.ApartmentDefault: "Unknown",
	} {
		if s.String() != want {
			t.Errorf("%#v is %q, want %q", s, s.String(), want)
		}
	}
}

func TestErrorRecordIsAGoError(t *testing.T) {
	e := proto.NewErrorRecord("Id", proto.ObjectNotFound, "not there")
	if e.Error() != "not there [Id]" {
		t.Errorf("%q", e.Error())
	}
	got, err := proto.ErrorRecordOf(e.Value())
	if err != nil || got.Category != proto.ObjectNotFound || got.ExceptionType() != "System.Management.Automation.RemoteException" || got.CategoryMessage != "ObjectNotFound: (:) [], RemoteException" {
		t.Errorf("%+v, %v", got, err)
	}
	var none *proto.ErrorRecord
	if !errors.As(error(e), &none) || none != e {
		t.Error("errors.As does not find it")
	}
}

func FuzzMessage(f *testing.F) {
	for _, m := range allMessages() {
		body, err := proto.AppendBody(nil, &clixml.Encoder{}, m, clixml.NewVersion(2, 4))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint32(m.Type()), body)
	}
	f.Fuzz(func(t *testing.T, mt uint32, body []byte) {
		d := clixml.Decoder{Limits: clixml.Limits{Nodes: 10_000, Decoded: 1 << 20}}
		m, err := proto.DecodeMessage(proto.MessageType(mt), body, &d)
		if err != nil {
			if _, ok := errors.AsType[*proto.RemoteProtocolError](err); !ok {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		e := clixml.Encoder{Depth: 60}
		if _, err := proto.AppendBody(nil, &e, m, clixml.NewVersion(2, 4)); err != nil && !errors.Is(err, clixml.ErrNoCipher) && !errors.Is(err, clixml.ErrTooDeep) {
			t.Errorf("%v of %q is not written: %v", m.Type(), body, err)
		}
	})
}
