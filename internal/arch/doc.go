// Package arch enforces the import rules of ARCHITECTURE.md: its tests fail if one is broken.
//
// ARCHITECTURE.md has the rules with their reasons. Third-party modules are allowed only in the
// packages that leaves.txt lists, so that a program that imports one library builds that library
// and its few dependencies, never those of the server.
package arch
