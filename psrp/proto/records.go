package proto

import (
	"fmt"

	"example.com/quire/psrp/clixml"
)

// RecordKind is the stream of a record.
type RecordKind uint8

// The seven streams.
const (
	RecordOutput RecordKind = iota
	RecordError
	RecordWarning
	RecordVerbose
	RecordDebug
	RecordProgress
	RecordInformation
)

var recordNames = [...]string{"output", "error", "warning", "verbose", "debug", "progress", "information"}

// String returns the stream's name.
func (k RecordKind) String() string {
	if int(k) < len(recordNames) {
		return recordNames[k]
	}
	return "RecordKind(?)"
}

// Record is one object of one of the seven streams. The field that Kind names is set.
type Record struct {
	Kind        RecordKind
	Output      clixml.Value
	Error       *ErrorRecord
	Message     *InformationalRecord // of warning, verbose and debug
	Progress    *ProgressRecord
	Information *InformationRecord
}

// RecordOf returns the record that a message carries; false when it carries none.
func RecordOf(m Message) (Record, bool) {
	switch m := m.(type) {
	case *PipelineOutput:
		return Record{Kind: RecordOutput, Output: m.Value}, true
	case *ErrorRecord:
		return Record{Kind: RecordError, Error: m}, true
	case *InformationalRecord:
		return Record{Kind: m.Kind, Message: m}, true
	case *ProgressRecord:
		return Record{Kind: RecordProgress, Progress: m}, true
	case *InformationRecord:
		return Record{Kind: RecordInformation, Information: m}, true
	}
	return Record{}, false
}

// message returns the message that carries the record, nil when the record is not whole.
func (r Record) message() Message {
	switch {
	case r.Kind == RecordOutput:
		return &PipelineOutput{Value: r.Output}
	case r.Kind == RecordError && r.Error != nil:
		return r.Error
	case r.Kind <= RecordDebug && r.Message != nil:
		m := *r.Message
		m.Kind = r.Kind
		return &m
	case r.Kind == RecordProgress && r.Progress != nil:
		return r.Progress
	case r.Kind == RecordInformation && r.Information != nil:
		return r.Information
	}
	return nil
}

// AsMessage returns the message that carries the record.
func (r Record) AsMessage() (Message, error) {
	if m := r.message(); m != nil {
		return m, nil
	}
	return nil, &LocalProtocolError{Op: "Record", State: fmt.Sprintf("a record of stream %v without its content", r.Kind)}
}

// Value returns the object form of the record, as it is merged into output.
func (r Record) Value() (clixml.Value, error) {
	m, err := r.AsMessage()
	if err != nil {
		return clixml.Value{}, err
	}
	return m.body(clixml.Version{}), nil
}

// extras returns the properties of raw's that a struct does not know, to be sent with it again.
func extras(raw clixml.Value, known ...clixml.Property) []clixml.Property {
	o, ok := raw.Object()
	if !ok {
		return known
	}
	props := clixml.Properties(known)
	for _, p := range o.Extended {
		if _, has := props.Get(p.Name); !has {
			props = append(props, p)
		}
	}
	return props
}

// received is what raw, when there is one, says of a property that is not a field.
func received(raw clixml.Value, name string, otherwise clixml.Value) clixml.Value {
	if v, ok := raw.Get(name); ok {
		return v
	}
	return otherwise
}

// InformationalRecord is a warning, verbose or debug record.
type InformationalRecord struct {
	Kind    RecordKind // RecordWarning, RecordVerbose or RecordDebug
	Message string
	// Raw is the record as it was received, with the InvocationInfo_* properties that it has when
	// the pipeline asked for them. When it is sent, properties of Raw follow the message.
	Raw clixml.Value
}

// Type returns WARNING_RECORD, VERBOSE_RECORD or DEBUG_RECORD.
func (r *InformationalRecord) Type() MessageType {
	switch r.Kind {
	case RecordVerbose:
		return MessageVerboseRecord
	case RecordDebug:
		return MessageDebugRecord
	default:
		return MessageWarningRecord
	}
}

func (r *InformationalRecord) body(clixml.Version) clixml.Value {
	name := "WarningRecord"
	switch r.Kind {
	case RecordVerbose:
		name = "VerboseRecord"
	case RecordDebug:
		name = "DebugRecord"
	}
	const space = "System.Management.Automation."
	known := []clixml.Property{prop("InformationalRecord_Message", clixml.String(r.Message))}
	const info = "InformationalRecord_SerializeInvocationInfo"
	known = append(known, prop(info, received(r.Raw, info, clixml.Bool(false))))
	return (&clixml.Object{
		TypeNames: []string{space + name, space + "InformationalRecord", "System.Object"}, ToString: r.Message, HasToString: true,
		Extended: extras(r.Raw, known...),
	}).Value()
}

