// Package crypt encrypts documents with AES-256, revision 6 of the standard security handler (ISO
// 32000-2, 7.6.4), the only revision that the standard has not deprecated.
//
// A reader who opens a document with the user password may do what [Permissions] allow. This is a
// request to programs; nothing enforces it. The owner password allows everything. Content that
// must stay secret needs a user password.
//
// [Open] reads files that were encrypted with this and all earlier revisions, including RC4. Only
// revision 6 is written.
package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/xdg-go/stringprep"
)

// Permissions are what a reader who opens a document with the user password may do (table 22).
type Permissions uint32

// The permissions. Reading aloud and by other assistive technology is always allowed.
const (
	Print     Permissions = 1 << 2  // in a quality of at most 150 dpi without PrintHigh
	Modify    Permissions = 1 << 3  // change content other than comments and fields
	Copy      Permissions = 1 << 4  // copy text and graphics
	Annotate  Permissions = 1 << 5  // comments, and filling in with Fill
	Fill      Permissions = 1 << 8  // fill in fields and sign
	Assemble  Permissions = 1 << 10 // insert, delete and turn pages
	PrintHigh Permissions = 1 << 11

	All = Print | Modify | Copy | Annotate | Fill | Assemble | PrintHigh
)

// permissionNames are the names of permissions, in the order of their bits.
var permissionNames = [...]struct {
	name string
	p    Permissions
}{
	{"print", Print}, {"modify", Modify}, {"copy", Copy}, {"annotate", Annotate}, {"fill", Fill}, {"assemble", Assemble}, {"print-high", PrintHigh},
}

// PermissionNames returns the names that [ParsePermission] takes.
func PermissionNames() (names []string) {
	for _, x := range permissionNames {
		names = append(names, x.name)
	}
	return names
}

// ParsePermission returns the permission of a name; ok is false for a name of none.
func ParsePermission(name string) (p Permissions, ok bool) {
	for _, x := range permissionNames {
		if x.name == name {
			return x.p, true
		}
	}
	return 0, false
}

// Names returns the names of the permissions in p.
func (p Permissions) Names() []string {
	names := []string{}
	for _, x := range permissionNames {
		if p&x.p != 0 {
			names = append(names, x.name)
		}
	}
	return names
}

// always are the bits that revision 6 has set: 7 and 8, 10 (extraction for accessibility), and 13
// to 32.
const always = 1<<6 | 1<<7 | 1<<9 | 0xFFFFF000

// Options are the passwords and permissions. An owner password is required; the zero value is an
// error.
type Options struct {
	Owner       string // password for everything; required, and not the user's
	User        string // password for reading; empty: anyone may
	Permissions Permissions
	// PlainMetadata leaves the XMP packet readable, so that a document of record can be
	// recognised without a password.
	PlainMetadata bool
}

// ConfigError reports an option that cannot be.
type ConfigError struct{ Field, Got, Want string }

// Error implements error.
func (e *ConfigError) Error() string {
	return "crypt: " + e.Field + ": want " + e.Want + ", got " + e.Got
}

// maxPassword is what counts of a password (7.6.4.3.3).
const maxPassword = 127

// Handler encrypts one document. Its fields are those of the encryption dictionary (table 21). It
// is not safe for concurrent use.
type Handler struct {
	O, U   []byte // 48 bytes
	OE, UE []byte // 32
	Perms  []byte // 16
	P      int32

	block cipher.Block
	rand  io.Reader
}

// Check returns a *ConfigError if the options cannot be.
func (o *Options) Check() error {
	_, _, err := o.passwords()
	return err
}

// passwords checks the options and returns the passwords as they are used.
func (o *Options) passwords() (owner, user []byte, err error) {
	if owner, err = prepare("Owner", o.Owner); err != nil {
		return nil, nil, err
	}
	if user, err = prepare("User", o.User); err != nil {
		return nil, nil, err
	}
	switch {
	case len(owner) == 0:
		err = &ConfigError{"Owner", "nothing", "a password"}
	case string(owner) == string(user):
		err = &ConfigError{"Owner", "the user password", "another one than the user's: it would allow everything"}
	case o.Permissions&^All != 0:
		err = &ConfigError{"Permissions", fmt.Sprintf("%#x", uint32(o.Permissions)), "a sum of the permissions"}
	}
	return owner, user, err
}

// New makes the key of a document and the entries with which the passwords unlock it. rand gives
// the key, the salts and the initialisation vectors; it must not repeat itself.
func New(o Options, rand io.Reader) (*Handler, error) {
	owner, user, err := o.passwords()
	if err != nil {
		return nil, err
	}
	var secret [32 + 4*8 + 4]byte // key, salts of both passwords, padding of Perms
	if _, err := io.ReadFull(rand, secret[:]); err != nil {
		return nil, fmt.Errorf("crypt: read random bytes: %w", err)
	}
	key, salts := secret[:32], secret[32:64]
	h := &Handler{rand: rand, P: int32(uint32(o.Permissions) | always)} //nolint:gosec // the bits are meant
	h.U = append(hash(user, salts[0:8], nil), salts[:16]...)
	h.UE = wrap(hash(user, salts[8:16], nil), key)
	h.O = append(hash(owner, salts[16:24], h.U), salts[16:32]...)
	h.OE = wrap(hash(owner, salts[24:32], h.U), key)
	if h.block, err = aes.NewCipher(key); err != nil {
		return nil, fmt.Errorf("crypt: %w", err)
	}
	h.Perms = h.perms(!o.PlainMetadata, secret[64:])
	return h, nil
}

