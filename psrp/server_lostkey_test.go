package psrp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"slices"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/conformance"
	"example.com/quire/psrp/proto"
)

// lostKey stands for the session key of a recording, which went with its session: the recorded
// client's RSA key is replaced by another, and its secrets by another text.
type lostKey struct {
	private *rsa.PrivateKey
	block   cipher.Block
}

const otherSecret = "another"

// rekey writes the client's messages anew, each in a fragment.
func (r *serverReplay) rekey(messages []conformance.Message) ([]byte, error) {
	var out []byte
	for _, m := range messages {
		body := m.Body
		var err error
		switch {
		case m.Header.Type == proto.MessagePublicKey:
			r.key = &lostKey{}
			if r.key.private, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
				return nil, err
			}
			n := r.key.private.N.FillBytes(make([]byte, 256))
			slices.Reverse(n)
			blob := append([]byte{6, 2, 0, 0, 0, 0xA4, 0, 0, 'R', 'S', 'A', '1', 0, 8, 0, 0, 1, 0, 1, 0}, n...)
			body, err = proto.AppendBody(nil, &clixml.Encoder{}, &proto.PublicKey{Blob: blob}, clixml.NewVersion(2, 3))
		case r.key != nil:
			if err = r.open(); err == nil {
				body, err = otherSecrets(body, r.key)
			}
		}
		if err != nil {
			return nil, err
		}
		r.objects++
		message := proto.AppendMessage(nil, m.Header, body)
		out = proto.AppendFragments(out, 1<<20+r.objects, message, 32<<10)
	}
	return out, nil
}

// open reads the session key that our server has sent.
func (r *serverReplay) open() error {
	if r.key.block != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.got[clixml.GUID{}] {
		if m.Header.Type != proto.MessageEncryptedSessionKey {
			continue
		}
		v, err := proto.DecodeMessage(m.Header.Type, m.Body, &clixml.Decoder{})
		if err != nil {
			return err
		}
		sealed := slices.Clone(v.(*proto.EncryptedSessionKey).Blob[12:])
		slices.Reverse(sealed)
		key, err := rsa.DecryptPKCS1v15(nil, r.key.private, sealed) //nolint:staticcheck // SA1019: MS-PSRP 2.2.2.4 knows no other
		if err != nil {
			return err
		}
		r.key.block, err = aes.NewCipher(key)
		return err
	}
	return errors.New("the server has sent no session key")
}

// otherSecrets writes a body anew with other texts of its SecureStrings, sealed by key or, without,
// in the clear.
func otherSecrets(body []byte, key *lostKey) ([]byte, error) {
	if len(body) == 0 {
		return body, nil
	}
	v, err := (&clixml.Decoder{}).Decode(body)
	if err != nil {
		return nil, err
	}
	v = conformance.Walk(v, func(v *clixml.Value) {
		if v.Kind() == clixml.KindSecureString {
			*v = clixml.NewSecureString(otherSecret).Value()
		}
	})
	e := clixml.Encoder{Cipher: conformance.ClearDecoder().Cipher}
	if key != nil {
		e.Cipher = key
	}
	return e.AppendValue(nil, v)
}

// decoder reads what our server has sealed; of no key, what it has sent in the clear.
func (k *lostKey) decoder() *clixml.Decoder {
	if k == nil {
		return conformance.ClearDecoder()
	}
	return &clixml.Decoder{Cipher: k}
}

// Encrypt is AES-256-CBC with PKCS #7 padding and a vector of zeros.
func (k *lostKey) Encrypt(dst, text []byte) ([]byte, error) {
	pad := aes.BlockSize - len(text)%aes.BlockSize
	padded := slices.Clone(text)
	for range pad {
		padded = append(padded, byte(pad))
	}
	cipher.NewCBCEncrypter(k.block, make([]byte, aes.BlockSize)).CryptBlocks(padded, padded) //nolint:gosec // G407: MS-PSRP 2.2.5.1.24 says so
	return append(dst, padded...), nil
}

// Decrypt undoes Encrypt.
func (k *lostKey) Decrypt(dst, data []byte) ([]byte, error) {
	text := slices.Clone(data)
	cipher.NewCBCDecrypter(k.block, make([]byte, aes.BlockSize)).CryptBlocks(text, text)
	return append(dst, text[:len(text)-int(text[len(text)-1])]...), nil
}
