// Package notes is the suite of contract notes: a mix of short and long documents whose data are
// all different, plain, compliant and signed, beside other libraries that draw the same pages and
// beside what deflating, hashing and signing the same bytes costs at the least.
package notes

import (
	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
)

// The contestants that goals name.
const (
	controlName = "control kernel"
	fpdfName    = "fpdf"
	fpdfFont    = "fpdf, font embedded"
	gopdfName   = "gopdf, font embedded"
	marotoName  = "maroto"
)

// work is the workload of one kind of notes, or of the mix of all.
func work(k workload.NoteKind) harness.Workload {
	w := harness.Workload{Name: "contract-note-" + k.String(), Version: 1, Seed: workload.NoteSeed}
	switch k {
	case workload.Retail:
		w.Text = "One A4 page: heading, a table of two facts, four links, the client, two trades in six columns, their total, a footer, three bookmarks."
	case workload.Active:
		w.Text = "Two A4 pages with a watermark: the client, forty trades in five columns, four rows of sums, a footer."
	case workload.HFT:
		w.Text = "Seventy-five A4 pages: two thousand trades in seven columns, whose head is repeated, their total, a footer."
	default:
		w.Text = "Of every twenty documents sixteen retail notes of one page, three active ones of two pages and one HFT note of seventy-five, shuffled."
	}
	w.Text += " Numbers, names, symbols, quantities and prices are new in every document."
	return w
}

// Suite returns the rows.
func Suite() harness.Suite {
	s := harness.Suite{
		Name:  "contract-notes",
		Title: "Contract notes, each of data of its own",
		About: "JSON comes in, a contract note goes out, in process: each kind of note and the mix of all, plain, as PDF/A-4 with PDF/UA-2 " +
			"(compliant), and the same with retail notes signed as PAdES B-B, visibly, by ECDSA on P-256 (signed). Data are made outside the " +
			"timer and decoded inside. pdftotext reads the first documents of every contestant: the pages must be as many as they should " +
			"be, and every text of the data must stand there as often as it should; of the others length and pages are looked at. The " +
			"control kernel is what the standard library takes at the least for the same documents: deflate at its fastest level of the " +
			"streams that were made for them (pages, objects, cross-references; no font, no profile, no image), SHA-256 of the files, and " +
			"one signature where they are signed. fpdf and maroto use core fonts, which are not embedded; quire, gopdf and the " +
			"contestants named so embed Liberation Sans, quire as a subset.",
		NotShown: []string{
			"Typography: quire kerns, has ligatures and breaks lines where UAX #14 allows; the peers set words left to right.",
			"Compliance: the peers make no tags and claim no standard; in the compliant rows they draw the plain pages.",
			"Identical documents again and again: every document's data is new, and no contestant keeps finished output.",
			"Keys in a token or a service: the key that signs is in memory.",
		},
	}
	for _, k := range []workload.NoteKind{workload.Retail, workload.Active, workload.HFT, workload.NoteKinds} {
		s.Rows = append(s.Rows, plainRow(k), compliantRow(k))
		if k == workload.Retail || k == workload.NoteKinds {
			s.Rows = append(s.Rows, signedRow(k))
		}
	}
	s.Rows = append(append(s.Rows, peersRow()), programRows()...)
	for _, f := range []form{plain, compliant} {
		s.Rows = append(s.Rows, twoWorkers(workload.Retail, f))
	}
	for _, f := range []form{plain, compliant, signed} {
		s.Rows = append(s.Rows, twoWorkers(workload.NoteKinds, f))
	}
	s.Rows = append(s.Rows, logo())
	return s
}

// tools judge what comes out.
func tools() []harness.Tool { return []harness.Tool{pdftotext} }

func own(name string, f form, open opener) harness.Contestant {
	c := harness.Contestant{Name: name, Own: true, Needs: tools(), Open: open}
	if f == signed {
		c.Needs = append(c.Needs, pdfsig)
	}
	return c
}

func kernel(k workload.NoteKind, f form) harness.Contestant {
	return harness.Contestant{Name: controlName, Open: control(k, f), Note: "deflate and SHA-256 alone"}
}

func fpdfOf(k workload.NoteKind) harness.Contestant {
	return harness.Contestant{Name: fpdfName, Module: fpdfModule, Needs: tools(), Open: drawn(k, newFpdf(false)), Note: "plain pages, core fonts, no shaping, no template"}
}

func rowOf(k workload.NoteKind, f form) harness.Row {
	return harness.Row{
		Name: k.String() + "-" + f.String(), Title: title(k) + ", " + titles[f], Workload: work(k), Batch: batch(k),
		Contestants: []harness.Contestant{own("quire", f, quire(k, f)), kernel(k, f)},
	}
}

func title(k workload.NoteKind) string {
	if k == workload.NoteKinds {
		return "the mix"
	}
	return k.String() + " notes"
}

var titles = [...]string{plain: "plain", compliant: "as PDF/A-4 and PDF/UA-2", signed: "as PDF/A-4 and PDF/UA-2, retail notes signed"}