func decodeInformational(f *fields, k RecordKind) Message {
	return &InformationalRecord{Kind: k, Message: f.optText("InformationalRecord_Message"), Raw: f.v}
}

// ProgressRecord is a progress record.
type ProgressRecord struct {
	Activity          string
	ActivityID        int32
	StatusDescription string
	CurrentOperation  string // "" is sent as null
	ParentActivityID  int32  // -1 = none
	PercentComplete   int32  // -1 = unknown
	Completed         bool
	SecondsRemaining  int32 // -1 = unknown
	Raw               clixml.Value
}

// NewProgress returns a record of an activity of its own, of unknown extent.
func NewProgress(id int32, activity, status string) *ProgressRecord {
	return &ProgressRecord{
		Activity: activity, ActivityID: id, StatusDescription: status, ParentActivityID: -1, PercentComplete: -1, SecondsRemaining: -1,
	}
}

// Type returns PROGRESS_RECORD.
func (*ProgressRecord) Type() MessageType { return MessageProgressRecord }

func (r *ProgressRecord) body(clixml.Version) clixml.Value {
	kind := ProgressProcessing
	if r.Completed {
		kind = ProgressCompleted
	}
	op := textOrNil(r.CurrentOperation)
	if v, ok := r.Raw.Get("CurrentOperation"); ok && r.CurrentOperation == "" {
		op = v
	}
	return object(extras(r.Raw,
		prop("Activity", clixml.String(r.Activity)), prop("ActivityId", clixml.Int32(r.ActivityID)),
		prop("StatusDescription", clixml.String(r.StatusDescription)), prop("CurrentOperation", op),
		prop("ParentActivityId", clixml.Int32(r.ParentActivityID)), prop("PercentComplete", clixml.Int32(r.PercentComplete)),
		prop("Type", progressTypes.value(int32(kind))), prop("SecondsRemaining", clixml.Int32(r.SecondsRemaining)),
	)...)
}

func decodeProgress(f *fields) Message {
	return &ProgressRecord{
		Activity: f.text("Activity"), ActivityID: f.int32("ActivityId"), StatusDescription: f.optText("StatusDescription"),
		CurrentOperation: f.optText("CurrentOperation"), ParentActivityID: f.int32("ParentActivityId"),
		PercentComplete: f.int32("PercentComplete"), Completed: f.enum("Type", progressTypes) == int32(ProgressCompleted),
		SecondsRemaining: f.int32("SecondsRemaining"), Raw: f.v,
	}
}

// InformationRecord is a record of the information stream (protocol 2.3). What Write-Host shows
// arrives as one with the tag PSHOST and a HostInformationMessage.
type InformationRecord struct {
	MessageData     clixml.Value
	Source          string
	TimeGenerated   clixml.Value // a DateTime
	Tags            []string
	User            string
	Computer        string
	ProcessID       uint32
	NativeThreadID  uint32
	ManagedThreadID uint32
	Raw             clixml.Value
}

// Type returns INFORMATION_RECORD.
func (*InformationRecord) Type() MessageType { return MessageInformationRecord }

func (r *InformationRecord) body(clixml.Version) clixml.Value {
	tags := &clixml.List{}
	for _, t := range r.Tags {
		tags.Items = append(tags.Items, clixml.String(t))
	}
	types := clixml.ArrayListTypes()
	// The type of the tags' list is the sender's own: a record that is passed on keeps it.
	if v, ok := r.Raw.Get("Tags"); ok {
		if o, ok := v.Object(); ok {
			types = o.TypeNames
		}
	}
	return object(extras(r.Raw,
		prop("MessageData", orNil(r.MessageData)), prop("Source", clixml.String(r.Source)), prop("TimeGenerated", orNil(r.TimeGenerated)),
		prop("Tags", (&clixml.Object{TypeNames: types, Base: tags.Value()}).Value()), prop("User", clixml.String(r.User)),
		prop("Computer", clixml.String(r.Computer)), prop("ProcessId", clixml.Uint32(r.ProcessID)),
		prop("NativeThreadId", clixml.Uint32(r.NativeThreadID)), prop("ManagedThreadId", clixml.Uint32(r.ManagedThreadID)),
	)...)
}

func decodeInformation(f *fields) Message {
	return &InformationRecord{
		MessageData: f.get("MessageData"), Source: f.optText("Source"), TimeGenerated: f.get("TimeGenerated"), Tags: f.texts("Tags"),
		User: f.optText("User"), Computer: f.optText("Computer"), ProcessID: f.uint32("ProcessId"),
		NativeThreadID: f.uint32("NativeThreadId"), ManagedThreadID: f.uint32("ManagedThreadId"), Raw: f.v,
	}
}
