package crypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // G501: the standard's revisions 2 to 4
	"crypto/rc4" //nolint:gosec // G503: the standard's revisions 2 to 4
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrPassword is the error of a password that opens nothing.
var ErrPassword = errors.New("crypt: wrong password")

// Method is how a crypt filter encrypts (table 25).
type Method string

// The methods.
const (
	Identity Method = "Identity" // not at all
	RC4      Method = "V2"
	AES128   Method = "AESV2"
	AES256   Method = "AESV3"
)

// Locked has the entries of a file's encryption dictionary (tables 20 and 21).
type Locked struct {
	V, R   int
	Length int    // bits of the key; 0: 40
	P      int32  // permissions
	O, U   []byte // 32 bytes to revision 4, then 48
	OE, UE []byte // from revision 5
	ID     []byte // first half of the file's identifier
	// PlainMetadata says that metadata streams are not encrypted.
	PlainMetadata bool
	// Filters are the crypt filters by name; Strings and Streams name those of strings and streams.
	// From V 4 on.
	Filters          map[string]Method
	Strings, Streams string
}

// Key decrypts a document. It is safe for concurrent use.
type Key struct {
	// Owner reports that the password was the owner's, which allows everything.
	Owner bool

	permissions      Permissions
	file             []byte
	filters          map[string]Method
	strings, streams Method
	metadata         Method
}

// padding fills a password up to 32 bytes (algorithm 2).
const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// Open returns the key of a document that password opens, the user's or the owner's; ErrPassword
// when it is neither. It reads revisions 2 to 6 of the standard security handler, those with
// RC4, AES-128 and AES-256; other values are an error that names them.
func Open(l Locked, password string) (*Key, error) {
	k := &Key{filters: l.Filters, permissions: Permissions(uint32(l.P)) & All} //nolint:gosec // G115: the bits are meant
	switch {
	case (l.V == 1 || l.V == 2 || l.V == 3) && (l.R == 2 || l.R == 3):
		k.strings, k.streams = RC4, RC4
	case l.V == 4 && l.R == 4, l.V == 5 && (l.R == 5 || l.R == 6):
		var err error
		if k.strings, err = l.method(l.Strings); err != nil {
			return nil, err
		}
		if k.streams, err = l.method(l.Streams); err != nil {
			return nil, err
		}
	default:
		return nil, &ConfigError{"Encrypt", fmt.Sprintf("version %d, revision %d", l.V, l.R), "revision 2 to 6 of the standard security handler"}
	}
	if k.metadata = k.streams; l.PlainMetadata {
		k.metadata = Identity
	}
	unlock := k.old
	if l.R >= 5 {
		unlock = k.modern
	}
	if err := unlock(l, password); err != nil {
		return nil, err
	}
	return k, nil
}

// Method returns how streams are encrypted.
func (k *Key) Method() Method { return k.streams }

// Allowed returns what the user may do. The owner's password allows everything.
func (k *Key) Allowed() Permissions {
	if k.Owner {
		return All
	}
	return k.permissions
}

func (l Locked) method(name string) (Method, error) {
	if name == "" || name == string(Identity) {
		return Identity, nil
	}
	switch m := l.Filters[name]; m {
	case "None", Identity:
		return Identity, nil
	case RC4, AES128, AES256:
		return m, nil
	default:
		return "", &ConfigError{"crypt filter " + name, string(m), "V2, AESV2 or AESV3"}
	}
}

// modern finds the key of revisions 5 and 6 (algorithm 2.A).
func (k *Key) modern(l Locked, password string) error {
	if len(l.O) < 48 || len(l.U) < 48 || len(l.OE) < 32 || len(l.UE) < 32 {
		return &ConfigError{"Encrypt", "O, U, OE or UE too short", "48 and 32 bytes"}
	}
	digest := hash
	if l.R == 5 {
		digest = func(password, salt, u []byte) []byte {
			s := sha256.Sum256(bytes.Join([][]byte{password, salt, u}, nil))
			return s[:]
		}
	}
	tries := [][]byte{[]byte(password)[:min(len(password), maxPassword)]}
	if p, err := prepare("password", password); err == nil && !bytes.Equal(p, tries[0]) {
		tries = append([][]byte{p}, tries...)
	}
	for _, p := range tries {
		for _, owner := range []bool{true, false} {
			check, wrapped, u := l.U, l.UE, []byte(nil)
			if owner {
				check, wrapped, u = l.O, l.OE, l.U[:48]
			}
			if subtle.ConstantTimeCompare(digest(p, check[32:40], u), check[:32]) == 0 {
				continue
			}
			block, err := aes.NewCipher(digest(p, check[40:48], u))
			if err != nil {
				return fmt.Errorf("crypt: %w", err)
			}
			k.Owner, k.file = owner, make([]byte, 32)
			cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(k.file, wrapped[:32])
			return nil
		}
	}
	return ErrPassword
}