// prepare normalises a password (SASLprep, RFC 4013) and cuts what does not count.
func prepare(field, s string) ([]byte, error) {
	p, err := stringprep.SASLprep.Prepare(s)
	if err != nil {
		return nil, &ConfigError{field, "one with characters that nobody can type", "a password that SASLprep (RFC 4013) takes"}
	}
	return []byte(p[:min(len(p), maxPassword)]), nil
}

// perms is algorithm 10.
func (h *Handler) perms(metadata bool, random []byte) []byte {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], 0xFFFFFFFF_00000000|uint64(uint32(h.P))) //nolint:gosec // the bits are meant
	b[8] = 'F'
	if metadata {
		b[8] = 'T'
	}
	copy(b[9:], "adb")
	copy(b[12:], random)
	h.block.Encrypt(b[:], b[:])
	return b[:]
}

// wrap encrypts the key of the document with that of a password (algorithms 8 and 9).
func wrap(by, key []byte) []byte {
	block, err := aes.NewCipher(by)
	if err != nil {
		panic(err) // a hash is 32 bytes long
	}
	out := make([]byte, len(key))
	cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(out, key) //nolint:gosec // a vector of zeros, as the algorithm says
	return out
}

// hash is algorithm 2.B. u is the string U for the owner's password, else nil.
func hash(password, salt, u []byte) []byte {
	first := sha256.New()
	first.Write(password)
	first.Write(salt)
	first.Write(u)
	k := first.Sum(nil)
	var long []byte
	for round := 1; ; round++ {
		long = long[:0]
		for range 64 {
			long = append(append(append(long, password...), k...), u...)
		}
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			panic(err) // 16 bytes are a key
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(long, long)
		sum := 0
		for _, b := range long[:16] {
			sum += int(b) // the number modulo 3 is that of its digits to the base 256, for 256 is 1 modulo 3
		}
		switch sum % 3 {
		case 0:
			s := sha256.Sum256(long)
			k = s[:]
		case 1:
			s := sha512.Sum384(long)
			k = s[:]
		default:
			s := sha512.Sum512(long)
			k = s[:]
		}
		if round >= 64 && int(long[len(long)-1]) <= round-32 {
			return k[:32]
		}
	}
}

// Encrypt appends data as it is stored in an encrypted string or stream: a random initialisation
// vector, then AES-256 in CBC mode with the padding of RFC 8018 (7.6.3.3).
func (h *Handler) Encrypt(dst, data []byte) ([]byte, error) {
	start, size := len(dst), stored(len(data))
	dst = slices.Grow(dst, size)[:start+size]
	vector, body := dst[start:start+aes.BlockSize], dst[start+aes.BlockSize:]
	if _, err := io.ReadFull(h.rand, vector); err != nil {
		return nil, fmt.Errorf("crypt: read random bytes: %w", err)
	}
	whole := len(body) - aes.BlockSize
	pad(body[whole:], data[whole:])
	mode := cipher.NewCBCEncrypter(h.block, vector)
	mode.CryptBlocks(body, data[:whole])
	mode.CryptBlocks(body[whole:], body[whole:])
	return dst, nil
}

// stored is how many bytes so many take when they are encrypted.
func stored[T int | int64](n T) T { return n/aes.BlockSize*aes.BlockSize + 2*aes.BlockSize }

// pad makes the last block of what is left of the data.
func pad(last, left []byte) {
	n := copy(last, left)
	for i := n; i < len(last); i++ {
		last[i] = byte(len(last) - n) //nolint:gosec // G115: at most a block
	}
}

// Reader returns what reads size bytes of data as Encrypt would store them, and how many that are.
func (h *Handler) Reader(data io.Reader, size int64) (io.Reader, int64, error) {
	r := &reader{data: data, size: size}
	if _, err := io.ReadFull(h.rand, r.block[:]); err != nil {
		return nil, 0, fmt.Errorf("crypt: read random bytes: %w", err)
	}
	r.left = r.block[:]
	r.mode = cipher.NewCBCEncrypter(h.block, r.block[:])
	return r, stored(size), nil
}

// reader encrypts what it reads.
type reader struct {
	data  io.Reader
	size  int64 // of the data that is not read yet; -1: the last block is made
	mode  cipher.BlockMode
	block [aes.BlockSize]byte
	left  []byte // of block
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if len(r.left) == 0 && r.size >= 0 {
		if n := int(min(int64(len(p)), r.size)) &^ (aes.BlockSize - 1); n > 0 {
			if err := r.fill(p[:n]); err != nil {
				return 0, err
			}
			r.mode.CryptBlocks(p[:n], p[:n])
			return n, nil
		}
		var plain [aes.BlockSize]byte
		n := int(min(r.size, aes.BlockSize))
		if err := r.fill(plain[:n]); err != nil {
			return 0, err
		}
		if n < aes.BlockSize {
			pad(plain[:], plain[:n])
			r.size = -1
		}
		r.mode.CryptBlocks(r.block[:], plain[:])
		r.left = r.block[:]
	}
	n := copy(p, r.left)
	if r.left = r.left[n:]; n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// fill reads as much data as there is room for.
func (r *reader) fill(p []byte) error {
	n, err := io.ReadFull(r.data, p)
	r.size -= int64(n)
	if errors.Is(err, io.EOF) { // what was told is not there
		err = io.ErrUnexpectedEOF
	}
	return err
}
