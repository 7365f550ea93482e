// Package path is the suite of the main path: data comes in as JSON, a page goes
// out as PDF, in process and over HTTP, and is read again.
package path

import (
	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/load"
	"example.com/quire/bench/internal/nginx"
	"example.com/quire/bench/workload"
)

// pdftotext reads the text out of a page: the judge of every output.
var pdftotext = harness.Tool{Name: "pdftotext", Install: "apt-get install poppler-utils", Version: []string{"-v"}}

const invoiceText = "One A4 page: heading, dates, customer, twelve lines with quantity, price and amount, three totals, footer with the page's number; " +
	"names, articles, quantities and prices are new in every document."

func invoiceWork(name string) harness.Workload {
	return harness.Workload{Name: name, Version: 1, Seed: workload.Seed, Text: invoiceText}
}

// Suite returns the rows.
func Suite() harness.Suite {
	return harness.Suite{
		Name:  "path",
		Title: "The main path: JSON to PDF, served and read",
		About: "The same one-page invoice by every contestant, from the same JSON bytes. Decoding is inside the timer; totals are " +
			"computed by the template or by the contestant's code. pdftotext must find every name and amount on exactly one page. " +
			"quire embeds a subset of Liberation Sans; fpdf and maroto stand here with the core fonts, which are not embedded, " +
			"and fpdf with the embedded font too. What each leaves out stands below its row.",
		NotShown: []string{
			"Typography: quire kerns, composes accents and breaks lines where UAX #14 allows; the peers set words left to right.",
			"Compliance: only the contestant named so is tagged and archival.",
			"Identical documents again and again: every document's data is new, and no contestant keeps finished output.",
			"Signatures, images and long documents.",
			"In the server rows, log files: quire writes its access log to a file, the peers write none.",
		},
		Rows: []harness.Row{
			{
				Name: "invoice", Title: "a one-page invoice in process", Workload: invoiceWork("invoice"),
				Contestants: []harness.Contestant{
					{Name: "quire", Own: true, Needs: tools(), Open: quire(false)},
					{Name: "quire, PDF/A-4 and PDF/UA-2", Own: true, Needs: tools(), Open: quire(true), Note: "tagged and archival"},
					{Name: "fpdf", Module: fpdfModule, Needs: tools(), Open: drawn(newFpdf(false)), Note: "core fonts, no shaping, no template"},
					{Name: "fpdf, font embedded", Module: fpdfModule, Needs: tools(), Open: drawn(newFpdf(true)), Note: "Liberation Sans, no shaping, no template"},
					{Name: "maroto", Module: marotoModule, Needs: tools(), Open: drawn(newMaroto()), Note: "core fonts, no shaping, no template"},
				},
				Goals: []harness.Goal{
					{Against: "fpdf", AtMost: 1.0 / 3},
					{Against: "fpdf, font embedded", AtMost: 1.0 / 3},
					{Against: "maroto", AtMost: 1.0 / 3},
				},
			},
			{
				Name: "invoice-http", Title: "the same over HTTP", Workload: invoiceWork("invoice"), Load: renderPlan(),
				Contestants: []harness.Contestant{
					{Name: "quire", Own: true, Needs: tools(), Quire: true, Serve: serveRender, Note: "quire serve, POST /v1/render, access log on"},
					{Name: "fpdf", Module: fpdfModule, Needs: tools(), Serve: servePeer(newFpdf(false)), Note: "behind net/http"},
					{Name: "maroto", Module: marotoModule, Needs: tools(), Serve: servePeer(newMaroto()), Note: "behind net/http"},
				},
				Goals: []harness.Goal{
					{Against: "fpdf", AtMost: 1.0 / 3},
					{Against: "maroto", AtMost: 1.0 / 3},
				},
			},
			{
				Name: "first-page", Title: "waiting for a page over HTTP beside making it in process", Workload: invoiceWork("invoice"), Primary: harness.Time,
				Contestants: []harness.Contestant{
					{Name: "over HTTP", Own: true, Needs: tools(), Quire: true, Open: client, Note: "one keep-alive connection to quire serve on the same core"},
					{Name: "in process", Own: true, Needs: tools(), Open: quire(false)},
				},
				Goals: []harness.Goal{{Against: "in process", AtMost: 2}},
			},
			{
				Name: "stored", Title: "a stored document read through /d/", Load: storedPlan(),
				Workload: harness.Workload{
					Name: "stored-invoice", Version: 1, Seed: workload.Seed,
					Text: "Sixteen stored invoices asked for in turn; the body's SHA-256 is the document's address and is checked.",
				},
				Contestants: []harness.Contestant{
					{Name: "quire, public", Own: true, Quire: true, Serve: serveStored(true), Note: "the report of the documents is public"},
					{Name: "quire, private", Own: true, Quire: true, Serve: serveStored(false), Note: "the space is checked and the file is read and hashed for each request"},
					{Name: "net/http", Serve: serveMemory, Note: "the same bytes from a map in memory, no access check, no log"},
					{Name: "nginx", Needs: []harness.Tool{nginx.Tool}, Serve: serveNginx, Note: "the same bytes from files, no access check, no log"},
				},
				Goals: []harness.Goal{{Against: "net/http", AtMost: 0.65}},
			},
		},
	}
}

func tools() []harness.Tool { return []harness.Tool{pdftotext} }

func renderPlan() *load.Plan {
	return &load.Plan{
		Text: "POST /v1/render over 8 connections", Conns: 8,
		Request: func(dst []byte, _ string, i int) []byte {
			body := appendRequest(nil, i)
			return append(appendPost(dst, "/v1/render", len(body)), body...)
		},
		Check: func(_ int, a load.Answer) error { return looksLikePDF(a) },
		Deep: func(i int, a load.Answer) error {
			if err := looksLikePDF(a); err != nil {
				return err
			}
			return checkPage(i, a.Body)
		},
	}
}
