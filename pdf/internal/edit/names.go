package edit

import (
	"regexp"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/standard"
)

// definedNames are names that ISO 32000-2 defines as values of keys that every tagged file has.
// They say nothing of the text, which may have the same words.
var definedNames = map[cos.Name][]cos.Name{
	"": { // of any key: in arrays such as colour spaces, destinations and lists of procedures
		"DeviceGray", "DeviceRGB", "DeviceCMYK", "CalGray", "CalRGB", "ICCBased", "Indexed", "Separation", "DeviceN", "Pattern",
		"Text", "ImageB", "ImageC", "ImageI", "FitH", "FitV", "FitR", "FitB", "FitBH", "FitBV",
	},
	"Type": {
		"Catalog", "Pages", "Page", "Font", "FontDescriptor", "Encoding", "CMap", "XObject", "ExtGState", "Pattern", "Metadata", "Outlines",
		"StructTreeRoot", "StructElem", "Namespace", "OBJR", "Annot", "Action", "Filespec", "EmbeddedFile", "OutputIntent", "ObjStm", "XRef", "Border", "Mask", "Group",
	},
	"Subtype": {
		"Type0", "Type1", "Type3", "TrueType", "CIDFontType0", "CIDFontType2", "OpenType", "Type1C", "CIDFontType0C", "Image", "Form", "Link", "Widget",
		"Popup", "Text", "FreeText", "Line", "Square", "Circle", "Polygon", "Highlight", "Underline", "Stamp", "FileAttachment",
	},
	"S": {
		"Document", "DocumentFragment", "Part", "Sect", "Aside", "BlockQuote", "Caption", "TOCI", "Index", "NonStruct", "Private", "Title", "LBody", "Table", "THead",
		"TBody", "TFoot", "Span", "Quote", "Note", "FENote", "Reference", "BibEntry", "Code", "Link", "Annot", "Ruby", "Warichu", "Figure", "Formula", "Form",
		"Strong", "Artifact", "GoTo", "Transparency", "GTS_PDFA1",
	},
	"O":             {"Layout", "List", "Table", "PrintField", "Artifact", "FENote"},
	"Scope":         {"Column", "Both"},
	"ListNumbering": {"None", "Unordered", "Description", "Disc", "Circle", "Square", "Ordered", "Decimal", "UpperRoman", "LowerRoman", "UpperAlpha", "LowerAlpha"},
	"Placement":     {"Block", "Inline", "Before", "Start"},
	"Encoding":      {"Identity-H", "Identity-V", "WinAnsiEncoding", "MacRomanEncoding", "MacExpertEncoding", "StandardEncoding"},
	"CIDToGIDMap":   {"Identity"},
	"Filter":        {"FlateDecode", "LZWDecode", "DCTDecode", "JPXDecode", "CCITTFaxDecode", "JBIG2Decode", "RunLengthDecode", "ASCII85Decode", "ASCIIHexDecode"},
	"ColorSpace":    {"DeviceGray", "DeviceRGB", "DeviceCMYK", "ICCBased", "Indexed", "Separation", "DeviceN", "Pattern", "CalGray", "CalRGB"},
}

// definedStrings are strings that ISO 32000-2 defines as values of keys: the character collections
// of fonts (9.7.3) and the namespaces of structure elements (14.8.6).
var definedStrings = map[cos.Name][]string{
	"NS":       {"http://iso.org/pdf/ssn", "http://iso.org/pdf2/ssn", "http://www.w3.org/1998/Math/MathML"},
	"Registry": {"Adobe"},
	"Ordering": {"Identity", "UCS", "Japan1", "Japan2", "GB1", "CNS1", "Korea1", "KR"},
}

// appearanceNumbers are the operators of a default appearance (12.7.4.3) without its font.
var appearanceNumbers = regexp.MustCompile(`^[\d\s.+-]*(?:(?:Tf|g|rg|k)\b[\d\s.+-]*)*$`)

// lookup stands for a key of strings that are the table of an indexed colour space (8.6.6.3).
const lookup cos.Name = "Lookup"

