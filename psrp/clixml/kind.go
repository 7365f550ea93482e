package clixml

// Kind tells what a [Value] holds. The zero Kind is that of an absent value.
type Kind uint8

// The kinds of value, with their CLIXML element.
const (
	KindNone         Kind = iota // absent: a property that is not there
	KindNil                      // Nil
	KindString                   // S
	KindChar                     // C: one UTF-16 code unit
	KindBool                     // B
	KindDateTime                 // DT
	KindTimeSpan                 // TS
	KindUint8                    // By
	KindInt8                     // SB
	KindInt16                    // I16
	KindUint16                   // U16
	KindInt32                    // I32
	KindUint32                   // U32
	KindInt64                    // I64
	KindUint64                   // U64
	KindFloat32                  // Sg
	KindFloat64                  // Db
	KindDecimal                  // D
	KindBytes                    // BA
	KindGUID                     // G
	KindURI                      // URI
	KindVersion                  // Version
	KindXML                      // XD
	KindScriptBlock              // SBK
	KindSecureString             // SS
	KindProgress                 // PR
	KindObject                   // Obj
	KindList                     // LST, IE, QUE, STK
	KindDict                     // DCT
	KindMemberSet                // MS with a name, inside MS
	kindCount
)

// kinds is the one table of names: the Go name and the element.
var kinds = [kindCount]struct{ name, tag string }{
	KindNone:         {"None", ""},
	KindNil:          {"Nil", "Nil"},
	KindString:       {"String", "S"},
	KindChar:         {"Char", "C"},
	KindBool:         {"Bool", "B"},
	KindDateTime:     {"DateTime", "DT"},
	KindTimeSpan:     {"TimeSpan", "TS"},
	KindUint8:        {"Uint8", "By"},
	KindInt8:         {"Int8", "SB"},
	KindInt16:        {"Int16", "I16"},
	KindUint16:       {"Uint16", "U16"},
	KindInt32:        {"Int32", "I32"},
	KindUint32:       {"Uint32", "U32"},
	KindInt64:        {"Int64", "I64"},
	KindUint64:       {"Uint64", "U64"},
	KindFloat32:      {"Float32", "Sg"},
	KindFloat64:      {"Float64", "Db"},
	KindDecimal:      {"Decimal", "D"},
	KindBytes:        {"Bytes", "BA"},
	KindGUID:         {"GUID", "G"},
	KindURI:          {"URI", "URI"},
	KindVersion:      {"Version", "Version"},
	KindXML:          {"XML", "XD"},
	KindScriptBlock:  {"ScriptBlock", "SBK"},
	KindSecureString: {"SecureString", "SS"},
	KindProgress:     {"Progress", "PR"},
	KindObject:       {"Object", "Obj"},
	KindList:         {"List", "LST"},
	KindDict:         {"Dict", "DCT"},
	KindMemberSet:    {"MemberSet", "MS"},
}

// String returns the kind's Go name.
func (k Kind) String() string {
	if k < kindCount {
		return kinds[k].name
	}
	return "Kind(?)"
}

// Tag returns the CLIXML element of the kind, "LST" for every list.
func (k Kind) Tag() string {
	if k < kindCount {
		return kinds[k].tag
	}
	return ""
}

// tagKind finds the kind of a primitive's element; false for containers and what is unknown.
// A switch on the length first makes it a handful of comparisons.
func tagKind(tag string) (Kind, bool) {
	switch len(tag) {
	case 1:
		switch tag[0] {
		case 'S':
			return KindString, true
		case 'C':
			return KindChar, true
		case 'B':
			return KindBool, true
		case 'D':
			return KindDecimal, true
		case 'G':
			return KindGUID, true
		}
	case 2:
		switch tag {
		case "DT":
			return KindDateTime, true
		case "TS":
			return KindTimeSpan, true
		case "By":
			return KindUint8, true
		case "SB":
			return KindInt8, true
		case "Sg":
			return KindFloat32, true
		case "Db":
			return KindFloat64, true
		case "BA":
			return KindBytes, true
		case "XD":
			return KindXML, true
		case "SS":
			return KindSecureString, true
		}
	case 3:
		switch tag {
		case "I32":
			return KindInt32, true
		case "I64":
			return KindInt64, true
		case "Nil":
			return KindNil, true
		case "U32":
			return KindUint32, true
		case "U64":
			return KindUint64, true
		case "I16":
			return KindInt16, true
		case "U16":
			return KindUint16, true
		case "URI":
			return KindURI, true
		case "SBK":
			return KindScriptBlock, true
		}
	case 7:
		if tag == "Version" {
			return KindVersion, true
		}
	}
	return KindNone, false
}
