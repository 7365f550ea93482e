// Package layout lays out a document: it breaks the nodes of package doc into lines, rows and
// pages and returns page frames, with positions in integers of 1/1024 point.
package layout
