package proto

import (
	"strconv"
	"strings"

	"example.com/quire/psrp/clixml"
)

// enumTable is an enum of .NET: its type names and the names of its values. Each enum has one
// table, from which both the text and the object form are made.
type enumTable struct {
	types  []string
	flags  bool // values combine: "Alias, Function"
	values []enumValue
}

type enumValue struct {
	n    int32
	name string
}

func enum(flags bool, typeName string, values ...enumValue) *enumTable {
	return &enumTable{types: clixml.EnumTypes(typeName), flags: flags, values: values}
}

// sequence names the values 0, 1, 2, ...
func sequence(typeName string, names ...string) *enumTable { return numbered(typeName, 0, names...) }

// numbered names the values from first on.
func numbered(typeName string, first int32, names ...string) *enumTable {
	t := enum(false, typeName)
	for i, n := range names {
		t.values = append(t.values, enumValue{first + int32(i), n})
	}
	return t
}

func (t *enumTable) typeName() string { return t.types[0] }

// name is the text of n as .NET writes it: its name, the names of its flags from the least on, or
// the number.
func (t *enumTable) name(n int32) string {
	for _, v := range t.values {
		if v.n == n {
			return v.name
		}
	}
	if t.flags && n > 0 {
		var parts []string
		rest := n
		for _, v := range t.values {
			if v.n > 0 && v.n&(v.n-1) == 0 && rest&v.n != 0 {
				parts, rest = append(parts, v.name), rest&^v.n
			}
		}
		if rest == 0 {
			return strings.Join(parts, ", ")
		}
	}
	return strconv.Itoa(int(n))
}

func (t *enumTable) parse(s string) (int32, bool) {
	if n, err := strconv.ParseInt(s, 10, 32); err == nil {
		return int32(n), true
	}
	var sum int32
	for part := range strings.SplitSeq(s, ",") {
		found := false
		for _, v := range t.values {
			if strings.EqualFold(v.name, strings.TrimSpace(part)) {
				sum |= v.n
				found = true
				break
			}
		}
		if !found {
			return 0, false
		}
	}
	return sum, true
}

func (t *enumTable) value(n int32) clixml.Value {
	return (&clixml.Object{TypeNames: t.types, ToString: t.name(n), HasToString: true, Base: clixml.Int32(n)}).Value()
}

// PoolState is the state of a runspace pool (MS-PSRP 2.2.3.4). Only Opened, Closed, Closing and
// Broken are ever sent.
type PoolState int32

// The states of a pool. That 3 is Closed and 4 Closing is no mistake.
const (
	PoolBeforeOpen    PoolState = 0
	PoolOpening       PoolState = 1
	PoolOpened        PoolState = 2
	PoolClosed        PoolState = 3
	PoolClosing       PoolState = 4
	PoolBroken        PoolState = 5
	PoolDisconnecting PoolState = 6
	PoolDisconnected  PoolState = 7
	PoolConnecting    PoolState = 8
)

var poolStates = sequence("System.Management.Automation.Runspaces.RunspaceState", "BeforeOpen", "Opening", "Opened",
	"Closed", "Closing", "Broken", "Disconnecting", "Disconnected", "Connecting")

// String returns .NET's name.
func (s PoolState) String() string { return poolStates.name(int32(s)) }

// PipelineState is the state of a pipeline (MS-PSRP 2.2.3.5).
type PipelineState int32

// The states of a pipeline. Stopped, Completed and Failed are its ends.
const (
	PipelineNotStarted   PipelineState = 0
	PipelineRunning      PipelineState = 1
	PipelineStopping     PipelineState = 2
	PipelineStopped      PipelineState = 3
	PipelineCompleted    PipelineState = 4
	PipelineFailed       PipelineState = 5
	PipelineDisconnected PipelineState = 6
)

var pipelineStates = sequence("System.Management.Automation.PSInvocationState", "NotStarted", "Running", "Stopping",
	"Stopped", "Completed", "Failed", "Disconnected")

// String returns .NET's name.
func (s PipelineState) String() string { return pipelineStates.name(int32(s)) }

// Terminal reports whether nothing can follow the state.
func (s PipelineState) Terminal() bool {
	return s == PipelineStopped || s == PipelineCompleted || s == PipelineFailed
}

// ThreadOptions say how a pool uses threads.
type ThreadOptions int32

