// Package arch enforces the import rules of ARCHITECTURE.md: its tests fail the build when one is
// broken.
//
// The rules, with the reason for each, stand in ARCHITECTURE.md. Third-party modules are
// allowed to the packages that leaves.txt lists and to no others, so that a program that
// imports one library builds that library and its few leaves, never the server's.
package arch
