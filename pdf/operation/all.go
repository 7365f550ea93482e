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
	password = Parameter{Name: "password", Kind: Secret, Doc: "the password of the file's user or owner", Whole: true, Empty: true}
	pages    = Parameter{Name: "pages", Doc: "these `PAGES`, such as 1-3,5,r1,odd; default all", Example: "odd"}
)

// All returns the operations, in the order in which they are shown.
func All() []Operation {
	return []Operation{
		{
			Name: "info", Summary: "Tell what a PDF says of itself",
			Description: "Version, metadata, claims, encryption, form fields, signatures, attachments, what could run, and size, rotation, fonts and images of each page. Nothing is verified, and nothing that could run is run.",
			Go:          (*pdf.Document).Info, Most: 1, Gives: Report, Parameters: []Parameter{password}, run: info,
		},
		{
			Name: "check", Summary: "Judge a PDF of any maker against standards",
			Description: "The rules are those that hold for the files Quire writes. Without a standard those that the file claims are judged. Up to 20 findings are told, the first of each clause among them.",
			Go:          (*pdf.Engine).Check, Most: 1, Gives: Report,
			Parameters: []Parameter{
				{Name: "standard", Doc: "judge against these `STANDARDS`: " + strings.Join(standard.Names(), ", "), Example: "pdf/a-2b"},
				password,
			},
			run: check,
		},
		{
			Name: "text", Summary: "Extract text with its places",
			Description: "Words and lines in the order of reading, which is taken from where they stand; as JSON with box, font and size of each word. Text that is drawn as paths or pixels is not seen.",
			Go:          (*pdf.Document).Text, Most: 1, Gives: Report, Parameters: []Parameter{pages, password}, run: text,
		},
		{
			Name: "search", Summary: "Find where text stands",
			Description: "Over line ends, and through hyphens at them. Boxes are left, bottom, right and top in points, as redact takes them.",
			Go:          (*pdf.Document).Search, Most: 1, Gives: Report,
			Parameters: []Parameter{
				sought, soughtBy, letterCase, pages, password,
			},
			run: search,
		},
		{
			Name: "split", Summary: "Split a PDF into parts",
			Description: "By lists of pages, every so many pages, at bookmarks of the first level, or by size; one of them. Bookmarks, destinations, fields, tags and labels of its pages come along with each part.",
			Go:          (*pdf.Engine).Split, Most: 1, Gives: Documents,
			Parameters: []Parameter{
				{Name: "pages", Doc: "one part of each list of `PAGES`, with semicolons between them, such as 1-3;4-r1"},
				{Name: "every", Kind: Number, Doc: "parts of `N` pages", Example: "1"},
				{Name: "bookmark", Kind: Switch, Doc: "a part begins where a bookmark of the first level leads"},
				{Name: "size", Kind: Number, Doc: "parts of as many pages as fit into so many `BYTES`"},
				password,
			},
			run: split,
		},
		{
			Name: "merge", Summary: "Join PDFs, one behind the other",
			Description: "Bookmarks stand below one with the name of each file; destinations, form fields, tags, attachments, layers and page labels are kept. Metadata are those of the first file.",
			Go:          (*pdf.Engine).Merge, Most: 100, Gives: Document,
			Parameters: []Parameter{
				{Name: "pages", Doc: "`PAGES` of each file, with semicolons between the lists, such as 1-3;all"},
				password,
			},
			run: merge,
		},
		{
			Name: "rotate", Summary: "Turn pages", Description: "Clockwise, beside what they are turned by.",
			Go: pdf.Rotate, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "degrees", Kind: Number, Doc: "turn by `DEGREES`, a multiple of 90", Required: true, Example: "90"}, pages, password,
			},
			op: rotate,
		},
		{
			Name: "crop", Summary: "Show a part of pages", Description: "What lies outside is not shown, but stays in the file: this is no redaction.",
			Go: pdf.Crop, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "box", Doc: "show `LEFT,BOTTOM,RIGHT,TOP`, in points", Required: true, Example: "50,50,400,600"}, pages, password,
			},
			op: crop,
		},
		{
			Name: "reorder", Summary: "Choose pages and their order", Description: "Pages that are not listed go, and with them what leads only to them; one that is listed twice comes twice.",
			Go: pdf.Reorder, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "pages", Doc: "these `PAGES`, such as 3,1-2,r1", Required: true, Example: "3,1-2"}, password},
			op:         func(c *call) (pdf.Op, error) { return pdf.Reorder(c.in.Values["pages"]), nil },
		},
		{
			Name: "delete", Summary: "Take pages away", Description: "With the pages goes what leads only to them: bookmarks, destinations, links, fields, tags.",
			Go: pdf.Delete, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "pages", Doc: "these `PAGES`, such as 2,r1", Required: true, Example: "2"}, password},
			op:         func(c *call) (pdf.Op, error) { return pdf.Delete(c.in.Values["pages"]), nil },
		},
		{
			Name: "overlay", Summary: "Lay the pages of another PDF over those of a PDF",
			Description: "Each as large as fits, in the middle, upright as a reader sees the page. What is laid over is no content but an artifact: who listens to a tagged file does not hear it. A claim stays when both files make one of its kind.",
			Go:          pdf.Overlay, Most: 1, Gives: Document,
			Parameters: []Parameter{
				other, otherPassword,
				{Name: "from", Doc: "these `PAGES` of it, one for each page; default all"},
				{Name: "repeat", Kind: Switch, Doc: "begin again with the first where they are fewer"},
				under, opacity, pages, password,
			},
			op: overlay,
		},
		{
			Name: "stamp", Summary: "Put a text or a page on pages",
			Description: "Text is set in a face that the file gets embedded. The stamp stands upright where a reader sees it, whatever turns or crops the page, and is an artifact as in overlay.",
			Go:          pdf.Stamp, Most: 1, Gives: Document,
			Parameters: append([]Parameter{
				{Name: "text", Doc: "put this `TEXT`", Example: "COPY"},
				stamped,
				{Name: "page", Kind: Number, Doc: "page `N` of it, from 1; default 1"},
				otherPassword,
				position, margin,
				{Name: "scale", Doc: "so many times as large as it is, a `NUMBER`"},
				{Name: "angle", Doc: "turn by `DEGREES`, against the clock"},
				opacity, under, pages, password,
			}, look...),
			op: stamp,
		},
		{
			Name: "watermark", Summary: "Put a pale text or page across pages",
			Description: "In the middle and as large as fits, at 45 degrees and an opacity of 0.15 where nothing else is said; an artifact as in overlay.",
			Go:          pdf.Watermark, Most: 1, Gives: Document,
			Parameters: append([]Parameter{
				{Name: "text", Doc: "put this `TEXT`", Example: "DRAFT"},
				stamped,
				{Name: "page", Kind: Number, Doc: "page `N` of it, from 1; default 1"},
				otherPassword,
				{Name: "angle", Doc: "turn by `DEGREES`, against the clock; default 45"},
				opacity, under, pages, password,
			}, look[1:]...),
			op: watermark,
		},
		{
			Name: "number", Summary: "Number pages", Description: "The numbers are artifacts, so that a tagged file goes on to say what it said, and their face is embedded.",
			Go: pdf.Number, Most: 1, Gives: Document,
			Parameters: append([]Parameter{
				{Name: "format", Doc: "write this `TEXT`, in which {page} is the number and {pages} the last one; default {page}", Example: "{page}/{pages}"},
				{Name: "numbers", Doc: "as `KIND`: " + strings.Join(numberings, ", ") + "; default decimal", Choices: numberings},
				{Name: "start", Kind: Number, Doc: "count from `N` over the pages that are numbered; default: the place in the file"},
				position, margin, pages, password,
			}, look...),
			op: number,
		},
		{
			Name: "nup", Summary: "Put several pages on one",
			Description: "Row by row, on sheets of the first page's size, turned where that makes pages larger, or in the order of a booklet. Bookmarks lead to the sheet of their page; links, fields and notes are drawn only, and tags go.",
			Go:          pdf.NUp, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "per-sheet", Kind: Number, Doc: "`N` pages on a sheet, 2 to 100; default 2", Example: "4"},
				{Name: "booklet", Kind: Switch, Doc: "two on a side, to be printed on both sides and folded"},
				{Name: "sheet", Doc: "the `SIZE` of sheets: a3, a4, a5, letter, legal or WIDTHxHEIGHT in points"},
				{Name: "margin", Doc: "around a sheet, in `POINTS`"},
				{Name: "gap", Doc: "between pages, in `POINTS`"},
				{Name: "border", Kind: Switch, Doc: "a line around each page"},
				password,
			},
			op: nup,
		},
		{
			Name: "optimise", Summary: "Make a PDF smaller without loss",
			Description: "Equal streams, fonts and graphics states become one, what is not compressed is, and what pages do not use goes. They look as they did. Where that gains nothing the file stays as it is.",
			Go:          (*pdf.Engine).Optimise, Most: 1, Gives: Document, Parameters: []Parameter{password},
			run: func(c *call) error {
				return c.rewrite(func(w io.Writer, d *pdf.Document) (*pdf.Summary, error) { return c.e.Optimise(c.ctx, w, d) })
			},
		},
		{
			Name: "fields", Summary: "List the fields of a form",
			Description: "Of each field name, kind, value, what can be chosen, flags, and the pages and places where it is shown.",
			Go:          (*pdf.Document).Fields, Most: 1, Gives: Report, Parameters: []Parameter{password}, run: fields,
		},
		{
			Name: "fill", Summary: "Fill in a form",
			Description: "Values are given by the full names of their fields, as JSON, FDF or XFDF. What fields show is made here; other fields stay as they are, and scripts are not run. A field that is not there, an option that a field does not have, a value that is too long and a field that is read-only are errors. With incremental the bytes of the file stay, and signatures go on to hold.",
			Go:          pdf.Fill, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "data", Kind: Upload, Doc: "the values, as JSON, FDF or XFDF", Required: true, Example: "values.json"},
				{Name: "incremental", Kind: Switch, Doc: "add to the file, which stays as it is", Whole: true},
				{Name: "flatten", Kind: Switch, Doc: "then make the fields a part of their pages; in a pipe a step of its own", Whole: true},
				password,
			},
			op: filling, run: fill,
		},
		{
			Name: "flatten", Summary: "Make the fields of a form a part of the pages",
			Description: "They look as they did and can no longer be filled in. In a tagged file the elements of the fields keep what they show.",
			Go:          pdf.Flatten, Most: 1, Gives: Document, Parameters: []Parameter{password},
			op: func(*call) (pdf.Op, error) { return pdf.Flatten(), nil },
		},
		{
			Name: "export", Summary: "Write what the fields of a form hold",
			Description: "As JSON, FDF or XFDF, which fill takes. Passwords and signatures are left out, and fields that say they are not exported.",
			Go:          (*pdf.Document).Export, Most: 1, Gives: Data,
			Parameters: []Parameter{{Name: "format", Doc: "json (the default), fdf or xfdf: a `FORMAT`", Example: "xfdf", Choices: []string{"json", "fdf", "xfdf"}}, password},
			Type: func(values map[string]string) (media, suffix string) {
				return form.Format(values["format"]).MediaType()
			},
			run: export,
		},
		{
			Name: "redact", Summary: "Take text and areas out of a PDF for good",
			Description: "Characters, pixels, paths and annotations, and hidden copies of the text: ActualText, alternative texts, bookmarks, metadata, values of fields. Attachments and scripts go whole. The new file is read again, and refused where the text is still found or cannot be told. Text in the pixels of images is found with ocr only, by the program tesseract, which misses what it misreads.",
			Go:          (*pdf.Engine).Redact, Most: 1, Gives: Document, Tool: "tesseract",
			Parameters: []Parameter{
				sought, soughtBy, letterCase,
				{Name: "box", Doc: "take out what lies in `LEFT,BOTTOM,RIGHT,TOP`, in points; several with semicolons between them"},
				{Name: "pages", Doc: "the boxes are on these `PAGES`, such as 1-3,5; default all"},
				{Name: "unmarked", Kind: Switch, Doc: "draw no black boxes"},
				{Name: "ocr", Doc: "find the text in the pixels of images too, as tesseract reads them in these `LANGUAGES`, such as eng or eng,deu"},
				password,
			},
			run: redact,
		},
		{
			Name: "encrypt", Summary: "Encrypt a PDF with AES-256", Description: "Revision 6 of the standard security handler. Who has the owner's password may do everything; programs are asked to heed what others are allowed. A claim of PDF/A goes.",
			Go: pdf.Encrypt, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "owner", Kind: Secret, Doc: "the owner's password of the new file", Required: true, Example: "secret.txt"},
				{Name: "user", Kind: Secret, Doc: "the password for reading; without it anyone may read"},
				{Name: "allow", Doc: "what readers may do: `LIST` of " + strings.Join(crypt.PermissionNames(), ", ") + ", or none; default all"},
				password,
			},
			op: encrypt,
		},
		{
			Name: "decrypt", Summary: "Write an encrypted PDF plain", Description: "It needs the password of the owner.",
			Go: pdf.Decrypt, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "password", Kind: Secret, Doc: "the password of the file's owner", Example: "secret.txt", Empty: true}},
			op:         func(*call) (pdf.Op, error) { return pdf.Decrypt(), nil },
		},
		{
			Name: "metadata", Summary: "Change title, author, subject and keywords", Description: "In the information dictionary and in XMP. An empty value takes an entry away.",
			Go: pdf.SetMetadata, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "title", Doc: "the `TITLE`", Example: "Report", Empty: true},
				{Name: "author", Doc: "the `AUTHOR`", Empty: true},
				{Name: "subject", Doc: "the `SUBJECT`", Empty: true},
				{Name: "keywords", Doc: "the `KEYWORDS`", Empty: true},
				password,
			},
			op: metadata,
		},
		{
			Name: "attachments", Summary: "List the files that a PDF carries", Description: "Name, size as the file says it, media type, what it is to the document, and description.",
			Go: (*pdf.Document).Attachments, Most: 1, Gives: Report, Parameters: []Parameter{password}, run: attachments,
		},
		{
			Name: "attach", Summary: "Make a PDF carry a file", Description: "As one that is associated with the document. PDF/A-3b and PDF/A-4f take files of any kind, PDF/A-2b and PDF/A-4 none: their claim goes, with a warning.",
			Go: pdf.Attach, Most: 1, Gives: Document,
			Parameters: []Parameter{
				{Name: "attachment", Kind: Upload, Doc: "the file to carry", Required: true, Example: "note.txt"},
				{Name: "name", Doc: "under this `NAME`; default that of the file"},
				{Name: "type", Doc: "its media `TYPE`, such as text/csv; default by its ending"},
				{Name: "relationship", Doc: "what it is to the document, a `KIND`: " + strings.Join(pdf.Relationships(), ", ") + "; default Unspecified", Example: "Supplement", Choices: pdf.Relationships()},
				{Name: "description", Doc: "what people are shown, a `TEXT`; default the name"},
				password,
			},
			op: attach,
		},
		{
			Name: "detach", Summary: "Take a file away that a PDF carries", Description: "By the name that attachments lists.",
			Go: pdf.Detach, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "name", Doc: "the `NAME` of the file", Required: true, Example: "note.txt"}, password},
			op:         func(c *call) (pdf.Op, error) { return pdf.Detach(c.in.Values["name"]), nil },
		},
		{
			Name: "extract", Summary: "Write a file that a PDF carries", Description: "By the name that attachments lists, as it is: it may be of any kind, and nothing of it is judged.",
			Go: (*pdf.Document).Extract, Most: 1, Gives: Data,
			Parameters: []Parameter{{Name: "name", Doc: "the `NAME` of the file", Required: true, Example: "note.txt"}, password},
			run:        extract,
		},
		{
			Name: "pipe", Summary: "Do several changes with one reading and one writing",
			Description: "The steps, in their order, are a JSON array of objects, each with the name of an operation that changes a PDF and its parameters. Further files are those that steps name. A wrong step is named, and nothing is written.",
			Go:          (*pdf.Engine).Edit, Most: 100, Gives: Document,
			Parameters: []Parameter{{Name: "steps", Kind: Upload, Doc: "the steps, as JSON", Required: true, Example: "steps.json"}, password},
			run:        pipe,
		},
		{
			Name: "sign", Summary: "Sign a PDF", Description: "As PAdES B-B, or B-T with a time-stamp authority. The bytes of the file stay as they are, and earlier signatures go on to hold. A file keeps its claims of standards or is refused; so are encrypted and damaged files, and a key whose certificate is not valid now.",
			Go: (*pdf.Engine).Sign, Most: 1, Gives: Document,
			Parameters: append([]Parameter{
				{Name: "key", Kind: Key, Doc: "the key with its certificates: a file, PEM or PKCS #12, for the command; the name of a signer of the configuration for the server, to which keys never travel", Required: true, Example: "key.pem"},
				{Name: "key-password", Kind: Secret, Empty: true, Doc: "the password of a PKCS #12 key, for the command"},
				{Name: "pss", Kind: Switch, Doc: "RSASSA-PSS in the place of PKCS #1 v1.5, for an RSA key"},
				{Name: "tsa", Doc: "a timestamp of the authority at this `URL`"},
			}, signing...),
			run: signFile,
		},
		{
			Name: "sign-prepare", Summary: "Make room for a signature by a key that is elsewhere", Description: "The file gets all but the signature, and the report says what the key has to sign: message, in base64, and digest, the hash of it, in hexadecimal. What is not finished by sign-finish is not signed.",
			Go: (*pdf.Engine).PrepareSign, Most: 1, Gives: Document,
			Parameters: append([]Parameter{chain, pss}, signing...),
			run:        prepareSign,
		},
		{
			Name: "sign-finish", Summary: "Put the signature of a key elsewhere into a file", Description: "The file is what sign-prepare wrote. A signature that the certificate does not verify is refused.",
			Go: (*pdf.Engine).FinishSign, Most: 1, Gives: Document,
			Parameters: []Parameter{{Name: "signature", Kind: Upload, Doc: "what the key made of the message", Required: true, Example: "signature.bin"}, chain, pss},
			run:        finishSign,
		},
		{
			Name: "verify", Summary: "Judge the signatures of a PDF", Description: "Of each signature: whether what was signed is as it was, whether it covers the whole file, what was done to the file since and whether that is allowed, who signed, when, and whether the certificates lead to a root that is trusted. Revocation is not looked up.",
			Go: (*pdf.Engine).Verify, Most: 1, Gives: Report,
			Parameters: []Parameter{
				{Name: "trust", Kind: Upload, Doc: "the roots to trust, as PEM; without it no signer is trusted", Example: "ca.pem"},
				{Name: "at", Doc: "when certificates must be valid that no timestamp covers: a `TIME` as in 2026-03-01T12:00:00Z; default now"},
				password,
			},
			run: verify,
		},
		{
			Name: "compare", Summary: "Tell in what two PDFs differ",
			Description: "What they say of themselves, pages, text and its places, what is drawn, fonts, annotations, values of fields, attachments, bookmarks and tags. Pages are held against those that are alike. How files are written is no difference. Pixels are compared when asked, by the program pdftoppm of poppler.",
			Go:          (*pdf.Engine).Compare, Least: 2, Most: 2, Gives: Report, Tool: "pdftoppm",
			Parameters: []Parameter{
				{Name: "pixels", Kind: Switch, Doc: "compare the pages as pdftoppm draws them, too"},
				{Name: "dpi", Kind: Number, Doc: "draw them with `N` pixels for each inch, 18 to 600; default 72"},
				{Name: "password", Kind: Secret, Doc: "the password of both files, where they have one"},
			},
			run: compare,
		},
	}
}