// old finds the key of revisions 2 to 4 (algorithms 2, 6 and 7).
func (k *Key) old(l Locked, password string) error {
	n := l.Length / 8
	if l.R == 2 || n == 0 {
		n = 5
	}
	if l.V == 4 {
		n = 16
	}
	if len(l.O) < 32 || len(l.U) < 32 || n < 5 || n > 16 {
		return &ConfigError{"Encrypt", "O, U or Length of wrong length", "32 bytes and 40 to 128 bits"}
	}
	for _, p := range [][]byte{[]byte(password), latin(password)} {
		if k.file = l.userKey(p, n); k.file != nil {
			k.Owner = false
			return nil
		}
		if k.file = l.userKey(l.userPassword(p, n), n); k.file != nil {
			k.Owner = true
			return nil
		}
	}
	return ErrPassword
}

// latin is s with one byte a character, as PDFDocEncoding has those of Latin-1.
func latin(s string) (b []byte) {
	for _, r := range s {
		b = append(b, byte(r)) //nolint:gosec // G115: what is not of Latin-1 makes a wrong password
	}
	return b
}

func padded(p []byte) []byte { return append(append([]byte(nil), p...), padding...)[:32] }

// userKey returns the key that a user password makes, nil when it is not that of the file.
func (l Locked) userKey(password []byte, n int) []byte {
	h := md5.New() //nolint:gosec // G401: algorithm 2
	h.Write(padded(password))
	h.Write(l.O[:32])
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(l.P))) //nolint:gosec // G115: the bits are meant
	h.Write(l.ID)
	if l.R >= 4 && l.PlainMetadata {
		h.Write([]byte{0xFF, 0xFF, 0xFF, 0xFF})
	}
	key := h.Sum(nil)
	if l.R >= 3 {
		for range 50 {
			s := md5.Sum(key[:n]) //nolint:gosec // G401: algorithm 2
			key = s[:]
		}
	}
	key = key[:n]
	if l.R == 2 {
		if bytes.Equal(rc4ed(key, []byte(padding)), l.U[:32]) {
			return key
		}
		return nil
	}
	s := md5.Sum(append([]byte(padding), l.ID...)) //nolint:gosec // G401: algorithm 5
	u := s[:]
	for i := range byte(20) {
		u = rc4ed(xored(key, i), u)
	}
	if bytes.Equal(u, l.U[:16]) {
		return key
	}
	return nil
}

// userPassword returns the user password that the owner's unlocks (algorithm 7).
func (l Locked) userPassword(owner []byte, n int) []byte {
	s := md5.Sum(padded(owner)) //nolint:gosec // G401: algorithm 3
	key := s[:]
	if l.R >= 3 {
		for range 50 {
			s := md5.Sum(key) //nolint:gosec // G401: algorithm 3
			key = s[:]
		}
	}
	key = key[:n]
	p := l.O[:32]
	if l.R == 2 {
		return rc4ed(key, p)
	}
	for i := 19; i >= 0; i-- {
		p = rc4ed(xored(key, byte(i)), p)
	}
	return p
}

func xored(key []byte, by byte) []byte {
	out := make([]byte, len(key))
	for i := range key {
		out[i] = key[i] ^ by
	}
	return out
}

func rc4ed(key, data []byte) []byte {
	c, err := rc4.NewCipher(key) //nolint:gosec // G405: the standard's revisions 2 to 4
	if err != nil {
		panic(err) // a key has 5 to 16 bytes
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}

// DecryptString decrypts a string of object num, generation gen.
func (k *Key) DecryptString(num uint32, gen uint16, data []byte) ([]byte, error) {
	return k.decrypt(k.strings, num, gen, data)
}

// DecryptStream decrypts the data of a stream. filter names its crypt filter: "" is the file's
// default, "Metadata" the one for the file's metadata.
func (k *Key) DecryptStream(num uint32, gen uint16, filter string, data []byte) ([]byte, error) {
	m := k.streams
	switch filter {
	case "":
	case "Metadata":
		m = k.metadata
	default:
		var err error
		if m, err = (Locked{Filters: k.filters}).method(filter); err != nil {
			return nil, err
		}
	}
	return k.decrypt(m, num, gen, data)
}

// decrypt undoes algorithm 1 or 1.A.
func (k *Key) decrypt(m Method, num uint32, gen uint16, data []byte) ([]byte, error) {
	if m == Identity || len(data) == 0 {
		return data, nil
	}
	key := k.file
	if m != AES256 {
		salt := []byte{byte(num), byte(num >> 8), byte(num >> 16), byte(gen), byte(gen >> 8)} //nolint:gosec // G115: the bytes of the numbers
		if m == AES128 {
			salt = append(salt, "sAlT"...)
		}
		s := md5.Sum(append(append([]byte(nil), key...), salt...)) //nolint:gosec // G401: algorithm 1
		key = s[:min(len(key)+5, 16)]
	}
	if m == RC4 {
		return rc4ed(key, data), nil
	}
	if len(data) < aes.BlockSize || len(data)%aes.BlockSize != 0 {
		return nil, errors.New("encrypted data that is not a multiple of the block size")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("crypt: %w", err)
	}
	out := make([]byte, len(data)-aes.BlockSize)
	cipher.NewCBCDecrypter(block, data[:aes.BlockSize]).CryptBlocks(out, data[aes.BlockSize:])
	if len(out) == 0 {
		return out, nil
	}
	pad := int(out[len(out)-1])
	if pad == 0 || pad > aes.BlockSize || pad > len(out) {
		return nil, errors.New("encrypted data with wrong padding")
	}
	return out[:len(out)-pad], nil
}
