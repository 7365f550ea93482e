package operation

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/form"
	"example.com/quire/pdf/standard"
)

// The parameters that several operations have.
var (
	password = Parameter{Name: "password", Kind: Secret, Doc: "password of the file, the user's or the owner's", Whole: true, Empty: true}
	pages    = Parameter{Name: "pages", Value: "PAGES", Doc: "pages, such as 1-3,5,r1,odd (default all)", Example: "odd"}
)

// All returns the operations, in the order in which they are shown.
func All() []Operation {
	return []Operation{
		{
			Name: "info", Summary: "Show information about a PDF",
			Description: "Shows version, metadata, claimed standards, encryption, form fields, signatures, attachments and active content, and size, rotation, fonts and images of each page. Signatures are not verified. Active content is not run.",
			Go:          (*pdf.Document).Info, Most: 1, Gives: Report, Parameters: []Parameter{password}, run: info,
		},
		{
			Name: "check", Summary: "Check a PDF against PDF/A and PDF/UA",
			Description: "Applies the same rules as to the files that Quire writes. Without a standard, the standards that the file claims are checked. At most 20 findings are reported, among them the first of each clause.",
			Go:          (*pdf.Engine).Check, Most: 1, Gives: Report,
			Parameters: []Parameter{
				{Name: "standard", Value: "STANDARDS", Doc: "standards to check against: " + strings.Join(standard.Names(), ", ") + " (default those that the file claims)", Example: "pdf/a-2b"},
				password,
			},
			run: check,
		},
		{
			Name: "text", Summary: "Extract text with positions",
			Description: "Extracts words and lines in reading order, which is inferred from their positions. JSON has the box, font and size of each word. Text that is drawn as paths or pixels is not found.",
			Go:          (*pdf.Document).Text, Most: 1, Gives: Report, Parameters: []Parameter{pages, password}, run: text,
		},
		{
			Name: "search", Summary: "Find text and its positions",
			Description: "A match may continue on the next line, with or without a hyphen. Boxes are left, bottom, right and top in points, as in redact.",
			Go:          (*pdf.Document).Search, Most: 1, Gives: Report,
			Parameters: []Parameter{
				sought, soughtBy, letterCase, pages, password,
			},
			run: search,
		},
		{
			Name: "split", Summary: "Split a PDF into parts",
			Description: "Splits by lists of pages, every N pages, at the bookmarks of the first level, or by size. Choose one of these. Each part keeps the bookmarks, destinations, form fields, tags and page labels of its pages.",
			Go:          (*pdf.Engine).Split, Most: 1, Gives: Documents,
			Parameters: []Parameter{
				{Name: "pages", Value: "PAGES", Doc: "lists of pages, one for each part, such as 1-3;4-r1"},
				{Name: "every", Kind: Number, Doc: "pages of each part", Example: "1"},
				{Name: "bookmark", Kind: Switch, Doc: "begin a part at each bookmark of the first level"},
				{Name: "size", Kind: Number, Value: "BYTES", Doc: "largest size of a part in bytes; it gets as many pages as fit"},
				password,
			},
			run: split,
		},
		{
			Name: "merge", Summary: "Merge PDFs",
			Description: "Files are merged in the order given. The bookmarks of each file are placed under a bookmark with its name. Destinations, form fields, tags, attachments, layers and page labels are kept. Metadata is taken from the first file.",
			Go:          (*pdf.Engine).Merge, Most: 100, Gives: Document,
			Parameters: []Parameter{
				{Name: "pages", Value: "PAGES", Doc: "lists of pages, one for each file, such as 1-3;all (default all)"},
				password,
			},
			run: merge,
		},
		{
			Name: "rotate", Summary: "Rotate pages", Description: "Rotates clockwise, in addition to the rotation that the pages have.",
			Go: pdf.Rotate, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "degrees", Kind: Number, Value: "DEGREES", Doc: "angle, a multiple of 90", Required: true, Example: "90"}, pages, password,
			},
			op: rotate,
		},
		{
			Name: "crop", Summary: "Crop pages", Description: "Content outside the box is hidden but stays in the file. To remove it, use redact.",
			Go: pdf.Crop, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "box", Value: AreaValue, Doc: "area to show, as left,bottom,right,top in points", Required: true, Example: "50,50,400,600"}, pages, password,
			},
			op: crop,
		},
		{
			Name: "reorder", Summary: "Select and reorder pages", Description: "Pages that are not listed are removed, with the bookmarks, links, form fields and tags that lead only to them. A page that is listed twice appears twice.",
			Go: pdf.Reorder, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "pages", Value: "PAGES", Doc: "pages in their new order, such as 3,1-2,r1", Required: true, Example: "3,1-2"}, password},
			op:         func(c *call) (pdf.Op, error) { return pdf.Reorder(c.in.Values["pages"]), nil },
		},
		{
			Name: "delete", Summary: "Delete pages", Description: "Bookmarks, destinations, links, form fields and tags that lead only to the deleted pages are deleted with them.",
			Go: pdf.Delete, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "pages", Value: "PAGES", Doc: "pages to delete, such as 2,r1", Required: true, Example: "2"}, password},
			op:         func(c *call) (pdf.Op, error) { return pdf.Delete(c.in.Values["pages"]), nil },
		},
		{
			Name: "overlay", Summary: "Overlay the pages of another PDF",
			Description: "Each page of the other PDF is scaled to fit, centred, and upright as a reader sees the page. In a tagged file it is an artifact, which assistive technology does not read. A claim of a standard is kept if the other file makes one of the same kind.",
			Go:          pdf.Overlay, Most: 1, Gives: Document,
			Parameters: []Parameter{
				other, otherPassword,
				{Name: "from", Value: "PAGES", Doc: "pages of the other PDF, one for each page (default all)"},
				{Name: "repeat", Kind: Switch, Doc: "begin again with the first of them when they run out"},
				under, opacity, pages, password,
			},
			op: overlay,
		},
		{
			Name: "stamp", Summary: "Stamp a text or a page onto pages",
			Description: "The font of the text is embedded. The stamp is upright as a reader sees the page, even if the page is rotated or cropped. In a tagged file it is an artifact, which assistive technology does not read.",
			Go:          pdf.Stamp, Most: 1, Gives: Document,
			Parameters: append([]Parameter{
				{Name: "text", Doc: "text to draw", Example: "COPY"},
				stamped,
				{Name: "page", Kind: Number, Doc: "page of the other PDF, from 1 (default 1)"},
				otherPassword,
				position, margin,
				{Name: "scale", Value: "FACTOR", Doc: "scale, where 1 is its own size"},
				{Name: "angle", Value: "DEGREES", Doc: "rotation in degrees, counterclockwise"},
				opacity, under, pages, password,
			}, look...),
			op: stamp,
		},
		{
			Name: "watermark", Summary: "Watermark pages with a text or a page",
			Description: "The watermark is centred and as large as fits, by default at 45 degrees and an opacity of 0.15. In a tagged file it is an artifact, which assistive technology does not read.",
			Go:          pdf.Watermark, Most: 1, Gives: Document,
			Parameters: append([]Parameter{
				{Name: "text", Doc: "text to draw", Example: "DRAFT"},
				stamped,
				{Name: "page", Kind: Number, Doc: "page of the other PDF, from 1 (default 1)"},
				otherPassword,
				{Name: "angle", Value: "DEGREES", Doc: "rotation in degrees, counterclockwise (default 45)"},
				opacity, under, pages, password,
			}, look[1:]...),
			op: watermark,
		},
		{
			Name: "number", Summary: "Add page numbers", Description: "The numbers are artifacts, so assistive technology reads a tagged file as before. Their font is embedded.",
			Go: pdf.Number, Most: 1, Gives: Document,
			Parameters: append([]Parameter{
				{Name: "format", Doc: "text, in which {page} is the number and {pages} the last one (default {page})", Example: "{page}/{pages}"},
				{Name: "numbers", Value: "STYLE", Doc: "style of the numbers: " + strings.Join(numberings, ", ") + " (default decimal)", Choices: numberings},
				{Name: "start", Kind: Number, Doc: "number of the first numbered page (default its place in the file)"},
				position, margin, pages, password,
			}, look...),
			op: number,
		},
		{
			Name: "nup", Summary: "Place several pages on each sheet",
			Description: "Pages are placed row by row, or in booklet order, on sheets of the first page's size. A sheet is rotated if that makes the pages larger. Bookmarks lead to the sheet of their page. Links, form fields and notes are only drawn, and tags are dropped.",
			Go:          pdf.NUp, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "per-sheet", Kind: Number, Doc: "pages on a sheet, 2 to 100 (default 2)", Example: "4"},
				{Name: "booklet", Kind: Switch, Doc: "two pages on a side, to be printed on both sides and folded"},
				{Name: "sheet", Value: "SIZE", Doc: "sheet size: a3, a4, a5, letter, legal or WIDTHxHEIGHT in points (default the first page's)"},
				{Name: "margin", Value: "POINTS", Doc: "margin of a sheet in points"},
				{Name: "gap", Value: "POINTS", Doc: "gap between pages in points"},
				{Name: "border", Kind: Switch, Doc: "draw a line around each page"},
				password,
			},
			op: nup,
		},
		{
			Name: "optimise", Summary: "Make a PDF smaller without loss",
			Description: "Equal streams, fonts and graphics states are shared, uncompressed streams are compressed, and unused objects are dropped. Pages look the same. A file that would not get smaller stays as it is.",
			Go:          (*pdf.Engine).Optimise, Most: 1, Gives: Document, Parameters: []Parameter{password},
			run: func(c *call) error {
				return c.rewrite(func(w io.Writer, d *pdf.Document) (*pdf.Summary, error) { return c.e.Optimise(c.ctx, w, d) })
			},
		},
		{
			Name: "fields", Summary: "List form fields",
			Description: "Shows name, type, value, options, flags, pages and positions of each field.",
			Go:          (*pdf.Document).Fields, Most: 1, Gives: Report, Parameters: []Parameter{password}, run: fields,
		},
		{
			Name: "fill", Summary: "Fill in a form",
			Description: "Values are given by full field names, as JSON, FDF or XFDF. Appearances are generated. Other fields are not changed, and scripts are not run. An unknown field or option, a value that is too long and another value for a read-only field are errors. With incremental, the bytes of the file are kept and its signatures remain valid.",
			Go:          pdf.Fill, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "data", Kind: Upload, Doc: "values, as JSON, FDF or XFDF", Required: true, Example: "values.json"},
				{Name: "incremental", Kind: Switch, Doc: "append the changes; the bytes of the file stay", Whole: true},
				{Name: "flatten", Kind: Switch, Doc: "flatten the fields afterwards; in a pipe a step of its own", Whole: true},
				fontFile, password,
			},
			op: filling, run: fill,
		},
		{
			Name: "flatten", Summary: "Flatten form fields into the pages",
			Description: "The fields look the same and can no longer be filled in. In a tagged file their structure elements keep their content.",
			Go:          pdf.Flatten, Most: 1, Gives: Document, Parameters: []Parameter{fontFile, password},
			op: flattening,
		},
		{
			Name: "export", Summary: "Export form data",
			Description: "Writes JSON, FDF or XFDF, which fill reads. Passwords, signatures and fields that are marked as not exported are omitted.",
			Go:          (*pdf.Document).Export, Most: 1, Gives: Data,
			Parameters: []Parameter{{Name: "format", Value: "FORMAT", Doc: "json, fdf or xfdf (default json)", Example: "xfdf", Choices: []string{"json", "fdf", "xfdf"}}, password},
			Type: func(values map[string]string) (media, suffix string) {
				return form.Format(values["format"]).MediaType()
			},
			run: export,
		},
		{
			Name: "redact", Summary: "Redact text and areas permanently",
			Description: "Removes characters, pixels, paths and annotations, and hidden copies of the text: ActualText, alternative texts, bookmarks, metadata and field values. Attachments and scripts are removed entirely. The new file is read again. It is refused if the text is still found, or if that cannot be decided. Text in the pixels of images is found with ocr only, by the program tesseract, which misses text that it misreads.",
			Go:          (*pdf.Engine).Redact, Most: 1, Gives: Document, Tool: "tesseract",
			Parameters: []Parameter{
				sought, soughtBy, letterCase,
				{Name: "box", Value: AreaValue, Doc: "area to redact, as left,bottom,right,top in points; several with semicolons between them"},
				{Name: "pages", Value: "PAGES", Doc: "pages of the boxes, such as 1-3,5 (default all)"},
				{Name: "unmarked", Kind: Switch, Doc: "draw no black boxes"},
				{Name: "ocr", Value: "LANGUAGES", Doc: "find text in the pixels of images too, in these languages of tesseract, such as eng or eng,deu"},
				password,
			},
			run: redact,
		},
		{
			Name: "encrypt", Summary: "Encrypt a PDF with AES-256", Description: "Revision 6 of the standard security handler. The owner's password allows everything. Permissions for other readers are a request to their programs. A claim of PDF/A is dropped.",
			Go: pdf.Encrypt, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "owner", Kind: Secret, Doc: "owner's password of the new file", Required: true, Example: "secret.txt"},
				{Name: "user", Kind: Secret, Doc: "user's password of the new file (default none: anyone may read)"},
				{Name: "allow", Value: "PERMISSIONS", Doc: "what readers may do: " + strings.Join(crypt.PermissionNames(), ", ") + "; or none (default all)"},
				password,
			},
			op: encrypt,
		},
		{
			Name: "decrypt", Summary: "Remove the encryption of a PDF", Description: "The owner's password is required.",
			Go: pdf.Decrypt, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "password", Kind: Secret, Doc: "owner's password of the file", Example: "secret.txt", Empty: true}},
			op:         func(*call) (pdf.Op, error) { return pdf.Decrypt(), nil },
		},
		{
			Name: "metadata", Summary: "Change title, author, subject and keywords", Description: "Changes the information dictionary and XMP. An empty value removes an entry.",
			Go: pdf.SetMetadata, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "title", Doc: "title, empty to remove it", Example: "Report", Empty: true},
				{Name: "author", Doc: "author, empty to remove it", Empty: true},
				{Name: "subject", Doc: "subject, empty to remove it", Empty: true},
				{Name: "keywords", Doc: "keywords, empty to remove them", Empty: true},
				password,
			},
			op: metadata,
		},
		{
			Name: "attachments", Summary: "List attachments", Description: "Shows the name, size as the file states it, media type, relationship to the document, and description of each.",
			Go: (*pdf.Document).Attachments, Most: 1, Gives: Report, Parameters: []Parameter{password}, run: attachments,
		},
		{
			Name: "attach", Summary: "Attach a file to a PDF", Description: "The file is associated with the document. PDF/A-3b and PDF/A-4f allow files of any type. PDF/A-2b and PDF/A-4 allow none: their claim is dropped, with a warning.",
			Go: pdf.Attach, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "attachment", Kind: Upload, Doc: "file to attach", Required: true, Example: "note.txt"},
				{Name: "name", Value: "NAME", Doc: "name of the attachment (default that of the file)"},
				{Name: "type", Value: "TYPE", Doc: "media type, such as text/csv (default by the ending of the name)"},
				{Name: "relationship", Value: "RELATIONSHIP", Doc: "relationship to the document: " + strings.Join(pdf.Relationships(), ", ") + " (default Unspecified)", Example: "Supplement", Choices: pdf.Relationships()},
				{Name: "description", Doc: "description for people (default the name)"},
				password,
			},
			op: attach,
		},
		{
			Name: "detach", Summary: "Remove an attachment", Description: "Give its name, as attachments lists it.",
			Go: pdf.Detach, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "name", Value: "NAME", Doc: "name of the attachment", Required: true, Example: "note.txt"}, password},
			op:         func(c *call) (pdf.Op, error) { return pdf.Detach(c.in.Values["name"]), nil },
		},
		{
			Name: "extract", Summary: "Extract an attachment", Description: "Give its name, as attachments lists it. The bytes are written as they are in the file. They may be of any type and are not checked.",
			Go: (*pdf.Document).Extract, Most: 1, Gives: Data,
			Parameters: []Parameter{{Name: "name", Value: "NAME", Doc: "name of the attachment", Required: true, Example: "note.txt"}, password},
			run:        extract,
		},
		{
			Name: "pipe", Summary: "Apply several changes in one pass",
			Description: "The steps are a JSON array of objects, each with the name of an operation that changes a PDF and its parameters. They run in order, with one read and one write. Further files are those that the steps name. If a step is wrong, the error names it and nothing is written.",
			Go:          (*pdf.Engine).Edit, Most: 100, Gives: Document,
			Parameters: []Parameter{{Name: "steps", Kind: Upload, Doc: "steps, as JSON", Required: true, Example: "steps.json"}, password},
			run:        pipe,
		},
		{
			Name: "sign", Summary: "Sign a PDF", Description: "The signature is PAdES B-B, or B-T with a time-stamp authority. The bytes of the file are kept, and earlier signatures remain valid. A file that would lose a claim of a standard is refused, and so are encrypted and damaged files and a key whose certificate is not valid now.",
			Go: (*pdf.Engine).Sign, Most: 1, Gives: Document,
			Parameters: append([]Parameter{
				{Name: "key", Kind: Key, Doc: "key with its certificates, as PEM or PKCS #12", Required: true, Example: "key.pem"},
				{Name: "key-password", Kind: Secret, Empty: true, Doc: "password of a PKCS #12 key"},
				{Name: "pss", Kind: Switch, Doc: "sign by RSASSA-PSS instead of PKCS #1 v1.5, with an RSA key"},
				{Name: "tsa", Value: "URL", Doc: "time-stamp authority to ask for a timestamp"},
			}, signing...),
			run: signFile,
		},
		{
			Name: "sign-prepare", Summary: "Prepare a signature by an external key", Description: "Writes everything except the signature. The report has what the key has to sign: message, in base64, and digest, its hash, in hexadecimal. The file is not signed before sign-finish.",
			Go: (*pdf.Engine).PrepareSign, Most: 1, Gives: Document,
			Parameters: append([]Parameter{chain, pss}, signing...),
			run:        prepareSign,
		},
		{
			Name: "sign-finish", Summary: "Insert the signature of an external key", Description: "The file must be the output of sign-prepare. A signature that does not verify with the certificate is refused.",
			Go: (*pdf.Engine).FinishSign, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "signature", Kind: Upload, Doc: "signature of the message by the key", Required: true, Example: "signature.bin"}, chain, pss},
			run:        finishSign,
		},
		{
			Name: "verify", Summary: "Verify the signatures of a PDF", Description: "Reports for each signature whether the signed bytes are unchanged, whether it covers the whole file, what was changed since and whether that is allowed, who signed, when, and whether the certificates lead to a trusted root. Revocation is not checked.",
			Go: (*pdf.Engine).Verify, Most: 1, Gives: Report,
			Parameters: []Parameter{
				{Name: "trust", Kind: Upload, Doc: "root certificates to trust, as PEM (default none: no signer is trusted)", Example: "ca.pem"},
				{Name: "at", Value: "TIME", Doc: "time at which certificates must be valid unless a timestamp gives it, such as 2026-03-01T12:00:00Z (default now)"},
				password,
			},
			run: verify,
		},
		{
			Name: "compare", Summary: "Compare two PDFs",
			Description: "Compares document information, pages, text and its positions, graphics, fonts, annotations, field values, attachments, bookmarks and tags. Each page is compared with the most similar page. Encoding and order of objects are ignored. Pixels are compared on request, by the program pdftoppm of poppler.",
			Go:          (*pdf.Engine).Compare, Least: 2, Most: 2, Gives: Report, Tool: "pdftoppm",
			Parameters: []Parameter{
				{Name: "pixels", Kind: Switch, Doc: "compare the pixels of pages too, as pdftoppm draws them"},
				{Name: "dpi", Kind: Number, Doc: "resolution of the pixels in dots per inch, 18 to 600 (default 72)"},
				{Name: "password", Kind: Secret, Doc: "password of both files, where they have one"},
			},
			run: compare,
		},
	}
}