// What stands in the way of goals that are missed.
const (
	ownWork = "By profile of a note of 2,000 rows, deflate is 26 % of it plain and 37 % compliant, in half of the time that the control takes for it and " +
		"with files that are a tenth smaller; the rest goes from JSON through expressions, lines and cells to operators and tags, in some dozens of functions, the dearest of which takes 6 %."
	smallStreams = "By profile, deflate is 20 % of it; the rest is shared by lines, cells, operators and the objects of the file, of which no function takes 6 %."
	coreFonts    = "fpdf sets core fonts by a table of 256 widths and embeds none, shapes and kerns nothing, and has neither a template nor data in JSON to read."
	noShaping    = "gopdf and fpdf set words left to right without kerning or ligatures and have no template; most of their time is the font that they cut anew for each document."
)

// onePage is the goal of a note of one page: less than twice what nobody can leave out.
var onePage = harness.Goal{Against: controlName, AtMost: 1.8, Obstacle: smallStreams}

func plainRow(k workload.NoteKind) harness.Row {
	r := rowOf(k, plain)
	r.Contestants = append(r.Contestants, fpdfOf(k))
	switch k {
	case workload.Retail:
		r.Goals = append(r.Goals, onePage, harness.Goal{Of: harness.Allocs, AtMost: 60})
	case workload.HFT:
		r.Goals = append(r.Goals, harness.Goal{Of: harness.Allocs, AtMost: float64(k.Trades())})
	case workload.NoteKinds:
		r.Goals = append(r.Goals, harness.Goal{Against: controlName, AtMost: 1.5, Obstacle: ownWork}, harness.Goal{Against: fpdfName, AtMost: 1.0 / 10, Obstacle: coreFonts})
	}
	return r
}

func compliantRow(k workload.NoteKind) harness.Row {
	const kb = 1000
	r := rowOf(k, compliant)
	switch k {
	case workload.Retail:
		r.Goals = append(r.Goals, onePage, harness.Goal{Of: harness.Output, AtMost: 26 * kb})
	case workload.Active:
		r.Goals = append(r.Goals, harness.Goal{Of: harness.Output, AtMost: 32 * kb})
	case workload.HFT:
		r.Goals = append(r.Goals, harness.Goal{Of: harness.Output, AtMost: 520 * kb})
	default:
		r.Contestants = append(r.Contestants, fpdfOf(k))
		r.Goals = append(r.Goals, harness.Goal{Against: fpdfName, AtMost: 1.0 / 6, Obstacle: coreFonts})
	}
	return r
}

func signedRow(k workload.NoteKind) harness.Row {
	r := rowOf(k, signed)
	if k == workload.Retail {
		r.Goals = append(r.Goals, harness.Goal{Of: harness.Output, AtMost: 36_000}) // 10 KB more than unsigned
	} else {
		r.Goals = append(r.Goals, harness.Goal{Against: controlName, AtMost: 0.9, Obstacle: ownWork})
	}
	return r
}

// peersRow has the libraries that take seconds for the mix.
func peersRow() harness.Row {
	const k = workload.NoteKinds
	return harness.Row{
		Name: "mix-peers", Title: "the mix, plain, beside libraries that embed fonts or build grids", Workload: work(k), Batch: batch(k), Rounds: 8,
		Contestants: []harness.Contestant{
			own("quire", plain, quire(k, plain)),
			{Name: fpdfFont, Module: fpdfModule, Needs: tools(), Open: drawn(k, newFpdf(true)), Note: "Liberation Sans, no shaping, no template"},
			{Name: gopdfName, Module: gopdfModule, Needs: tools(), Open: drawn(k, newGopdf), Note: "Liberation Sans, no shaping, no template"},
			{Name: marotoName, Module: marotoModule, Needs: tools(), Open: drawn(k, newMaroto()), Note: "core fonts, no shaping, no template"},
		},
		Goals: []harness.Goal{
			{Against: fpdfFont, AtMost: 1.0 / 50, Obstacle: noShaping},
			{Against: gopdfName, AtMost: 1.0 / 50, Obstacle: noShaping},
			{Against: marotoName, AtMost: 1.0 / 100},
		},
	}
}

// twoWorkers is what a second processor is worth, beside what it is worth to SHA-256.
func twoWorkers(k workload.NoteKind, f form) harness.Row {
	const two, one, hashTwo, hashOne = "quire, two workers", "quire, one worker", "SHA-256, two workers", "SHA-256, one worker"
	note := "blocks of 256 KiB"
	return harness.Row{
		Name: k.String() + "-" + f.String() + "-2", Title: title(k) + ", " + titles[f] + ", by two workers", Workload: work(k),
		Batch: 20 * workload.MixLength, Procs: 2, Primary: harness.Time,
		Contestants: []harness.Contestant{
			own(two, f, quireBy(2, k, f)),
			own(one, f, quireBy(1, k, f)),
			{Name: hashTwo, Open: hashing(2), Note: note},
			{Name: hashOne, Open: hashing(1), Note: note},
		},
		Goals: []harness.Goal{{Against: one, Scale: [2]string{hashTwo, hashOne}, AtMost: 1 / 0.95}},
	}
}

// logo shows what an image costs that every document has.
func logo() harness.Row {
	const without = "quire, without"
	return harness.Row{
		Name: "logo", Title: "a retail note with the logo of the sample beside one without", Workload: work(workload.Retail), Batch: batch(workload.Retail),
		Contestants: []harness.Contestant{
			own("quire, with the logo", compliant, quireLogo(true)),
			own(without, compliant, quireLogo(false)),
		},
		Goals: []harness.Goal{{Against: without, AtMost: 1.05}},
	}
}
