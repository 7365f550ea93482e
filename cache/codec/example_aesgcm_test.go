package codec_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"log"

	"example.com/quire/cache"
	"example.com/quire/cache/codec"
)

// sealed encrypts what another codec writes, so that whoever reads the remote learns no value, and
// whoever writes it makes none up. It hides neither keys nor lengths, and does not say of which key
// a value is: who may write the remote can give one key the sealed value of another.
type sealed[V any] struct {
	plain cache.Codec[V]
	gcm   cipher.AEAD
}

var _ cache.Codec[[]byte] = sealed[[]byte]{}

// newSealed takes a key of 16, 24 or 32 bytes, the same in all nodes. One key is good for 2^32
// values.
func newSealed[V any](plain cache.Codec[V], key []byte) (sealed[V], error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealed[V]{}, err
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	return sealed[V]{plain, gcm}, err
}

// ID is another than that of the codec inside: its bytes are of no use without the key.
func (c sealed[V]) ID() byte { return 33 }

func (c sealed[V]) Append(dst []byte, v V) ([]byte, error) {
	b, err := c.plain.Append(nil, v)
	if err != nil {
		return dst, err
	}
	return c.gcm.Seal(dst, nil, b, nil), nil //nolint:gosec // G407: the AEAD makes nonces itself
}

func (c sealed[V]) Decode(src []byte) (v V, size int, err error) {
	b, err := c.gcm.Open(nil, nil, src, nil)
	if err != nil {
		return v, 0, err
	}
	return c.plain.Decode(b)
}

// A codec that encrypts. With another key, or changed bytes, there is no value: the cache counts it
// (Stats.Malformed) and loads anew.
func Example_aesGCM() {
	c, err := newSealed(codec.Raw{}, bytes.Repeat([]byte{1}, 32)) // take yours from a secret store
	if err != nil {
		log.Fatal(err)
	}
	one, err := c.Append(nil, []byte("the balance is 7"))
	if err != nil {
		log.Fatal(err)
	}
	two, err := c.Append(nil, []byte("the balance is 7"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Equal(one, two), bytes.Contains(one, []byte("balance")))
	v, _, err := c.Decode(one)
	fmt.Printf("%s %v\n", v, err)
	two[len(two)-1] ^= 1
	_, _, err = c.Decode(two)
	fmt.Println(err)
	// Output:
	// false false
	// the balance is 7 <nil>
	// cipher: message authentication failed
}