// The parameters of what is drawn on pages.
var (
	other         = Parameter{Name: "with", Kind: Upload, Doc: "the other PDF", Required: true, Example: "more.pdf"}
	stamped       = Parameter{Name: "with", Kind: Upload, Doc: "PDF whose page is drawn, instead of a text"}
	otherPassword = Parameter{Name: "with-password", Kind: Secret, Doc: "password of the other PDF", Empty: true}
	under         = Parameter{Name: "under", Kind: Switch, Doc: "draw below the content, not above it"}
	opacity       = Parameter{Name: "opacity", Value: "NUMBER", Doc: "opacity, above 0 and up to 1 (default 1, of a watermark 0.15)"}
	position      = Parameter{Name: "position", Value: "POSITION", Doc: "position on the page: " + strings.Join(pdf.Positions(), ", "), Example: "top-right", Choices: pdf.Positions()}
	margin        = Parameter{Name: "margin", Value: "POINTS", Doc: "distance from the edge of the page in points"}
	look          = []Parameter{
		{Name: "size", Value: "POINTS", Doc: "font size in points"},
		{Name: "font", Value: "FAMILY", Doc: "font family: " + strings.Join(families, ", ") + " (default that of font-file, or Liberation Sans)", Choices: families},
		fontFile,
		{Name: "bold", Kind: Switch, Doc: "bold text"},
		{Name: "italic", Kind: Switch, Doc: "italic text"},
		{Name: "color", Value: "COLOUR", Doc: "colour, as #rgb or #rrggbb (default black)"},
	}
	fontFile   = Parameter{Name: "font-file", Kind: Upload, Doc: "TrueType or OpenType font, for characters that the built-in fonts lack"}
	families   = []string{"Liberation Sans", "Liberation Serif", "Liberation Mono", "DejaVu Sans"}
	numberings = []string{"decimal", "roman", "upper-roman", "alpha", "upper-alpha"}
)

