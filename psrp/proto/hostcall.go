package proto

import (
	"fmt"

	"example.com/quire/psrp/clixml"
)

// HostMethod is a method of the client's host that a server calls (MS-PSRP 2.2.3.17).
type HostMethod int32

// The 56 methods.
const (
	HostGetName                          HostMethod = 1
	HostGetVersion                       HostMethod = 2
	HostGetInstanceID                    HostMethod = 3
	HostGetCurrentCulture                HostMethod = 4
	HostGetCurrentUICulture              HostMethod = 5
	HostSetShouldExit                    HostMethod = 6
	HostEnterNestedPrompt                HostMethod = 7
	HostExitNestedPrompt                 HostMethod = 8
	HostNotifyBeginApplication           HostMethod = 9
	HostNotifyEndApplication             HostMethod = 10
	HostReadLine                         HostMethod = 11
	HostReadLineAsSecureString           HostMethod = 12
	HostWrite1                           HostMethod = 13
	HostWrite2                           HostMethod = 14
	HostWriteLine1                       HostMethod = 15
	HostWriteLine2                       HostMethod = 16
	HostWriteLine3                       HostMethod = 17
	HostWriteErrorLine                   HostMethod = 18
	HostWriteDebugLine                   HostMethod = 19
	HostWriteProgress                    HostMethod = 20
	HostWriteVerboseLine                 HostMethod = 21
	HostWriteWarningLine                 HostMethod = 22
	HostPrompt                           HostMethod = 23
	HostPromptForCredential1             HostMethod = 24
	HostPromptForCredential2             HostMethod = 25
	HostPromptForChoice                  HostMethod = 26
	HostGetForegroundColor               HostMethod = 27
	HostSetForegroundColor               HostMethod = 28
	HostGetBackgroundColor               HostMethod = 29
	HostSetBackgroundColor               HostMethod = 30
	HostGetCursorPosition                HostMethod = 31
	HostSetCursorPosition                HostMethod = 32
	HostGetWindowPosition                HostMethod = 33
	HostSetWindowPosition                HostMethod = 34
	HostGetCursorSize                    HostMethod = 35
	HostSetCursorSize                    HostMethod = 36
	HostGetBufferSize                    HostMethod = 37
	HostSetBufferSize                    HostMethod = 38
	HostGetWindowSize                    HostMethod = 39
	HostSetWindowSize                    HostMethod = 40
	HostGetWindowTitle                   HostMethod = 41
	HostSetWindowTitle                   HostMethod = 42
	HostGetMaxWindowSize                 HostMethod = 43
	HostGetMaxPhysicalWindowSize         HostMethod = 44
	HostGetKeyAvailable                  HostMethod = 45
	HostReadKey                          HostMethod = 46
	HostFlushInputBuffer                 HostMethod = 47
	HostSetBufferContents1               HostMethod = 48
	HostSetBufferContents2               HostMethod = 49
	HostGetBufferContents                HostMethod = 50
	HostScrollBufferContents             HostMethod = 51
	HostPushRunspace                     HostMethod = 52
	HostPopRunspace                      HostMethod = 53
	HostGetIsRunspacePushed              HostMethod = 54
	HostGetRunspace                      HostMethod = 55
	HostPromptForChoiceMultipleSelection HostMethod = 56
)

var hostMethods = numbered("System.Management.Automation.Remoting.RemoteHostMethodId", 1,
	"GetName", "GetVersion", "GetInstanceId", "GetCurrentCulture", "GetCurrentUICulture",
	"SetShouldExit", "EnterNestedPrompt", "ExitNestedPrompt", "NotifyBeginApplication",
	"NotifyEndApplication", "ReadLine", "ReadLineAsSecureString", "Write1", "Write2", "WriteLine1",
	"WriteLine2", "WriteLine3", "WriteErrorLine", "WriteDebugLine", "WriteProgress",
	"WriteVerboseLine", "WriteWarningLine", "Prompt", "PromptForCredential1",
	"PromptForCredential2", "PromptForChoice", "GetForegroundColor", "SetForegroundColor",
	"GetBackgroundColor", "SetBackgroundColor", "GetCursorPosition", "SetCursorPosition",
	"GetWindowPosition", "SetWindowPosition", "GetCursorSize", "SetCursorSize", "GetBufferSize",
	"SetBufferSize", "GetWindowSize", "SetWindowSize", "GetWindowTitle", "SetWindowTitle",
	"GetMaxWindowSize", "GetMaxPhysicalWindowSize", "GetKeyAvailable", "ReadKey",
	"FlushInputBuffer", "SetBufferContents1", "SetBufferContents2", "GetBufferContents",
	"ScrollBufferContents", "PushRunspace", "PopRunspace", "GetIsRunspacePushed", "GetRunspace",
	"PromptForChoiceMultipleSelection")

