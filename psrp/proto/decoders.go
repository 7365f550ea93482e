package proto

// decoders returns how the body of a message is read, nil for a type that there is not.
func decoders(t MessageType) func(*fields) Message {
	switch t {
	case MessageSessionCapability:
		return decodeSessionCapability
	case MessageInitRunspacePool:
		return decodeInitRunspacePool
	case MessagePublicKey:
		return decodePublicKey
	case MessageEncryptedSessionKey:
		return decodeEncryptedSessionKey
	case MessagePublicKeyRequest:
		return func(*fields) Message { return &PublicKeyRequest{} }
	case MessageConnectRunspacePool:
		return decodeConnectRunspacePool
	case MessageSetMaxRunspaces:
		return func(f *fields) Message {
			return &SetMaxRunspaces{Max: f.int32("MaxRunspaces"), CallID: f.int64("ci")}
		}
	case MessageSetMinRunspaces:
		return func(f *fields) Message {
			return &SetMinRunspaces{Min: f.int32("MinRunspaces"), CallID: f.int64("ci")}
		}
	case MessageRunspaceAvailability:
		return decodeRunspaceAvailability
	case MessageRunspacePoolState:
		return decodeRunspacePoolState
	case MessageCreatePipeline:
		return decodeCreatePipeline
	case MessageGetAvailableRunspaces:
		return func(f *fields) Message { return &GetAvailableRunspaces{CallID: f.int64("ci")} }
	case MessageUserEvent:
		return decodeUserEvent
	case MessageApplicationPrivateData:
		return func(f *fields) Message { return &ApplicationPrivateData{Data: f.get("ApplicationPrivateData")} }
	case MessageGetCommandMetadata:
		return decodeGetCommandMetadata
	case MessageRunspacePoolInitData:
		return decodeRunspacePoolInitData
	case MessageResetRunspaceState:
		return func(f *fields) Message { return &ResetRunspaceState{CallID: f.int64("ci")} }
	case MessageRunspacePoolHostCall:
		return func(f *fields) Message { return decodeHostCall(f, true) }
	case MessagePipelineHostCall:
		return func(f *fields) Message { return decodeHostCall(f, false) }
	case MessageRunspacePoolHostResponse:
		return func(f *fields) Message { return decodeHostResponse(f, true) }
	case MessagePipelineHostResponse:
		return func(f *fields) Message { return decodeHostResponse(f, false) }
	case MessagePipelineInput:
		return func(f *fields) Message { return &PipelineInput{Value: f.v} }
	case MessageEndOfPipelineInput:
		return func(*fields) Message { return &EndOfPipelineInput{} }
	case MessagePipelineOutput:
		return func(f *fields) Message { return &PipelineOutput{Value: f.v} }
	case MessageErrorRecord:
		return func(f *fields) Message { return errorRecordOf(f, f.v) }
	case MessagePipelineState:
		return decodePipelineState
	case MessageDebugRecord:
		return func(f *fields) Message { return decodeInformational(f, RecordDebug) }
	case MessageVerboseRecord:
		return func(f *fields) Message { return decodeInformational(f, RecordVerbose) }
	case MessageWarningRecord:
		return func(f *fields) Message { return decodeInformational(f, RecordWarning) }
	case MessageProgressRecord:
		return decodeProgress
	case MessageInformationRecord:
		return decodeInformation
	}
	return nil
}