// The parameters of searching.
var (
	sought     = Parameter{Name: "text", Doc: "text to find; a space stands for any white space", Example: "Two"}
	soughtBy   = Parameter{Name: "regexp", Value: "EXPRESSION", Doc: "regular expression to find, in RE2 syntax"}
	letterCase = Parameter{Name: "case", Kind: Switch, Doc: "distinguish upper and lower case"}
)

// The parameters of signing.
var (
	chain   = Parameter{Name: "chain", Kind: Upload, Doc: "certificates of the key, as PEM, its own first", Required: true, Example: "chain.pem"}
	pss     = Parameter{Name: "pss", Kind: Switch, Doc: "the key signs by RSASSA-PSS"}
	signing = []Parameter{
		{Name: "field", Value: "FIELD", Doc: "signature field: one of the file, or the name of a new one (default a new one)"},
		{Name: "page", Kind: Number, Doc: "page of a new field, from 1 (default 1)"},
		{Name: "box", Value: AreaValue, Doc: "where a new field shows name, time and reason, as left,bottom,right,top in points (default nowhere)"},
		{Name: "name", Value: "NAME", Doc: "name of the signer (default that of the certificate)"},
		{Name: "reason", Doc: "reason for signing", Example: "Approval"},
		{Name: "location", Value: "PLACE", Doc: "place of signing"},
		{Name: "contact", Doc: "how to reach the signer"},
		fontFile,
		{Name: "certify", Value: "CHANGES", Doc: "certify as the author, and allow these later changes: none, fill or annotate", Choices: []string{"none", "fill", "annotate"}},
	}
)