// keyIn returns the key of the i-th element of an array that is a value of a key.
func keyIn(a cos.Array, i int, key cos.Name) cos.Name {
	if i == 3 && len(a) == 4 && (a[0] == cos.Object(cos.Name("Indexed")) || a[0] == cos.Object(cos.Name("I"))) {
		return lookup
	}
	return key
}

// defined reports whether a string is no text: what the standard defines for a key, the tag of a
// language, colours, the names of an embedded font's glyphs, or the operators of a default
// appearance.
func (r *Redaction) defined(s string, key cos.Name) bool {
	switch key {
	case lookup:
		return true
	case "Lang":
		return standard.IsLanguageTag(s)
	case "CharSet":
		return strings.HasPrefix(s, "/")
	case "DA":
		before, behind, _ := strings.Cut(s, "/")
		font, behind, _ := strings.Cut(behind, " ")
		return !r.named(cos.Name(font), key) && appearanceNumbers.MatchString(before) && appearanceNumbers.MatchString(behind)
	}
	return slices.Contains(definedStrings[key], s)
}

// definedKeys are keys of four characters and more that ISO 32000-2 and what it builds on define.
// Others are names that the maker of the file gave.
var definedKeys = map[cos.Name]bool{
	"AFRelationship": true, "AcroForm": true, "Action": true, "ActualText": true, "Alpha": true, "Alternate": true, "AlternatePresentations": true,
	"Alternates": true, "Annots": true, "AntiAlias": true, "ArtBox": true, "Ascent": true, "Associated": true, "AuthEvent": true, "Author": true,
	"AvgWidth": true, "BBox": true, "Background": true, "BaseEncoding": true, "BaseFont": true, "BaseState": true, "BaselineShift": true,
	"BitsPerComponent": true, "BitsPerSample": true, "BlackIs1": true, "BlackPoint": true, "BleedBox": true, "BlockAlign": true, "Border": true,
	"BorderColor": true, "BorderStyle": true, "BorderThickness": true, "Bounds": true, "BoxColorInfo": true, "ByteRange": true, "CIDSet": true,
	"CIDSystemInfo": true, "CIDToGIDMap": true, "CMapName": true, "CapHeight": true, "Catalog": true, "Category": true, "CenterWindow": true,
	"Cert": true, "Changes": true, "CharProcs": true, "CharSet": true, "CheckSum": true, "ClassMap": true, "ColSpan": true, "Collection": true,
	"Color": true, "ColorSpace": true, "ColorTransform": true, "Colorants": true, "Colors": true, "ColumnCount": true, "ColumnGap": true,
	"ColumnWidths": true, "Columns": true, "Components": true, "Configs": true, "ContactInfo": true, "Contents": true, "ContinuedFrom": true,
	"ContinuedList": true, "Coords": true, "Count": true, "CreationDate": true, "Creator": true, "CreatorInfo": true, "CropBox": true,
	"DamagedRowsBeforeError": true, "Data": true, "Decode": true, "DecodeParms": true, "Desc": true, "DescendantFonts": true, "Descent": true,
	"Dest": true, "DestOutputProfile": true, "DestOutputProfileRef": true, "Dests": true, "Differences": true, "DigestMethod": true, "Direction": true,
	"DisplayDocTitle": true, "Domain": true, "Duplex": true, "EarlyChange": true, "EmbeddedFile": true, "EmbeddedFiles": true, "Encode": true,
	"EncodedByteAlign": true, "Encoding": true, "Encrypt": true, "EncryptMetadata": true, "EndIndent": true, "EndOfBlock": true, "EndOfLine": true,
	"Enforce": true, "Event": true, "Export": true, "ExtGState": true, "Extend": true, "Extends": true, "Extensions": true, "FDecodeParms": true,
	"FFilter": true, "Fields": true, "Filespec": true, "Filter": true, "First": true, "FirstChar": true, "FitWindow": true, "Flags": true, "Font": true,
	"FontBBox": true, "FontDescriptor": true, "FontFamily": true, "FontFile": true, "FontFile2": true, "FontFile3": true, "FontMatrix": true,
	"FontName": true, "FontStretch": true, "FontWeight": true, "FormType": true, "Function": true, "FunctionType": true, "Functions": true,
	"Gamma": true, "Group": true, "Headers": true, "Height": true, "HideMenubar": true, "HideToolbar": true, "HideWindowUI": true, "IDTree": true,
	"ImageMask": true, "Index": true, "Info": true, "InlineAlign": true, "Intent": true, "Interpolate": true, "ItalicAngle": true, "JBIG2Globals": true,
	"JavaScript": true, "Keywords": true, "Kids": true, "Lang": true, "Language": true, "LastChar": true, "LastModified": true, "Leading": true,
	"Legal": true, "Length": true, "Length1": true, "Length2": true, "Length3": true, "Limits": true, "LineHeight": true, "ListMode": true,
	"ListNumbering": true, "Location": true, "Locked": true, "Lookup": true, "MarkInfo": true, "Marked": true, "Mask": true, "Matrix": true,
	"Matte": true, "MaxLen": true, "MaxWidth": true, "MediaBox": true, "Metadata": true, "MissingWidth": true, "MixingHints": true, "ModDate": true,
	"Name": true, "Names": true, "Namespaces": true, "NeedAppearances": true, "NeedsRendering": true, "Next": true, "NonFullScreenPageMode": true,
	"NoteType": true, "NumCopies": true, "Nums": true, "OCGs": true, "OCMD": true, "OCProperties": true, "Open": true, "OpenAction": true,
	"Order": true, "Ordering": true, "Outlines": true, "OutputCondition": true, "OutputConditionIdentifier": true, "OutputIntents": true,
	"Padding": true, "PageElement": true, "PageLabels": true, "PageLayout": true, "PageMode": true, "Pages": true, "PaintType": true, "Panose": true,
	"Params": true, "Parent": true, "ParentTree": true, "ParentTreeNextKey": true, "Pattern": true, "PatternType": true, "Perms": true,
	"PickTrayByPDFSize": true, "PieceInfo": true, "Placement": true, "Popup": true, "Predictor": true, "PresSteps": true, "Prev": true, "Print": true,
	"PrintArea": true, "PrintClip": true, "PrintPageRange": true, "PrintScaling": true, "ProcSet": true, "Process": true, "Producer": true,
	"Prop_Build": true, "Properties": true, "QuadPoints": true, "RBGroups": true, "Range": true, "Reason": true, "Rect": true, "Reference": true,
	"Registry": true, "RegistryName": true, "Renditions": true, "Requirements": true, "Resources": true, "Role": true, "RoleMap": true,
	"RoleMapNS": true, "Root": true, "Rotate": true, "RowSpan": true, "Rows": true, "SMask": true, "SMaskInData": true, "Scope": true,
	"SeparationInfo": true, "Shading": true, "ShadingType": true, "SigFlags": true, "Size": true, "SpaceAfter": true, "SpaceBefore": true,
	"SpiderInfo": true, "StartIndent": true, "State": true, "StateModel": true, "StemH": true, "StemV": true, "StmF": true, "StrF": true,
	"StructParent": true, "StructParents": true, "StructTreeRoot": true, "Style": true, "Subject": true, "Subtype": true, "Summary": true,
	"Supplement": true, "Suspects": true, "TBorderStyle": true, "TPadding": true, "Tabs": true, "TemplateInstantiated": true, "Templates": true,
	"TextAlign": true, "TextDecorationColor": true, "TextDecorationThickness": true, "TextDecorationType": true, "TextIndent": true, "Threads": true,
	"Thumb": true, "TilingType": true, "Title": true, "ToUnicode": true, "Trans": true, "TransformMethod": true, "TransformParams": true,
	"Trapped": true, "TrimBox": true, "Type": true, "URLS": true, "Usage": true, "UseCMap": true, "User": true, "UserProperties": true,
	"UserUnit": true, "Version": true, "View": true, "ViewArea": true, "ViewClip": true, "ViewerPreferences": true, "WMode": true, "WhitePoint": true,
	"Width": true, "Widths": true, "WritingMode": true, "XHeight": true, "XObject": true, "XRefStm": true, "XStep": true, "YStep": true, "Zoom": true,
}
