package ui

import (
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/quire/internal/record"
	"example.com/quire/pdf/operation"
	"example.com/quire/web"
)

// The pages of the operations on PDF files are made of package operation's table, as the commands
// and the routes are: an operation that is added there has a page.

// toolsPage lists the operations.
type toolsPage struct {
	Title, Script string
	Groups        []toolGroup
}

type toolGroup struct {
	ID, Title  string
	Operations []operation.Operation
}

// toolPage is a form for one operation.
type toolPage struct {
	Title, Script string
	Tool          *toolView
}

type toolView struct {
	Name, Title, About string
	Least, Most        int
	MostBytes          int64  // of all files together; 0: not known
	Accept             string // the files to choose from
	Report             bool   // the answer is told, and no file
	Draws, Several     bool   // an area can be drawn on a page; several can
	Fields, More       []fieldView
	Commands           []command
}

// fieldView is a parameter.
type fieldView struct {
	Name, Label, Hint string
	Kind              string // of control: text, number, password, checkbox, select, file or json
	Required          bool
	Choices           []string
	Area              bool   // a rectangle on a page
	FormFields        string // the address that lists the fields of a form, for which this has values; "": of no form
}

func (p *pages) tools(c *web.Context) error {
	if _, err := p.o.Space(c); err != nil {
		return err
	}
	groups := []toolGroup{
		{ID: "change", Title: "Change"},
		{ID: "take", Title: "Extract"},
		{ID: "read", Title: "Read and check"},
	}
	for _, o := range operation.All() {
		g := &groups[0]
		switch o.Gives {
		case operation.Documents, operation.Data:
			g = &groups[1]
		case operation.Report:
			g = &groups[2]
		case operation.Document:
		}
		g.Operations = append(g.Operations, o)
	}
	return p.show(c, http.StatusOK, "tools-list", &toolsPage{Title: "PDF tools", Groups: groups})
}

func (p *pages) tool(c *web.Context) error {
	space, err := p.o.Space(c)
	if err != nil {
		return err
	}
	o, err := operation.Find(c.Param("operation"))
	if err != nil {
		return web.NewProblem(http.StatusNotFound, "There is no tool with that name.", err)
	}
	v := &toolView{
		Name: o.Name, Title: o.Summary, About: o.Description, Least: max(o.Least, 1), Most: o.Most,
		MostBytes: p.o.MostFileBytes, Accept: "application/pdf,.pdf", Report: o.Gives == operation.Report,
	}
	signs := slices.ContainsFunc(o.Parameters, func(x operation.Parameter) bool { return x.Kind == operation.Key })
	for _, x := range o.Parameters {
		if signs && x.Kind == operation.Secret && strings.HasPrefix(x.Name, "key-") {
			continue // of a key of the server the configuration has the password
		}
		f := field(x, p.o.Signers[space])
		if f.Area {
			v.Draws, v.Several = true, o.Name == "redact"
		}
		if o.Name == "fill" && x.Name == "data" {
			f.FormFields = "/v1/pdf/fields"
		}
		if f.Kind == "json" && o.Most > 1 {
			v.Accept = "" // steps name further files, which may be of any kind
		}
		if x.Required || x.Example != "" || f.Area {
			v.Fields = append(v.Fields, f)
		} else {
			v.More = append(v.More, f)
		}
	}
	v.Commands = []command{
		{"Over HTTP", "the HTTP command", p.toolCommand(c, o, space)},
		{"In a terminal, with local files", "the terminal command", "quire pdf " + o.Example()},
	}
	return p.show(c, http.StatusOK, "tool", &toolPage{Title: o.Summary, Script: "tool.js", Tool: v})
}

// field is the control of a parameter.
func field(x operation.Parameter, signers []string) fieldView {
	f := fieldView{Name: x.Name, Label: label(x.Name), Hint: hint(x), Required: x.Required, Choices: x.Choices, Kind: "text", Area: x.Value == operation.AreaValue}
	switch x.Kind {
	case operation.Text:
		if x.Choices != nil {
			f.Kind = "select"
		}
	case operation.Number:
		f.Kind = "number"
	case operation.Switch:
		f.Kind = "checkbox"
	case operation.Secret:
		f.Kind = "password"
	case operation.Upload:
		f.Kind = "file"
		if strings.HasSuffix(x.Example, ".json") {
			f.Kind = "json"
		}
	case operation.Key:
		f.Kind, f.Choices, f.Hint = "select", signers, "A signer of the configuration"
		if len(signers) == 0 {
			f.Hint = "The configuration has no signer for this space; docs/configuration.md says how to add one"
		}
	}
	return f
}

// label is the name of a parameter for people.
func label(name string) string {
	switch name {
	case "dpi", "ocr", "pss", "tsa":
		return strings.ToUpper(name)
	case "color":
		return "Colour"
	case "regexp":
		return "Regular expression"
	case "case":
		return "Match case"
	case "unmarked":
		return "No black boxes"
	}
	return sentence(strings.ReplaceAll(name, "-", " "))
}

// hint is what the table says of a parameter.
func hint(x operation.Parameter) string {
	s := sentence(x.Doc)
	if x.Example != "" && x.Choices == nil && (x.Kind == operation.Text || x.Kind == operation.Number) && !strings.Contains(x.Doc, "such as") {
		s += "; for example " + x.Example
	}
	return s
}

// sentence begins with a capital letter.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// toolCommand asks the API for an operation on files of a directory.
func (p *pages) toolCommand(c *web.Context, o *operation.Operation, space record.Space) string {
	words := []string{curl + p.auth()}
	for _, part := range o.Sample() {
		if signers := p.o.Signers[space]; part.Key && len(signers) > 0 {
			part.Value = signers[0]
		}
		if part.File {
			words = append(words, "-F "+part.Name+"=@"+part.Value)
		} else {
			words = append(words, "--form-string "+quoted(part.Name+"="+part.Value))
		}
	}
	switch o.Gives {
	case operation.Document:
		words = append(words, "-o out.pdf")
	case operation.Documents:
		words = append(words, "-o out.zip")
	case operation.Data:
		words = append(words, "-o out")
	case operation.Report:
		words = append(words, "-H 'Accept: text/plain'")
	}
	return strings.Join(append(words, p.base(c)+"/v1/pdf/"+o.Name), " ")
}

// quoted writes a word of a shell.
func quoted(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,-_=/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
