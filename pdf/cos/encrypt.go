package cos

import (
	"encoding/hex"
	"io"
	"slices"
)

// Encryption says how the strings and streams of a file are encrypted (ISO 32000-2, 7.6). Strings
// given as [Raw] or inside other types of the caller are allowed only in object streams, which are
// encrypted as a whole.
type Encryption struct {
	Cipher Cipher
	Dict   Dict // the encryption dictionary, which stays plain
	// PlainMetadata leaves metadata streams plain, as the dictionary must say too.
	PlainMetadata bool
}

// Cipher encrypts one string or stream after the other; what Reader returned is read meanwhile.
type Cipher interface {
	// Encrypt appends the encrypted data to dst.
	Encrypt(dst, data []byte) ([]byte, error)
	// Reader returns what reads size bytes of data encrypted, to the bytes of Encrypt, and how many
	// that are.
	Reader(data io.Reader, size int64) (io.Reader, int64, error)
}

// secretDict returns the dictionary of a stream as it is in the file, and whether its data is
// encrypted.
func (w *Writer) secretDict(dict Dict) (Dict, bool, error) {
	e := w.opt.Encrypt
	if e == nil || e.PlainMetadata && dict.Get("Type") == Name("Metadata") {
		return dict, false, nil
	}
	o, err := w.sealed(dict)
	dict, _ = o.(Dict) // sealed returns what it was given
	return dict, true, err
}

// sealed returns an object whose strings are encrypted, when the file is.
func (w *Writer) sealed(o Object) (Object, error) {
	if w.opt.Encrypt == nil {
		return o, nil
	}
	var text []byte
	switch v := o.(type) {
	case String:
		text = []byte(v)
	case Hex:
		text = []byte(v)
	case Text, Date:
		text = unquoted(o.AppendPDF(nil))
	case Array:
		out := slices.Clone(v)
		for i := range out {
			var err error
			if out[i], err = w.sealed(out[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case Dict:
		out := slices.Clone(v)
		for i := range out {
			var err error
			if out[i].Value, err = w.sealed(out[i].Value); err != nil {
				return nil, err
			}
		}
		return out, nil
	default:
		return o, nil
	}
	enc, err := w.opt.Encrypt.Cipher.Encrypt(nil, text)
	return Hex(enc), err
}

// unquoted returns the bytes of a string that AppendText or AppendDate printed.
func unquoted(b []byte) []byte {
	inner := b[1 : len(b)-1]
	if b[0] == '<' {
		out := make([]byte, hex.DecodedLen(len(inner)))
		n, _ := hex.Decode(out, inner) // digits that were printed here
		return out[:n]
	}
	out := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c == '\\' {
			i++
			switch c = inner[i]; c {
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			}
		}
		out = append(out, c)
	}
	return out
}
