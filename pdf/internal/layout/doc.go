// Package layout turns a document into pages: it breaks the nodes of package doc
// into lines, rows and pages and yields page frames, placed in integers of 1/1024
// point.
package layout