// The thread options.
const (
	ThreadDefault          ThreadOptions = 0
	ThreadUseNewThread     ThreadOptions = 1
	ThreadReuseThread      ThreadOptions = 2
	ThreadUseCurrentThread ThreadOptions = 3
)

var threadOptions = sequence("System.Management.Automation.Runspaces.PSThreadOptions", "Default", "UseNewThread", "ReuseThread", "UseCurrentThread")

// String returns .NET's name.
func (o ThreadOptions) String() string { return threadOptions.name(int32(o)) }

// ApartmentState is the COM apartment of a pool's threads. The zero value is sent as Unknown, which
// lets the server choose.
type ApartmentState int32

// The apartments. On the wire they are one less: STA 0, MTA 1, Unknown 2.
const (
	ApartmentDefault ApartmentState = iota // sent as Unknown
	ApartmentSTA
	ApartmentMTA
	ApartmentUnknown
)

var apartmentStates = sequence("System.Threading.ApartmentState", "STA", "MTA", "Unknown")

func (a ApartmentState) wire() int32 {
	if a == ApartmentDefault {
		return 2
	}
	return int32(a) - 1
}

// String returns .NET's name.
func (a ApartmentState) String() string { return apartmentStates.name(a.wire()) }

// RemoteStreamOptions ask for the invocation information of records.
type RemoteStreamOptions int32

// The options; they combine.
const (
	AddInvocationInfoToErrorRecord   RemoteStreamOptions = 1
	AddInvocationInfoToWarningRecord RemoteStreamOptions = 2
	AddInvocationInfoToDebugRecord   RemoteStreamOptions = 4
	AddInvocationInfoToVerboseRecord RemoteStreamOptions = 8
	AddInvocationInfo                RemoteStreamOptions = 15
)

var remoteStreamOptions = enum(true, "System.Management.Automation.RemoteStreamOptions",
	enumValue{1, "AddInvocationInfoToErrorRecord"}, enumValue{2, "AddInvocationInfoToWarningRecord"},
	enumValue{4, "AddInvocationInfoToDebugRecord"}, enumValue{8, "AddInvocationInfoToVerboseRecord"}, enumValue{15, "AddInvocationInfo"})

// String returns .NET's name.
func (o RemoteStreamOptions) String() string { return remoteStreamOptions.name(int32(o)) }

// ResultStream is where a command's stream goes, or which streams are meant (PipelineResultTypes).
type ResultStream int32

// The streams.
const (
	ResultNone        ResultStream = 0
	ResultOutput      ResultStream = 1
	ResultError       ResultStream = 2
	ResultWarning     ResultStream = 3
	ResultVerbose     ResultStream = 4
	ResultDebug       ResultStream = 5
	ResultInformation ResultStream = 6
	ResultAll         ResultStream = 7
	ResultNull        ResultStream = 8
)

var resultStreams = sequence("System.Management.Automation.Runspaces.PipelineResultTypes", "None", "Output", "Error",
	"Warning", "Verbose", "Debug", "Information", "All", "Null")

// String returns .NET's name.
func (r ResultStream) String() string { return resultStreams.name(int32(r)) }

// ErrorCategory is the category of an ErrorRecord.
type ErrorCategory int32

// The categories.
const (
	NotSpecified        ErrorCategory = 0
	OpenError           ErrorCategory = 1
	CloseError          ErrorCategory = 2
	DeviceError         ErrorCategory = 3
	DeadlockDetected    ErrorCategory = 4
	InvalidArgument     ErrorCategory = 5
	InvalidData         ErrorCategory = 6
	InvalidOperation    ErrorCategory = 7
	InvalidResult       ErrorCategory = 8
	InvalidType         ErrorCategory = 9
	MetadataError       ErrorCategory = 10
	NotImplemented      ErrorCategory = 11
	NotInstalled        ErrorCategory = 12
	ObjectNotFound      ErrorCategory = 13
	OperationStopped    ErrorCategory = 14
	OperationTimeout    ErrorCategory = 15
	SyntaxError         ErrorCategory = 16
	ParserError         ErrorCategory = 17
	PermissionDenied    ErrorCategory = 18
	ResourceBusy        ErrorCategory = 19
	ResourceExists      ErrorCategory = 20
	ResourceUnavailable ErrorCategory = 21
	ReadError           ErrorCategory = 22
	WriteError          ErrorCategory = 23
	FromStdErr          ErrorCategory = 24
	SecurityError       ErrorCategory = 25
	ProtocolError       ErrorCategory = 26
	ConnectionError     ErrorCategory = 27
	AuthenticationError ErrorCategory = 28
	LimitsExceeded      ErrorCategory = 29
	QuotaExceeded       ErrorCategory = 30
	NotEnabled          ErrorCategory = 31
)

