package doc

// Protection asks for the document to be encrypted with AES-256. It is then made anew each time,
// with another key, and is not signed.
type Protection struct {
	Src   *Source
	Owner string // password for everything; required, and not the user's
	User  string // password for reading; empty: anyone may
	// Permissions are what who reads it may do, by the names of crypt.PermissionNames.
	Permissions []string
	// PlainMetadata leaves the metadata readable, so that the document can be recognised without a
	// password.
	PlainMetadata bool
}
