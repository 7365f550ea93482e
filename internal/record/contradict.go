package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// remade is a receipt whose file is the one of its content hash, and what is
// known of that file by other ways.
type remade struct {
	receipt  *Receipt
	text     []byte // its canonical form
	inputs   *job
	size     int64     // of the file
	rendered *Rendered // nil unless this engine makes the same file
}

// contradict makes v Differs when a field of the receipt is not what the file
// made again has, or what the receipt has that the audit log knows: the document
// id covers the inputs only, and the content hash the file only.
func (a *Archive) contradict(ctx context.Context, v *Verdict, r remade) error {
	field, says, is := r.field()
	whose := "the file made again has"
	if field == "" && !v.InAuditLog {
		stored, err := a.documents.Receipt(ctx, r.receipt.Space, r.receipt.Document)
		if err != nil {
			return err
		}
		known, err := a.documents.Chained(ctx, r.receipt.Space, r.receipt.Document, Sum(stored))
		if err != nil {
			return err
		}
		if known {
			if field, says, is, err = firstDifference(r.text, stored); err != nil {
				return fmt.Errorf("stored receipt of document %s: %w: %w", r.receipt.Document, err, ErrDamaged)
			}
			whose = "the one in the audit log has"
		}
	}
	if field != "" {
		v.Answer, v.At, v.Field = Differs, -1, field
		v.Reason = fmt.Sprintf("the receipt has %s, %s %s", says, whose, is)
	}
	return nil
}

// field returns the first field of the receipt that the file contradicts, or "",
// with what the receipt says and what is so.
func (r *remade) field() (name, says, is string) {
	said := "none"
	if r.receipt.Time != nil {
		said = when(*r.receipt.Time)
	}
	switch frozen := when(r.inputs.snapshot.Time()); {
	case r.receipt.Size != r.size:
		return "size", fmt.Sprint(r.receipt.Size), fmt.Sprint(r.size)
	case said != frozen:
		return "time", said, frozen
	case r.rendered == nil:
	case r.receipt.Pages != r.rendered.Pages:
		return "pages", fmt.Sprint(r.receipt.Pages), fmt.Sprint(r.rendered.Pages)
	case r.receipt.Title != "" && r.receipt.Title != shortTitle(r.rendered.Title):
		return "title", show(r.receipt.Title), show(shortTitle(r.rendered.Title))
	}
	return "", "", ""
}

func when(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// firstDifference returns the first member, by name, in which two objects of
// canonical JSON differ, with its value in both.
func firstDifference(a, b []byte) (name, inA, inB string, err error) {
	var x, y map[string]json.RawMessage
	if err := json.Unmarshal(a, &x); err != nil {
		return "", "", "", err
	}
	if err := json.Unmarshal(b, &y); err != nil {
		return "", "", "", err
	}
	all := maps.Clone(x)
	maps.Copy(all, y)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Equal(x[name], y[name]) {
			return show(name), show(string(x[name])), show(string(y[name])), nil
		}
	}
	return "", "", "", nil
}

// show is a part of a receipt as people may see it: anybody can have written it.
func show(s string) string {
	switch {
	case s == "":
		return "none"
	case len(s) > 120:
		return "another"
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.Quote(s)
	}
	return s
}