var errorCategories = sequence("System.Management.Automation.ErrorCategory", "NotSpecified", "OpenError", "CloseError",
	"DeviceError", "DeadlockDetected", "InvalidArgument", "InvalidData", "InvalidOperation", "InvalidResult", "InvalidType",
	"MetadataError", "NotImplemented", "NotInstalled", "ObjectNotFound", "OperationStopped", "OperationTimeout", "SyntaxError",
	"ParserError", "PermissionDenied", "ResourceBusy", "ResourceExists", "ResourceUnavailable", "ReadError", "WriteError",
	"FromStdErr", "SecurityError", "ProtocolError", "ConnectionError", "AuthenticationError", "LimitsExceeded", "QuotaExceeded", "NotEnabled")

// String returns .NET's name.
func (c ErrorCategory) String() string { return errorCategories.name(int32(c)) }

// CommandTypes are kinds of command; they combine.
type CommandTypes int32

// The kinds of command.
const (
	CommandAlias          CommandTypes = 1
	CommandFunction       CommandTypes = 2
	CommandFilter         CommandTypes = 4
	CommandCmdlet         CommandTypes = 8
	CommandExternalScript CommandTypes = 16
	CommandApplication    CommandTypes = 32
	CommandScript         CommandTypes = 64
	CommandWorkflow       CommandTypes = 128
	CommandConfiguration  CommandTypes = 256
	CommandAll            CommandTypes = 383
)

var commandTypes = enum(true, "System.Management.Automation.CommandTypes",
	enumValue{1, "Alias"}, enumValue{2, "Function"}, enumValue{4, "Filter"}, enumValue{8, "Cmdlet"}, enumValue{16, "ExternalScript"},
	enumValue{32, "Application"}, enumValue{64, "Script"}, enumValue{128, "Workflow"}, enumValue{256, "Configuration"}, enumValue{383, "All"})

// String returns .NET's name.
func (c CommandTypes) String() string { return commandTypes.name(int32(c)) }

// ProgressType says whether a progress record ends its activity.
type ProgressType int32

// The two types of progress record.
const (
	ProgressProcessing ProgressType = 0
	ProgressCompleted  ProgressType = 1
)

var progressTypes = sequence("System.Management.Automation.ProgressRecordType", "Processing", "Completed")

// String returns .NET's name.
func (p ProgressType) String() string { return progressTypes.name(int32(p)) }

// ConsoleColor is a colour of a console; -1 is what a host without colours answers.
type ConsoleColor int32

// The colours.
const (
	ColorNone        ConsoleColor = -1
	ColorBlack       ConsoleColor = 0
	ColorDarkBlue    ConsoleColor = 1
	ColorDarkGreen   ConsoleColor = 2
	ColorDarkCyan    ConsoleColor = 3
	ColorDarkRed     ConsoleColor = 4
	ColorDarkMagenta ConsoleColor = 5
	ColorDarkYellow  ConsoleColor = 6
	ColorGray        ConsoleColor = 7
	ColorDarkGray    ConsoleColor = 8
	ColorBlue        ConsoleColor = 9
	ColorGreen       ConsoleColor = 10
	ColorCyan        ConsoleColor = 11
	ColorRed         ConsoleColor = 12
	ColorMagenta     ConsoleColor = 13
	ColorYellow      ConsoleColor = 14
	ColorWhite       ConsoleColor = 15
)

var consoleColors = sequence("System.ConsoleColor", "Black", "DarkBlue", "DarkGreen", "DarkCyan", "DarkRed", "DarkMagenta",
	"DarkYellow", "Gray", "DarkGray", "Blue", "Green", "Cyan", "Red", "Magenta", "Yellow", "White")

// String returns .NET's name, "-1" for ColorNone.
func (c ConsoleColor) String() string { return consoleColors.name(int32(c)) }
