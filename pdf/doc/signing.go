package doc

// Signing asks for a signature of the document while it is made, as PAdES. Who makes it has the
// keys: pdf.RenderOptions.Signers.
type Signing struct {
	Src    *Source
	Signer string // name of the key
	// Field is the full name of the signature field in which the signature is shown; empty: it is
	// invisible.
	Field string
	// Name is the signer, by default the common name of the certificate. Viewers show Reason,
	// Location and Contact.
	Name, Reason, Location, Contact string
	Level                           SignatureLevel
	Certify                         Certification
}

// SignatureLine is what a line of a visible signature says.
type SignatureLine uint8

// The lines. One that has nothing to say is left out.
const (
	LineName SignatureLine = iota
	LineTime
	LineReason
	LineLocation
	numSignatureLines
)

// SignatureLines have what each line says.
type SignatureLines [numSignatureLines]string

// Shown returns the lines of some kinds, nil for all of them, that say something.
func (l *SignatureLines) Shown(kinds []SignatureLine) (lines []string) {
	if kinds == nil {
		kinds = []SignatureLine{LineName, LineTime, LineReason, LineLocation}
	}
	for _, k := range kinds {
		if k < numSignatureLines && l[k] != "" {
			lines = append(lines, l[k])
		}
	}
	return lines
}

// SignatureLevel is a level of PAdES (ETSI EN 319 142-1).
type SignatureLevel uint8

// The levels.
const (
	LevelAuto SignatureLevel = iota // B-T if the signer has a time-stamp authority, else B-B
	LevelBB                         // without a time stamp
	LevelBT                         // with one; a signer without an authority is an error
)

// Certification says which changes an author's signature allows (ISO 32000-2, 12.8.2.2).
type Certification uint8

// The certifications.
const (
	NoCertification    Certification = iota
	CertifyNoChanges                 // nothing
	CertifyFormFilling               // filling fields and signing
	CertifyAnnotations               // filling fields, signing and notes
)
