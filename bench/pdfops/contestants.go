package pdfops

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/form"
)

// The passwords of what is encrypted, and the field that is filled.
const (
	userPassword  = "reader"
	ownerPassword = "owner"
	fieldName     = "person"
)

// operations are those on samples.
func operations() []operation {
	return []operation{
		{
			name: "merge", title: "two files into one", text: "A sample and the next one become one file.", files: 2,
			own: inQuire(func(ctx context.Context, e *pdf.Engine, in *input, docs []*pdf.Document) error {
				_, err := e.Merge(ctx, in.add(), []pdf.MergeInput{{Doc: docs[0]}, {Doc: docs[1]}}, pdf.EditOptions{})
				return err
			}),
			pdfcpu: func(_ context.Context, in *input) error {
				return api.MergeRaw([]io.ReadSeeker{bytes.NewReader(in.files[0]), bytes.NewReader(in.files[1])}, in.add(), false, pdfcpuConfig())
			},
			qpdf: program(func(in *input, out string) []string {
				return []string{"--empty", "--pages", in.paths[0], in.paths[1], "--", out}
			}),
		},
		{
			name: "split", title: "a file into its pages", text: "A sample becomes a file for each of its pages.", files: 1,
			own: inQuire(func(ctx context.Context, e *pdf.Engine, in *input, docs []*pdf.Document) error {
				_, err := e.Split(ctx, docs[0], pdf.SplitOptions{Every: 1}, func(int) (io.WriteCloser, error) { return part{in.add()}, nil })
				return err
			}),
			pdfcpu: func(_ context.Context, in *input) error {
				spans, err := api.SplitRaw(bytes.NewReader(in.files[0]), 1, pdfcpuConfig())
				if err != nil {
					return err
				}
				for _, s := range spans {
					if _, err := io.Copy(in.add(), s.Reader); err != nil {
						return err
					}
				}
				return nil
			},
			qpdf: splitProgram,
		},
		{
			name: "fill", title: "a form with a field filled in", text: "A text field of a form of one page gets a value, which is new each time.", files: 1, form: true,
			own: inQuire(func(ctx context.Context, e *pdf.Engine, in *input, docs []*pdf.Document) error {
				_, err := e.Edit(ctx, in.add(), docs[0], pdf.EditOptions{}, pdf.Fill([]form.Value{{Name: fieldName, Is: []string{in.value}}}, nil))
				return err
			}),
			pdfcpu: func(_ context.Context, in *input) error {
				data, err := formData(in.value)
				if err != nil {
					return err
				}
				return api.FillForm(bytes.NewReader(in.files[0]), bytes.NewReader(data), in.add(), pdfcpuConfig())
			},
		},
		{
			name: "encrypt", title: "a file encrypted by AES-256", text: "A sample is encrypted with a password for readers and one for its owner.", files: 1, password: userPassword,
			own: inQuire(func(ctx context.Context, e *pdf.Engine, in *input, docs []*pdf.Document) error {
				_, err := e.Edit(ctx, in.add(), docs[0], pdf.EditOptions{}, pdf.Encrypt(crypt.Options{Owner: ownerPassword, User: userPassword, Permissions: crypt.All}))
				return err
			}),
			pdfcpu: func(_ context.Context, in *input) error {
				return api.Encrypt(bytes.NewReader(in.files[0]), in.add(), pdfcpuEncryption())
			},
			qpdf: program(func(in *input, out string) []string {
				return []string{"--encrypt", userPassword, ownerPassword, "256", "--", in.paths[0], out}
			}),
		},
		{
			name: "optimise", title: "a file written smaller", text: "A sample is written anew, smaller and without loss.", files: 1,
			own: inQuire(func(ctx context.Context, e *pdf.Engine, in *input, docs []*pdf.Document) error {
				_, err := e.Optimise(ctx, in.add(), docs[0])
				return err
			}),
			pdfcpu: func(_ context.Context, in *input) error {
				return api.Optimize(bytes.NewReader(in.files[0]), in.add(), pdfcpuConfig())
			},
			qpdf: program(func(in *input, out string) []string {
				return []string{"--object-streams=generate", "--recompress-flate", "--compression-level=9", in.paths[0], out}
			}),
		},
	}
}