// String returns the method's name on the wire.
func (m HostMethod) String() string { return hostMethods.name(int32(m)) }

// Known reports whether the method is one of the 56.
func (m HostMethod) Known() bool {
	return m >= HostGetName && m <= HostPromptForChoiceMultipleSelection
}

// Void reports whether the method returns nothing: it is called without waiting for an answer.
func (m HostMethod) Void() bool {
	switch m {
	case 6, 7, 8, 9, 10, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 28, 30, 32, 34, 36, 38, 40, 42, 47, 48, 49, 51, 52, 53:
		return true
	}
	return false
}

// VoidCall is the CallID of a call that gets no answer.
const VoidCall int64 = -100

// HostCall is RUNSPACEPOOL_HOST_CALL or PIPELINE_HOST_CALL.
type HostCall struct {
	Pool   bool // of the pool, not of a pipeline
	CallID int64
	Method HostMethod
	Params []clixml.Value
	Raw    clixml.Value
}

// Type returns the message's type.
func (c *HostCall) Type() MessageType {
	if c.Pool {
		return MessageRunspacePoolHostCall
	}
	return MessagePipelineHostCall
}

func (c *HostCall) body(clixml.Version) clixml.Value {
	return object(
		prop("ci", clixml.Int64(c.CallID)), prop("mi", hostMethods.value(int32(c.Method))),
		prop("mp", (&clixml.Object{TypeNames: clixml.ArrayListTypes(), Base: (&clixml.List{Items: c.Params}).Value()}).Value()),
	)
}

// WantsAnswer reports whether the caller waits for a HostResponse.
func (c *HostCall) WantsAnswer() bool { return c.CallID != VoidCall }

func decodeHostCall(f *fields, pool bool) Message {
	return &HostCall{
		Pool: pool, CallID: f.int64("ci"), Method: HostMethod(f.enum("mi", hostMethods)), Params: f.list("mp"), Raw: f.v,
	}
}

// HostResponse is RUNSPACEPOOL_HOST_RESPONSE or PIPELINE_HOST_RESPONSE.
type HostResponse struct {
	Pool   bool
	CallID int64
	Method HostMethod
	Result clixml.Value // absent when the method returned null or failed
	Error  *ErrorRecord
	Raw    clixml.Value
}

// Type returns the message's type.
func (r *HostResponse) Type() MessageType {
	if r.Pool {
		return MessageRunspacePoolHostResponse
	}
	return MessagePipelineHostResponse
}

func (r *HostResponse) body(clixml.Version) clixml.Value {
	p := make([]clixml.Property, 0, 4)
	switch {
	case r.Error != nil:
		p = append(p, prop("me", r.Error.value()))
	case !r.Result.IsNil():
		p = append(p, prop("mr", r.Result))
	}
	return object(append(p, prop("ci", clixml.Int64(r.CallID)), prop("mi", hostMethods.value(int32(r.Method))))...)
}

func decodeHostResponse(f *fields, pool bool) Message {
	r := &HostResponse{Pool: pool, CallID: f.int64("ci"), Method: HostMethod(f.enum("mi", hostMethods)), Result: f.opt("mr"), Raw: f.v}
	if me := f.opt("me"); !me.IsNil() {
		r.Error = errorRecordOf(f, me)
	}
	return r
}

// Answer returns the response to c with this result.
func (c *HostCall) Answer(result clixml.Value) *HostResponse {
	return &HostResponse{Pool: c.Pool, CallID: c.CallID, Method: c.Method, Result: result}
}

// Refuse returns the response to c with an error.
func (c *HostCall) Refuse(e *ErrorRecord) *HostResponse {
	return &HostResponse{Pool: c.Pool, CallID: c.CallID, Method: c.Method, Error: e}
}

// NotImplementedRecord is the error of a method that a host does not have.
func NotImplementedRecord(m HostMethod) *ErrorRecord {
	message := fmt.Sprintf("The host does not implement the method %v.", m)
	return &ErrorRecord{
		Message: message, Exception: ExceptionValue("System.NotImplementedException", message),
		FullyQualifiedErrorID: "HostMethodNotImplemented", Category: NotImplemented, Reason: "NotImplementedException",
	}
}