// The parameters of what is drawn on pages.
var (
	other         = Parameter{Name: "with", Kind: Upload, Doc: "the other PDF", Required: true, Example: "more.pdf"}
	stamped       = Parameter{Name: "with", Kind: Upload, Doc: "put a page of this PDF, in the place of a text"}
	otherPassword = Parameter{Name: "with-password", Kind: Secret, Doc: "the password of the other PDF", Empty: true}
	under         = Parameter{Name: "under", Kind: Switch, Doc: "below the content, not above it"}
	opacity       = Parameter{Name: "opacity", Doc: "as far as can be seen through, a `NUMBER` from 0 to 1, which hides all; default 1"}
	position      = Parameter{Name: "position", Doc: "at this `PLACE`: " + strings.Join(pdf.Positions(), ", "), Example: "top-right", Choices: pdf.Positions()}
	margin        = Parameter{Name: "margin", Doc: "so many `POINTS` from the edge"}
	look          = []Parameter{
		{Name: "size", Doc: "letters of so many `POINTS`"},
		{Name: "font", Doc: "set in this `FAMILY`: " + strings.Join(families, ", "), Choices: families},
		{Name: "bold", Kind: Switch, Doc: "in bold"},
		{Name: "italic", Kind: Switch, Doc: "in italics"},
		{Name: "color", Doc: "in this `COLOUR`, #rgb or #rrggbb; default black"},
	}
	families   = []string{"Liberation Sans", "Liberation Serif", "Liberation Mono", "DejaVu Sans"}
	numberings = []string{"decimal", "roman", "upper-roman", "alpha", "upper-alpha"}
)

