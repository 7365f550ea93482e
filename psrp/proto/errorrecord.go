package proto

import (
	"cmp"

	"example.com/quire/psrp/clixml"
)

// ErrorRecord is an error of PowerShell: of the error stream, or why a pipeline or pool failed. It
// is a Go error.
type ErrorRecord struct { //nolint:errname // PowerShell's own name for it
	Message               string       // what ToString shows
	Exception             clixml.Value // the exception's object; made from Message when it is absent
	TargetObject          clixml.Value
	FullyQualifiedErrorID string
	InvocationInfo        clixml.Value // the object of where it happened, or null
	Category              ErrorCategory
	Activity              string
	Reason                string // mostly the exception's type name
	TargetName            string
	TargetType            string
	CategoryMessage       string // "Category: (target:type) [activity], reason"; made when it is empty
	DetailsMessage        string // replaces Message for people, when not empty
	RecommendedAction     string
	ScriptStackTrace      string
	// Raw is the record as it was received; properties that no field names are sent on with it.
	Raw clixml.Value
}

const errorRecordType = "System.Management.Automation.ErrorRecord"

// NewErrorRecord returns a record with what a script can test: id, category and message.
func NewErrorRecord(id string, c ErrorCategory, message string) *ErrorRecord {
	return &ErrorRecord{Message: message, FullyQualifiedErrorID: id, Category: c, Reason: "RemoteException"}
}

// Error returns the message, and the identifier in brackets.
func (e *ErrorRecord) Error() string {
	s := cmp.Or(e.DetailsMessage, e.Message)
	if e.FullyQualifiedErrorID != "" {
		s += " [" + e.FullyQualifiedErrorID + "]"
	}
	return s
}

// ExceptionType returns the most derived type name of the exception, "" when there is none.
func (e *ErrorRecord) ExceptionType() string {
	o, ok := e.Exception.Object()
	if !ok {
		return ""
	}
	return o.TypeName()
}

// Position returns where the error happened, in PowerShell's words; "" when it did not say.
func (e *ErrorRecord) Position() string {
	v, _ := e.InvocationInfo.Get("PositionMessage")
	s, _ := v.Base().Text()
	return s
}

// Type returns ERROR_RECORD.
func (*ErrorRecord) Type() MessageType { return MessageErrorRecord }

func (e *ErrorRecord) body(clixml.Version) clixml.Value { return e.value() }

// Value returns the object form, as host responses and state messages carry it.
func (e *ErrorRecord) Value() clixml.Value { return e.value() }

func (e *ErrorRecord) value() clixml.Value {
	exception := e.Exception
	if exception.Kind() == clixml.KindNone {
		exception = ExceptionValue("System.Management.Automation.RemoteException", e.Message)
	}
	category := e.CategoryMessage
	if category == "" {
		category = e.Category.String() + ": (" + e.TargetName + ":" + e.TargetType + ") [" + e.Activity + "], " + e.Reason
	}
	p := []clixml.Property{
		prop("Exception", exception), prop("TargetObject", orNil(e.TargetObject)),
		prop("FullyQualifiedErrorId", clixml.String(e.FullyQualifiedErrorID)), prop("InvocationInfo", orNil(e.InvocationInfo)),
		prop("ErrorCategory_Category", clixml.Int32(int32(e.Category))), prop("ErrorCategory_Activity", clixml.String(e.Activity)),
		prop("ErrorCategory_Reason", clixml.String(e.Reason)), prop("ErrorCategory_TargetName", clixml.String(e.TargetName)),
		prop("ErrorCategory_TargetType", clixml.String(e.TargetType)), prop("ErrorCategory_Message", clixml.String(category)),
	}
	if e.DetailsMessage != "" || e.RecommendedAction != "" {
		p = append(p, prop("ErrorDetails_Message", textOrNil(e.DetailsMessage)), prop("ErrorDetails_RecommendedAction", textOrNil(e.RecommendedAction)))
	}
	p = append(p, prop("SerializeExtendedInfo", received(e.Raw, "SerializeExtendedInfo", clixml.Bool(false))))
	if e.ScriptStackTrace != "" {
		p = append(p, prop("ErrorDetails_ScriptStackTrace", clixml.String(e.ScriptStackTrace)))
	}
	// A field that is empty because it was null stays null.
	if o, ok := e.Raw.Object(); ok {
		for i := range p {
			if s, isText := p[i].Value.Text(); !isText || s != "" {
				if p[i].Value.Kind() != clixml.KindNil {
					continue
				}
			}
			if v, ok := o.Extended.Get(p[i].Name); ok {
				if s, isText := v.Base().Text(); v.IsNil() || isText && s == "" {
					p[i].Value = v
				}
			}
		}
	}
	types := []string{errorRecordType, "System.Object"}
	if o, ok := e.Raw.Object(); ok && len(o.TypeNames) > 0 {
		types = o.TypeNames
	}
	return (&clixml.Object{TypeNames: types, ToString: e.Message, HasToString: true, Extended: extras(e.Raw, p...)}).Value()
}

// ExceptionValue makes the object form of an exception: a .NET type name and a message.
func ExceptionValue(typeName, message string) clixml.Value {
	return (&clixml.Object{
		TypeNames: []string{typeName, "System.Exception", "System.Object"}, ToString: typeName + ": " + message, HasToString: true,
		Adapted: clixml.Properties{prop("Message", clixml.String(message)), prop("InnerException", clixml.Nil()), prop("HResult", clixml.Int32(-2146233088))},
	}).Value()
}

// StoppedRecord is what a server sends with the state Stopped.
func StoppedRecord() *ErrorRecord {
	const message = "The pipeline has been stopped."
	return &ErrorRecord{
		Message: message, Exception: ExceptionValue("System.Management.Automation.PipelineStoppedException", message),
		FullyQualifiedErrorID: "PipelineStopped", Category: OperationStopped, Reason: "PipelineStoppedException",
	}
}

// ErrorRecordOf reads the object form of an ErrorRecord.
func ErrorRecordOf(v clixml.Value) (*ErrorRecord, error) {
	f := fields{v: v}
	e := errorRecordOf(&f, v)
	if f.err != nil {
		return nil, f.err
	}
	return e, nil
}

func errorRecordOf(parent *fields, v clixml.Value) *ErrorRecord {
	f := fields{v: v}
	e := &ErrorRecord{
		Exception: f.opt("Exception"), TargetObject: f.opt("TargetObject"), FullyQualifiedErrorID: f.optText("FullyQualifiedErrorId"),
		InvocationInfo: f.opt("InvocationInfo"), Category: ErrorCategory(f.enum("ErrorCategory_Category", errorCategories)),
		Activity: f.optText("ErrorCategory_Activity"), Reason: f.optText("ErrorCategory_Reason"),
		TargetName: f.optText("ErrorCategory_TargetName"), TargetType: f.optText("ErrorCategory_TargetType"),
		CategoryMessage: f.optText("ErrorCategory_Message"), DetailsMessage: f.optText("ErrorDetails_Message"),
		RecommendedAction: f.optText("ErrorDetails_RecommendedAction"), ScriptStackTrace: f.optText("ErrorDetails_ScriptStackTrace"),
		Raw: v,
	}
	if o, ok := v.Object(); ok {
		e.Message = o.ToString
	}
	if e.Exception.Kind() == clixml.KindNone {
		e.Exception = clixml.Nil()
	}
	if e.Message == "" {
		m, _ := e.Exception.Get("Message")
		e.Message, _ = m.Base().Text()
	}
	parent.take(&f)
	return e
}
