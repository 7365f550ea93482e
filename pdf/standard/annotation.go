package standard

import (
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
)

// Placed is the position of an annotation of an existing file.
type Placed struct {
	Tagged   bool // in the structure tree, as the parent tree has it (ISO 32000-2, 14.7.5.4),
	Artifact bool // within an element Artifact there
	Outside  bool // its rectangle is outside the crop box of its page
}

// Annotation is Object for the annotation of a file that is read.
func (j *Judge) Annotation(r cos.Ref, d cos.Dict, p Placed) {
	j.placed = p
	j.Object(r, d, nil)
	j.placed = Placed{}
}

// kinds judges what annotations of a type need or may not be (ISO 14289-2, 8.9.2; 14289-1, 7.18.2).
func (j *Judge) kinds(r cos.Ref, d cos.Dict, src *doc.Source) {
	const invisible, hidden, noView, toggled = 1, 2, 32, 256
	f, _ := cos.As[cos.Int](d.Get("F"))
	if j.tagged(d) && !j.placed.Artifact && (f&invisible != 0 || f&noView != 0 && f&toggled == 0) {
		j.find("S044", clause{ua2: "8.9.2.2"}, r, src, "an annotation in the structure tree that is not shown")
	}
	_, described := cos.TextOf(d.Get("Contents"))
	find := func(c clause, what string) {
		j.find("S044", c, r, src, "an annotation of type %s%s", string(name(d, "Subtype")), what)
	}
	const without = " without Contents"
	switch name(d, "Subtype") {
	case "Stamp":
		if _, named := cos.As[cos.Name](d.Get("Name")); !described && !named {
			find(clause{ua2: "8.9.2.4.7"}, without+" or Name")
		}
	case "Ink":
		if !described {
			find(clause{ua2: "8.9.2.4.8"}, without)
		}
	case "Screen":
		if !described {
			find(clause{ua2: "8.9.2.4.12"}, without)
		}
	case "3D", "RichMedia":
		if !described {
			find(clause{ua2: "8.9.2.4.19"}, without)
		}
	case "Sound", "Movie":
		find(clause{ua2: "8.9.2.4.11"}, "")
	case "TrapNet":
		c := clause{ua1: "7.18.2", ua2: "8.9.2.4.15"}
		if f&hidden != 0 || j.placed.Outside {
			c.ua1 = ""
		}
		find(c, "")
	}
}

// tagged reports whether an annotation is in the structure tree.
func (j *Judge) tagged(d cos.Dict) bool {
	if j.read {
		return j.placed.Tagged
	}
	return d.Get("StructParent") != nil
}

// emptyRect reports whether an annotation has neither width nor height.
func emptyRect(d cos.Dict) bool {
	b, _ := cos.As[cos.Array](d.Get("Rect"))
	same := func(x, y cos.Object) bool {
		return x != nil && y != nil && string(x.AppendPDF(nil)) == string(y.AppendPDF(nil))
	}
	return len(b) == 4 && same(b[0], b[2]) && same(b[1], b[3])
}

