package machine

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"
)

// The session key (MS-PSRP 2.2.2.3, 2.2.2.4 and 2.2.5.1.24): the client's RSA public key goes out
// as a PUBLICKEYBLOB, the server's AES-256 key comes back as a SIMPLEBLOB. Both hold their large
// numbers with the least significant byte first.

const (
	modulusSize = 256
	keySize     = 32
)

// publicBlobHeader is type PUBLICKEYBLOB, version 2, CALG_RSA_KEYX, "RSA1", 2048 bits, exponent
// 65537.
func publicBlobHeader() []byte {
	return []byte{6, 2, 0, 0, 0, 0xA4, 0, 0, 'R', 'S', 'A', '1', 0, 8, 0, 0, 1, 0, 1, 0}
}

// simpleBlobHeader is type SIMPLEBLOB, version 2, CALG_AES_256, encrypted with CALG_RSA_KEYX.
func simpleBlobHeader() []byte { return []byte{1, 2, 0, 0, 0x10, 0x66, 0, 0, 0, 0xA4, 0, 0} }

// publicKeyBlob writes the client's key, which has 2048 bits.
func publicKeyBlob(k *rsa.PublicKey) ([]byte, error) {
	if k.N.BitLen() != modulusSize*8 || k.E != 65537 {
		return nil, errors.New("the RSA key is not one of 2048 bits with exponent 65537")
	}
	n := k.N.FillBytes(make([]byte, modulusSize))
	slices.Reverse(n)
	return append(publicBlobHeader(), n...), nil
}

func parsePublicKeyBlob(b []byte) (*rsa.PublicKey, error) {
	h := publicBlobHeader()
	if len(b) != len(h)+modulusSize || !bytes.Equal(b[:16], h[:16]) {
		return nil, errors.New("not a PUBLICKEYBLOB of a 2048-bit RSA key")
	}
	e := binary.LittleEndian.Uint32(b[16:])
	if e < 3 || e%2 == 0 || e > 1<<31-1 {
		return nil, errors.New("the public exponent is not an odd number from 3 to 2^31-1")
	}
	n := slices.Clone(b[20:])
	slices.Reverse(n)
	k := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(e)}
	if k.N.BitLen() != modulusSize*8 {
		return nil, errors.New("the modulus has less than 2048 bits")
	}
	return k, nil
}

// sealSessionKey writes the server's answer.
func sealSessionKey(k *rsa.PublicKey, key []byte) ([]byte, error) {
	c, err := rsa.EncryptPKCS1v15(rand.Reader, k, key) //nolint:staticcheck // SA1019: MS-PSRP 2.2.2.4 knows no other
	if err != nil {
		return nil, err
	}
	slices.Reverse(c)
	return append(simpleBlobHeader(), c...), nil
}

// openSessionKey reads the server's answer.
func openSessionKey(k *rsa.PrivateKey, b []byte) ([]byte, error) {
	h := simpleBlobHeader()
	if len(b) != len(h)+modulusSize || !bytes.Equal(b[:len(h)], h) {
		return nil, errors.New("not a SIMPLEBLOB of an AES-256 key")
	}
	c := slices.Clone(b[len(h):])
	slices.Reverse(c)
	key, err := rsa.DecryptPKCS1v15(nil, k, c) //nolint:staticcheck // SA1019: MS-PSRP 2.2.2.4 knows no other; one try a session
	if err != nil || len(key) != keySize {
		return nil, errors.New("the session key cannot be decrypted")
	}
	return key, nil
}

// sessionKey is a clixml.Cipher: AES-256-CBC with PKCS #7 padding and an initial vector of zeros,
// as every PowerShell does it. The key is used for nothing else.
type sessionKey struct{ key []byte }

func (s *sessionKey) Encrypt(dst, text []byte) ([]byte, error) {
	block, err := aes.NewCipher(s.key)
	if err != nil {
		return nil, err
	}
	from := len(dst)
	pad := aes.BlockSize - len(text)%aes.BlockSize
	dst = append(dst, text...)
	for range pad {
		dst = append(dst, byte(pad))
	}
	cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(dst[from:], dst[from:]) //nolint:gosec // G407: MS-PSRP 2.2.5.1.24 says so
	return dst, nil
}

func (s *sessionKey) Decrypt(dst, data []byte) ([]byte, error) {
	block, err := aes.NewCipher(s.key)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || len(data)%aes.BlockSize != 0 {
		return nil, errors.New("not whole blocks of AES")
	}
	from := len(dst)
	dst = append(dst, data...)
	text := dst[from:]
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(text, text)
	pad := int(text[len(text)-1])
	if pad == 0 || pad > aes.BlockSize {
		return nil, errPadding
	}
	for _, b := range text[len(text)-pad:] {
		if int(b) != pad {
			return nil, errPadding
		}
	}
	return dst[:len(dst)-pad], nil
}

var errPadding = errors.New("wrong session key or damaged text")

// zero forgets the key.
func (s *sessionKey) zero() {
	clear(s.key)
	s.key = nil
}

// clearCipher is protocol 2.4: the text as it is, for transports that nobody reads along.
type clearCipher struct{}

func (clearCipher) Encrypt(dst, text []byte) ([]byte, error) { return append(dst, text...), nil }
func (clearCipher) Decrypt(dst, data []byte) ([]byte, error) { return append(dst, data...), nil }