func info(c *call) error {
	d, err := c.open(0)
	if err != nil {
		return err
	}
	i := d.Info()
	c.out.Report = struct {
		*pdf.Info
		Warnings []pdf.Diagnostic `json:"warnings,omitempty"`
	}{i, d.Warnings()}
	c.out.Text = describe(i) + warned(d)
	return nil
}

// describe is Info for people.
func describe(i *pdf.Info) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, value)
		}
	}
	line("version", i.Version)
	line("size", fmt.Sprintf("%d bytes, revision %d", i.Size, i.Revisions))
	line("pages", fmt.Sprint(len(i.Pages)))
	line("title", i.Title)
	line("author", i.Author)
	line("subject", i.Subject)
	line("keywords", i.Keywords)
	line("creator", i.Creator)
	line("producer", i.Producer)
	line("created", i.Created)
	line("modified", i.Modified)
	line("language", i.Language)
	line("claims", strings.Join(i.Claims, ", "))
	if i.Tagged {
		line("tagged", "yes")
	}
	if e := i.Encryption; e != nil {
		who := "user"
		if e.Owner {
			who = "owner"
		}
		line("encrypted", fmt.Sprintf("%s, opened as %s, allowed: %s", e.Method, who, strings.Join(e.Allowed, ", ")))
	}
	if i.Bookmarks > 0 {
		line("bookmarks", fmt.Sprint(i.Bookmarks))
	}
	line("fields", strings.Join(i.Fields, ", "))
	line("signed", strings.Join(i.Signatures, ", "))
	for _, a := range i.Attachments {
		line("attachment", a.Name)
	}
	line("active", strings.Join(i.Active, ", "))
	for _, p := range i.Pages {
		box := p.MediaBox
		if p.CropBox != nil {
			box = *p.CropBox
		}
		s := fmt.Sprintf("%g x %g pt", box[2]-box[0], box[3]-box[1])
		if p.Rotate != 0 {
			s += fmt.Sprintf(", turned by %d", p.Rotate)
		}
		s += ", " + counted(len(p.Fonts), "font", "fonts") + ", " + counted(p.Images, "image", "images") + ", " + counted(p.Annotations, "annotation", "annotations")
		if p.Label != "" {
			s += fmt.Sprintf(", label %q", p.Label)
		}
		line(fmt.Sprintf("page %d", p.Page), s)
	}
	return b.String()
}