// annotation judges an annotation (ISO 19005-2 and 4, 6.3; ISO 14289-1, 7.18, and 2, 8.9).
func (j *Judge) annotation(r cos.Ref, d cos.Dict, src *doc.Source) {
	sub := name(d, "Subtype")
	switch sub {
	case "Text", "Link", "FreeText", "Line", "Square", "Circle", "Highlight", "Underline", "Squiggly", "StrikeOut", "Stamp", "Ink",
		"Popup", "PrinterMark", "TrapNet", "Widget": // those of PDF 1.4 that stay as they are
	default:
		j.find("S044", clause{a1: "6.5.2"}, r, src, "an annotation of type %s", string(sub))
	}
	switch sub {
	case "Polygon", "PolyLine", "Caret", "Watermark", "Redact":
	case "FileAttachment":
		if a := archival(j.claims); a == PDFA4 {
			j.find("S044", clause{a4: "6.3.1"}, r, src, "an annotation of type %s", string(sub))
		}
	case "Projection":
		j.find("S044", clause{a2: "6.3.1"}, r, src, "an annotation of type %s", string(sub))
	case "Text", "Link", "FreeText", "Line", "Square", "Circle", "Highlight", "Underline", "Squiggly", "StrikeOut", "Stamp", "Ink",
		"Popup", "PrinterMark", "TrapNet", "Widget":
	case "3D", "RichMedia", "Sound", "Screen", "Movie":
		rule := clause{a2: "6.3.1", a4: "6.3.1"}
		if archival(j.claims) == PDFA4e && (sub == "3D" || sub == "RichMedia") {
			rule.a4 = "" // annex B is there for these
		}
		j.find("S044", rule, r, src, "an annotation of type %s", string(sub))
	default:
		j.find("S044", clause{a2: "6.3.1", a4: "6.3.1"}, r, src, "an annotation of type %s", string(sub))
	}
	const printed, hidden, toggled = 4, 1 | 2 | 32, 256 // invisible, hidden, no view; toggle no view
	f, _ := cos.As[cos.Int](d.Get("F"))
	if f&toggled != 0 {
		j.find("S044", clause{a2: "6.3.2", a4: "6.3.2"}, r, src, "an annotation that is shown or not as the pointer is over it")
	}
	if f&printed == 0 || f&hidden != 0 {
		rule := clause{a1: "6.5.3", a2: "6.3.2", a4: "6.3.2"}
		if sub == "Popup" && d.Get("F") == nil { // which need not have flags
			rule.a2, rule.a4 = "", ""
		}
		j.find("S044", rule, r, src, "an annotation that is not printed or not shown")
	}
	if a := d.Get("CA"); a != nil && !isOne(a) {
		j.find("S044", clause{a1: "6.5.3"}, r, src, "an annotation that lets through what is behind it")
	}
	if d.Get("C") != nil || d.Get("IC") != nil {
		j.coloured = r
	}
	j.appearance(r, d, src)
	tagged, nothing := j.tagged(d), sub == "Widget" && emptyRect(d)
	unseen := f&2 != 0 || j.placed.Outside
	switch {
	case !tagged:
		outside := clause{ua1: "7.18.1", ua2: "8.9.2"}
		switch sub {
		case "Widget":
			outside.ua1 = "7.18.4"
		case "Link":
			outside.ua1 = "7.18.5"
		}
		if unseen || sub == "PrinterMark" {
			outside.ua1 = ""
		}
		if nothing || j.read { // it is an artifact then (ISO 14289-2, 8.9.2.1)
			outside.ua2 = ""
		}
		j.find("S044", outside, r, src, "an annotation outside the structure tree")
		if text, _ := cos.TextOf(d.Get("Contents")); text == "" && sub != "Widget" && !unseen {
			j.find("S044", clause{ua1: "7.18.1"}, r, src, "an annotation without a description")
		}
	case nothing && !j.placed.Artifact:
		j.find("S044", clause{ua2: "8.9.2.4.13"}, r, src, "a widget that shows nothing and is not an artifact")
	}
	if a, ok := cos.As[cos.Dict](d.Get("A")); ok {
		j.action(r, a, src)
	}
	j.kinds(r, d, src)
	if text, _ := cos.TextOf(d.Get("Contents")); sub == "Link" && text == "" {
		rule := clause{ua1: "7.18.5", ua2: "8.9.4.2"}
		if j.read { // part 2 does not ask for it
			rule.ua2 = ""
		}
		if unseen {
			rule.ua1 = ""
		}
		j.find("S044", rule, r, src, "a link without Contents")
	}
}

// appearance judges what an annotation shows (ISO 19005-2 and 4, 6.3.3 and 6.4.1). N is a
// dictionary where it has states, which those of buttons have, and only those; of a button whose
// field is another object FT is not known where a file is written.
func (j *Judge) appearance(r cos.Ref, d cos.Dict, src *doc.Source) {
	rule := clause{a1: "6.5.3", a2: "6.3.3", a4: "6.3.3"}
	sub := name(d, "Subtype")
	ap, _ := cos.As[cos.Dict](d.Get("AP"))
	switch {
	case ap == nil && first1(j.claims):
		if sub == "Widget" {
			j.find("S044", clause{a1: "6.9"}, r, src, "a form field without an appearance")
		}
	case ap == nil && sub != "Popup" && sub != "Link" && !emptyRect(d):
		j.find("S044", rule, r, src, "an annotation without an appearance")
	case ap != nil && (len(ap) != 1 || ap.Get("N") == nil):
		j.find("S044", rule, r, src, "an annotation with another appearance than its normal one")
	case ap != nil:
		_, states := cos.As[cos.Dict](ap.Get("N"))
		if field := d.Get("FT"); is(field, "Btn") != states && (field != nil || sub != "Widget") {
			j.find("S044", rule, r, src, "an appearance with states that is not of a button, or one of a button without them")
		}
	}
	if sub == "Widget" && d.Get("A") != nil {
		j.find("S044", clause{a1: "6.6.1", a2: "6.4.1", a4: "6.4.1"}, r, src, "a form field that starts an action")
	}
}

// markup are the markup annotations (ISO 32000-2, table 171).
var markup = typesOf("Text FreeText Line Square Circle Polygon PolyLine Highlight Underline Squiggly StrikeOut Caret Stamp Ink FileAttachment Redact Projection Sound")

// Enclosure is an annotation in the structure tree.
type Enclosure struct {
	Annotation cos.Ref
	Dict       cos.Dict // of the annotation, with TU of its field
	In         cos.Name // the standard type of the element that it is the object of,
	Alt        string   // and its alternative text
	Labelled   bool     // the element has other kids, such as a Lbl
	Described  bool     // which it has, though it may be empty
	Fieldless  bool     // it is a widget of no field
	Placed     Placed   // of a file that is read
	Src        *doc.Source
}