// formData says in the words of pdfcpu which value the field gets.
func formData(value string) ([]byte, error) {
	type field struct {
		Pages []int  `json:"pages"`
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	type fields struct {
		Text []field `json:"textfield"`
	}
	return json.Marshal(map[string][]fields{"forms": {{[]field{{[]int{1}, fieldName, value}}}}})
}

// part is a file that is written to memory.
type part struct{ *bytes.Buffer }

func (part) Close() error { return nil }

// inQuire opens the files of an operation, each time, and does it.
func inQuire(do func(context.Context, *pdf.Engine, *input, []*pdf.Document) error) func() (work, error) {
	return func() (work, error) {
		e, err := pdf.New(pdf.Config{})
		if err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		return func(ctx context.Context, in *input) error {
			docs := make([]*pdf.Document, len(in.files))
			for i, f := range in.files {
				var err error
				if docs[i], err = e.Open(ctx, bytes.NewReader(f), int64(len(f)), pdf.OpenOptions{}); err != nil {
					return err
				}
			}
			return do(ctx, e, in, docs)
		}, nil
	}
}

// pdfcpuConfig is its own, without files of the user's.
func pdfcpuConfig() *model.Configuration {
	api.DisableConfigDir()
	return model.NewDefaultConfiguration()
}

func pdfcpuEncryption() *model.Configuration {
	api.DisableConfigDir()
	return model.NewAESConfiguration(userPassword, ownerPassword, 256)
}

// program runs qpdf for each operation; code 3 says that it warns of the file.
func program(args func(in *input, out string) []string) func(dir string) work {
	return func(dir string) work {
		return func(ctx context.Context, in *input) error {
			out := filepath.Join(dir, "out.pdf")
			if err := run(ctx, args(in, out)...); err != nil {
				return err
			}
			in.made = append(in.made, out)
			return nil
		}
	}
}

// splitProgram has qpdf write a file for each page.
func splitProgram(dir string) work {
	return func(ctx context.Context, in *input) error {
		if err := run(ctx, "--split-pages=1", in.paths[0], filepath.Join(dir, "part-%d.pdf")); err != nil {
			return err
		}
		var err error
		in.made, err = filepath.Glob(filepath.Join(dir, "part-*.pdf"))
		return err
	}
}

func run(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, qpdf.Name, append([]string{"--no-warn", "--warning-exit-0"}, args...)...).CombinedOutput() //nolint:gosec // over files of our own
	if err != nil {
		return fmt.Errorf("qpdf: %w: %s", err, out)
	}
	return nil
}

// widgets are four text fields, whose font is an object of its own, as pdfcpu asks.
type widgets struct {
	fields cos.Array
	fonts  cos.Dict
}

func (f widgets) form() cos.Dict {
	return cos.Dict{cos.E("Fields", f.fields), cos.E("DR", f.fonts), cos.E("DA", cos.String("/Helv 12 Tf 0 g"))}
}

func numbers(v ...int) (a cos.Array) {
	for _, n := range v {
		a = append(a, cos.Int(n))
	}
	return a
}

func writeWidgets(w *cos.Writer, page cos.Ref) (widgets, error) {
	letters := w.Reserve()
	f := widgets{fonts: cos.Dict{cos.E("Font", cos.Dict{cos.E("Helv", letters)})}}
	for i, name := range []string{fieldName, "street", "town", "country"} {
		field := w.Reserve()
		f.fields = append(f.fields, field)
		if err := w.Put(field, cos.Dict{
			cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Widget")), cos.E("FT", cos.Name("Tx")), cos.E("T", cos.Text(name)), cos.E("F", cos.Int(4)),
			cos.E("DA", cos.String("/Helv 12 Tf 0 g")), cos.E("Rect", numbers(50, 700-40*i, 350, 720-40*i)), cos.E("P", page),
		}); err != nil {
			return f, err
		}
	}
	return f, w.Put(letters, cos.Dict{
		cos.E("Type", cos.Name("Font")), cos.E("Subtype", cos.Name("Type1")), cos.E("BaseFont", cos.Name("Helvetica")), cos.E("Encoding", cos.Name("WinAnsiEncoding")),
	})
}

// aForm is a form of one page.
func aForm() ([]byte, error) {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{Version: cos.V17})
	root, tree, page, content := w.Reserve(), w.Reserve(), w.Reserve(), w.Reserve()
	f, err := writeWidgets(w, page)
	if err != nil {
		return nil, err
	}
	if err := w.Stream(content, nil, []byte("BT /Helv 12 Tf 50 750 Td (Application) Tj ET")); err != nil {
		return nil, err
	}
	for _, o := range []struct {
		ref cos.Ref
		is  cos.Dict
	}{
		{root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", tree), cos.E("AcroForm", f.form())}},
		{tree, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", cos.Array{page}), cos.E("Count", cos.Int(1))}},
		{page, cos.Dict{
			cos.E("Type", cos.Name("Page")), cos.E("Parent", tree), cos.E("MediaBox", numbers(0, 0, 595, 842)), cos.E("Resources", f.fonts),
			cos.E("Contents", content), cos.E("Annots", f.fields),
		}},
	} {
		if err := w.Put(o.ref, o.is); err != nil {
			return nil, err
		}
	}
	_, err = w.Close(cos.Trailer{Root: root})
	return out.Bytes(), err
}