// counted is a number of things.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// warned lists what was wrong with a file.
func warned(d *pdf.Document) string {
	var b strings.Builder
	for _, w := range d.Warnings() {
		b.WriteString(w.String() + "\n")
	}
	return b.String()
}

// Checked is the report of check.
type Checked struct {
	Standards []string         `json:"standards"`
	Conforms  bool             `json:"conforms"`
	Findings  []Finding        `json:"findings"`
	Warnings  []pdf.Diagnostic `json:"warnings,omitempty"`
}

// Finding is a rule that the file breaks.
type Finding struct {
	Rule    string `json:"rule"`
	Clause  string `json:"clause"`
	Object  uint32 `json:"object,omitempty"`
	Message string `json:"message"`
}

func check(c *call) error {
	var ids []standard.ID
	for _, name := range c.list("standard") {
		id, err := standard.Parse(name)
		if err != nil {
			return &pdf.OptionError{Field: "standard", Got: fmt.Sprintf("%q", name), Want: strings.Join(standard.Names(), ", "), Nearest: nearest.Name(name, standard.Names())}
		}
		ids = append(ids, id)
	}
	d, err := c.open(0)
	if err != nil {
		return err
	}
	found, err := c.e.Check(c.ctx, d, ids...)
	if err != nil {
		return named(c.in.Files[0].Name, err)
	}
	r := Checked{Standards: []string{}, Conforms: len(found) == 0, Findings: []Finding{}, Warnings: d.Warnings()}
	for _, id := range ids {
		r.Standards = append(r.Standards, id.String())
	}
	if len(ids) == 0 {
		r.Standards = d.Info().Claims
	}
	var text strings.Builder
	for _, f := range found {
		r.Findings = append(r.Findings, Finding{f.Rule, f.Clause, f.Object.Num, f.Message})
		if f.Object.Num > 0 {
			fmt.Fprintf(&text, "object %d: ", f.Object.Num)
		}
		fmt.Fprintf(&text, "%s (%s)  [%s]\n", f.Message, f.Clause, f.Rule)
	}
	verdict := "conforms"
	if !r.Conforms {
		verdict = "does not conform"
	}
	fmt.Fprintf(&text, "%s: %s to %s\n", c.in.Files[0].Name, verdict, strings.Join(r.Standards, " and "))
	c.out.Report, c.out.Text, c.out.Failed = r, text.String(), !r.Conforms
	return nil
}