// Enclosed checks the element of an annotation (ISO 14289-1, 7.18, and 2, 8.2.5.20, 8.9 and 8.10).
func (j *Judge) Enclosed(e Enclosure) {
	const hidden = 2
	sub := name(e.Dict, "Subtype")
	flags, _ := cos.As[cos.Int](e.Dict.Get("F"))
	contents, _ := cos.TextOf(e.Dict.Get("Contents"))
	label, _ := cos.TextOf(e.Dict.Get("TU"))
	find := func(c clause, format string, args ...any) {
		if flags&hidden != 0 || e.Placed.Outside {
			c.ua1 = ""
		}
		if e.Placed.Artifact {
			c.ua2 = ""
		}
		j.find("S044", c, e.Annotation, e.Src, format, args...)
	}
	switch sub {
	case "Widget":
		labelled := clause{ua2: "8.10.2.3"}
		if e.Fieldless {
			labelled.ua2 = ""
		}
		if e.In != "Form" {
			rule := clause{ua1: "7.18.4", ua2: "8.10.1"}
			if e.Fieldless {
				rule.ua2 = ""
			}
			find(rule, "a form field in an element %s", string(e.In))
		}
		if label == "" && e.Alt == "" {
			find(clause{ua1: "7.18.1"}, "a form field that does not say what it is for")
		}
		if e.Dict.Get("Contents") == nil && !e.Labelled {
			find(labelled, "a form field without a label")
		}
		if e.Dict.Get("Contents") == nil && e.Dict.Get("AA") != nil {
			find(labelled, "a form field with additional actions and without Contents")
		}
	case "Link":
		c := clause{ua1: "7.18.5", ua2: "8.2.5.20"}
		if e.In == "Reference" {
			c.ua2 = ""
		}
		if e.In != "Link" {
			find(c, "a link in an element %s", string(e.In))
		}
		if contents == "" && e.Alt == "" {
			find(clause{ua1: "7.18.1"}, "a link without a description")
		}
	case "Popup":
		find(clause{ua2: "8.9.2.4.9"}, "a popup in the structure tree")
	case "PrinterMark":
		find(clause{ua1: "7.18.8", ua2: "8.9.2.4.14"}, "a printer's mark in the structure tree")
	default:
		if e.In != "Annot" {
			rule := clause{ua1: "7.18.1"}
			switch {
			case sub == "Watermark":
				rule.ua2 = "8.9.2.4.16"
			case markup[sub]:
				rule.ua2 = "8.9.2.3"
			}
			find(rule, "an annotation in an element %s", string(e.In))
		}
		if contents == "" && e.Alt == "" {
			find(clause{ua1: "7.18.1"}, "an annotation without a description")
		}
	}
	if e.Dict.Get("Contents") != nil && (e.Alt != "" || e.Described) && e.Alt != contents {
		find(clause{ua2: "8.9.4.2"}, "an annotation whose Contents is not the alternative text of its element")
	}
}

// action judges an action (ISO 19005-2, 6.5.1, and 4, 6.6.1; ISO 14289-2, 8.8).
func (j *Judge) action(r cos.Ref, a cos.Dict, src *doc.Source) {
	switch s := name(a, "S"); s {
	default:
		j.find("S045", clause{a1: "6.6.1", a2: "6.5.1", a4: "6.6.1"}, r, src, "an action of type %s", string(s))
	case "GoToE":
		j.find("S045", clause{a1: "6.6.1"}, r, src, "an action of type %s", string(s))
	case "RichMediaExecute", "GoToDp":
		j.find("S045", clause{a1: "6.6.1", a2: "6.5.1"}, r, src, "an action of type %s", string(s))
	case "Launch", "Sound", "Movie", "ResetForm", "ImportData", "Hide", "SetOCGState", "Rendition", "Trans", "GoTo3DView":
		rule := clause{a1: "6.6.1", a2: "6.5.1", a4: "6.6.1"}
		if archival(j.claims) == PDFA4e && s == "GoTo3DView" {
			rule.a4 = ""
		}
		j.find("S045", rule, r, src, "an action of type %s", string(s))
	case "JavaScript":
		j.find("S045", clause{a1: "6.6.1", a2: "6.5.1"}, r, src, "an action of type %s", string(s))
	case "Named":
		switch name(a, "N") {
		case "NextPage", "PrevPage", "FirstPage", "LastPage":
		default:
			j.find("S045", clause{a1: "6.6.1", a2: "6.5.1", a4: "6.6.1"}, r, src, "an action named %q", string(name(a, "N")))
		}
	case "GoToR", "Thread", "URI", "SubmitForm":
	case "GoTo":
		if a.Get("SD") == nil {
			j.find("S044", clause{ua2: "8.8"}, r, src, "a link within the document without a structure destination")
		}
	}
}