// The parameters of searching.
var (
	sought     = Parameter{Name: "text", Doc: "this `TEXT`; spaces stand for any white space", Example: "Two"}
	soughtBy   = Parameter{Name: "regexp", Doc: "what matches this `EXPRESSION`, in RE2 syntax"}
	letterCase = Parameter{Name: "case", Kind: Switch, Doc: "letters match only as they are written"}
)

// The parameters of signing.
var (
	chain   = Parameter{Name: "chain", Kind: Upload, Doc: "the certificates of the key, as PEM, its own first", Required: true, Example: "chain.pem"}
	pss     = Parameter{Name: "pss", Kind: Switch, Doc: "the key signs by RSASSA-PSS"}
	signing = []Parameter{
		{Name: "field", Doc: "sign this `FIELD`, or name a new one so; default a new one"},
		{Name: "page", Kind: Number, Doc: "a new field stands on page `N`, from 1"},
		{Name: "box", Doc: "and shows name, time and reason in `LEFT,BOTTOM,RIGHT,TOP`, in points; without it nothing is shown"},
		{Name: "name", Doc: "who signs, a `NAME`; default that of the certificate"},
		{Name: "reason", Doc: "the `REASON`", Example: "Approval"},
		{Name: "location", Doc: "the `PLACE`"},
		{Name: "contact", Doc: "how to reach the signer, a `TEXT`"},
		{Name: "certify", Doc: "the author's signature, which allows `CHANGES`: none, fill or annotate", Choices: []string{"none", "fill", "annotate"}},
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
