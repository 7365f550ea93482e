package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	"example.com/quire/cache"
	"example.com/quire/web/frozen"
)

// Post is what is written once and read often. Its JSON is its form everywhere: in the origin, in
// Redis and in answers.
type Post struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Content   string `json:"content"`
	Author    string `json:"author"`
	Timestamp int64  `json:"timestamp"` // of writing, nanoseconds since the Unix epoch
	// Hash is the SHA-256, in hexadecimal digits, of the JSON with an empty hash. It comes last.
	Hash string `json:"hash"`
}

// stamp sets time and hash.
func (p *Post) stamp(now int64) error {
	p.Timestamp, p.Hash = now, ""
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	p.Hash = hex.EncodeToString(sum[:])
	return nil
}

// AppendBinary and UnmarshalBinary make *Post a value of codec.Binary.
func (p *Post) AppendBinary(b []byte) ([]byte, error) {
	j, err := json.Marshal(p)
	return append(b, j...), err
}

// UnmarshalBinary reads the JSON of a post.
func (p *Post) UnmarshalBinary(b []byte) error {
	if err := json.Unmarshal(b, p); err != nil {
		return err
	}
	if len(p.Hash) != 2*sha256.Size {
		return fmt.Errorf("post %q: a hash of %d digits", p.ID, len(p.Hash))
	}
	return nil
}

// etag is the entity tag of a post, made of its hash.
func etag(hash string) string { return `"` + hash[:32] + `"` }

// hashOf finds the hash at the end of a post's JSON.
func hashOf(body []byte) (string, error) {
	if len(body) < 2*sha256.Size+2 {
		return "", fmt.Errorf("a post of %d bytes", len(body))
	}
	return string(body[len(body)-2-2*sha256.Size : len(body)-2]), nil
}

// reply builds the answer that has a post's JSON for its body.
func reply(body []byte) (*frozen.Entry, error) {
	hash, err := hashOf(body)
	if err != nil {
		return nil, err
	}
	var coded bytes.Buffer
	w := gzip.NewWriter(&coded)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return frozen.Build(frozen.EntrySpec{
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ETag: etag(hash), Public: true,
		Encodings: []frozen.Encoding{{Name: "gzip", Body: coded.Bytes()}}, // left out where it gains little
	})
}

// validID has only characters that stand in a query as they are, so that an id is found in a
// request without decoding it.
var validID = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.~-]{0,63}$`)

// origin keeps each post in a file. It is what the caches are filled from.
type origin string

func (o origin) path(id string) string { return filepath.Join(string(o), id+".json") }

// write puts a post in place in one step.
func (o origin) write(id string, body []byte) error {
	f, err := os.CreateTemp(string(o), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), o.path(id))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (o origin) read(id string) ([]byte, error) {
	b, err := os.ReadFile(o.path(id)) // of an id that validID took
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cache.ErrNotFound
	}
	return b, err
}
