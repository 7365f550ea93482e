package doc

import "strings"

// Attachment is a file that the document carries (ISO 32000-2, 7.11.4 and 14.13). PDF/A-3b and
// PDF/A-4f take files of any kind; PDF/A-2b and PDF/A-4 take none that this library could vouch
// for, so that attachments under them are an error.
type Attachment struct {
	Src          *Source
	Name         string // with its extension, as in "orders.csv"; each name is unique
	Data         []byte
	Type         string // media type, as in "text/csv"; empty: application/octet-stream
	Description  string // what people are shown; empty: the name
	Relationship Relationship
}

// Relationship is the relationship of an attached file to the document.
type Relationship uint8

// The relationships (ISO 32000-2, table 43).
const (
	RelationUnspecified Relationship = iota
	RelationSource                   // the document was made of it
	RelationData                     // the data of content such as a table
	RelationAlternative              // the same in another form, such as an invoice in XML
	RelationSupplement               // more than the document shows
)

// MediaType returns the media type (IANA's registry) of a file by the ending of its name; empty: it
// is not known.
func MediaType(name string) string {
	return map[string]string{
		"csv": "text/csv", "txt": "text/plain", "md": "text/markdown", "html": "text/html", "xml": "text/xml",
		"json": "application/json", "yaml": "application/yaml", "pdf": "application/pdf", "zip": "application/zip",
		"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "tif": "image/tiff", "tiff": "image/tiff", "svg": "image/svg+xml",
		"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		"ods":  "application/vnd.oasis.opendocument.spreadsheet",
		"odt":  "application/vnd.oasis.opendocument.text",
	}[strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])]
}

// Viewer says how a viewer opens and prints the document (ISO 32000-2, 7.7.2 and 12.2). The zero
// Viewer leaves all of that to the viewer and its user.
type Viewer struct {
	Layout PageLayout
	Mode   PageMode // ModeAuto: the outline, where there is one
	// What the window does without.
	HideToolbar, HideMenubar, HideWindowUI bool
	FitWindow                              bool // the window is as large as the first page
	CenterWindow                           bool // centre the window on the screen
	RightToLeft                            bool // pages lie side by side from right to left
	ActualSize                             bool // the print dialogue proposes no scaling
	Duplex                                 Duplex
	Copies                                 int // that the print dialogue proposes, 2 to 5; 0: nothing is said
}

// PageLayout says how pages lie on the screen.
type PageLayout uint8

// The layouts.
const (
	LayoutAuto PageLayout = iota
	LayoutSinglePage
	LayoutOneColumn
	LayoutTwoColumnLeft  // odd pages on the left
	LayoutTwoColumnRight // odd pages on the right
	LayoutTwoPageLeft
	LayoutTwoPageRight
)

// PageMode says which panel is shown next to the page.
type PageMode uint8

// The modes.
const (
	ModeAuto PageMode = iota
	ModeNone
	ModeOutline
	ModeThumbnails
	ModeFullScreen
	ModeAttachments
)

// Duplex says how the print dialogue proposes to use the sides of a sheet.
type Duplex uint8

// The ways.
const (
	DuplexAuto Duplex = iota
	DuplexSimplex
	DuplexShortEdge
	DuplexLongEdge
)

// OutlineItem is an entry of an outline that was given.
type OutlineItem struct {
	Src    *Source
	Title  string
	Anchor string // of the place where it leads, without #
	From   Origin // of Anchor, as of the target of a link, for diagnostics
	Closed bool   // its Items are folded away at first
	Items  []OutlineItem
}
