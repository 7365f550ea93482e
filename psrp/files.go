package psrp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"strings"
	"time"
)

// The server's part of copying files: scripts for PowerShell 4 and later, in a language mode that
// allows methods of .NET.
//
//go:embed scripts/*.ps1
var fileScripts embed.FS

// fileBlock is the size of one object of a file: with its headers and in base64 it just fits a
// fragment of 32 KiB, so that no payload is sent half empty.
const fileBlock = 24_516

// ErrWrongCopy is a copy whose SHA-256 is not that of the original.
var ErrWrongCopy = errors.New("psrp: the copy differs from the original")

var errDirectory = errors.New("it is a directory")

// CopyOptions are for Upload and Download; the zero value works.
type CopyOptions struct {
	// Overwrite lets Upload replace a file; without, one that is there is fs.ErrExist.
	Overwrite bool
	// Progress is told how many bytes have been copied and how many there are, -1 when that is not
	// known. It is called by the goroutine that copies.
	Progress func(done, total int64)
}

// CopyResult is what was copied.
type CopyResult struct {
	Path   string // on the host, in full
	Size   int64
	SHA256 [sha256.Size]byte
}

// foundFile is what find.ps1 says of a path.
type foundFile struct {
	Path                string
	Exists, IsDirectory bool
	Size                int64
	Hash                string
}

// Upload writes what it reads from r into the file remote of the host, which may be any path that
// PowerShell knows. The bytes go into a file beside it whose name ends in .partial, which takes the
// name remote when its SHA-256, as the host finds it, is that of what was read: else the error is
// ErrWrongCopy. After an error the partial file is removed, if the session still lives.
func (s *Session) Upload(ctx context.Context, remote string, r io.Reader, o CopyOptions) (CopyResult, error) {
	result, err := s.upload(ctx, remote, r, o)
	if err != nil {
		return CopyResult{}, fmt.Errorf("psrp: upload to %s: %w", remote, err)
	}
	return result, nil
}

func (s *Session) upload(ctx context.Context, remote string, r io.Reader, o CopyOptions) (CopyResult, error) {
	target, err := s.findFile(ctx, remote, false)
	switch {
	case err != nil:
		return CopyResult{}, err
	case target.IsDirectory:
		return CopyResult{}, errDirectory
	case target.Exists && !o.Overwrite:
		return CopyResult{}, fs.ErrExist
	}
	partial := folderOf(target.Path) + rand.Text()[:8] + ".partial" // names may be as long as the host allows
	c := copying{session: s, hash: sha256.New(), total: -1, tell: o.Progress}
	err = c.upload(ctx, partial, r)
	if err == nil {
		rename := fileScript("rename").Param("From", partial).Param("To", target.Path).Param("Hash", c.sum()).Param("Overwrite", o.Overwrite)
		err = c.verify(single(Invoke[string](ctx, s, rename)))
	}
	if err != nil {
		s.removeFile(ctx, partial)
		return CopyResult{}, err
	}
	return c.result(target.Path), nil
}

// folderOf returns the folder of a full path of the host's, with the separator at its end. The
// names of files of Unix may have a backslash.
func folderOf(path string) string {
	separators := `\/`
	if strings.HasPrefix(path, "/") {
		separators = "/"
	}
	return path[:strings.LastIndexAny(path, separators)+1]
}

// removeFile removes what is left of an upload. That it cannot is of no interest beside what
// failed.
func (s *Session) removeFile(ctx context.Context, path string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	_, _ = s.Run(ctx, fileScript("remove").Param("Path", path))
}

// Download reads the file remote of the host into w. When the error is ErrWrongCopy, the SHA-256 of
// what was written to w is not that which the host found beforehand, or the size changed meanwhile.
// After any error w holds some of the file; a writer of a file should write one of another name.
func (s *Session) Download(ctx context.Context, w io.Writer, remote string, o CopyOptions) (CopyResult, error) {
	source, err := s.findFile(ctx, remote, true)
	c := copying{session: s, hash: sha256.New(), total: source.Size, tell: o.Progress}
	switch {
	case err != nil:
	case source.IsDirectory:
		err = errDirectory
	case !source.Exists:
		err = fs.ErrNotExist
	default:
		err = c.download(ctx, w, source.Path)
	}
	if err == nil {
		err = c.verify(source.Hash, nil)
	}
	if err != nil {
		return CopyResult{}, fmt.Errorf("psrp: download of %s: %w", remote, err)
	}
	return c.result(source.Path), nil
}

func (s *Session) findFile(ctx context.Context, path string, withHash bool) (foundFile, error) {
	return single(Invoke[foundFile](ctx, s, fileScript("find").Param("Path", path).Param("WithHash", withHash)))
}

// fileScript is a script of the folder, in a scope of its own.
func fileScript(name string) Pipeline {
	text, err := fileScripts.ReadFile("scripts/" + name + ".ps1")
	p := Script(string(text))
	p.Statements[0][0].LocalScope = new(true)
	p.err = err
	return p
}

// single is the one value of a sequence.
func single[T any](values iter.Seq2[T, error]) (T, error) {
	var one T
	n := 0
	for v, err := range values {
		if err != nil {
			return one, err
		}
		one = v
		n++
	}
	if n != 1 {
		return one, fmt.Errorf("the host answered with %d values instead of one", n)
	}
	return one, nil
}

// copying is a copy under way.
type copying struct {
	session     *Session
	hash        hash.Hash
	done, total int64
	tell        func(done, total int64)
}

// add counts what has been copied.
func (c *copying) add(block []byte) {
	_, _ = c.hash.Write(block) // never fails
	c.done += int64(len(block))
	if c.tell != nil {
		c.tell(c.done, c.total)
	}
}

func (c *copying) sum() string { return hex.EncodeToString(c.hash.Sum(nil)) }

// verify compares with the SHA-256 that the host found.
func (c *copying) verify(found string, err error) error {
	if err == nil && !strings.EqualFold(found, c.sum()) {
		err = fmt.Errorf("%w: its SHA-256 is %s on this side, %.64q on the host", ErrWrongCopy, c.sum(), found)
	}
	return err
}

func (c *copying) result(path string) CopyResult {
	return CopyResult{Path: path, Size: c.done, SHA256: [sha256.Size]byte(c.hash.Sum(nil))}
}

// upload fills a new file on the host, by a command for each part of it.
func (c *copying) upload(ctx context.Context, path string, r io.Reader) error {
	for end := false; !end; {
		var size int64
		var err error
		if end, size, err = c.uploadPart(ctx, path, r); err != nil {
			return err
		}
		if size != c.done {
			return fmt.Errorf("%w: the host has %d bytes of %d", ErrWrongCopy, size, c.done)
		}
	}
	return nil
}

// uploadPart appends a part of r to the file and returns the file's size; end reports that r is at
// its end.
func (c *copying) uploadPart(ctx context.Context, path string, r io.Reader) (end bool, size int64, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := fileScript("append").Param("Path", path).Param("Offset", c.done)
	p.Input = true
	run, err := c.session.Start(ctx, p)
	if err != nil {
		return false, 0, err
	}
	end, readErr := c.send(ctx, run, r)
	// The input of a cancelled part is left open, so that the pipeline cannot end before its stop.
	if readErr != nil || ctx.Err() != nil || run.CloseInput() != nil {
		stop()
	}
	size, err = single(outputOf[int64](ctx, c.session, run))
	if readErr != nil {
		err = readErr
	}
	return end, size, err
}

// send pipes blocks of r in. The error is that of r: why a pipeline takes no more, its records say.
func (c *copying) send(ctx context.Context, run *Running, r io.Reader) (end bool, err error) {
	block := make([]byte, fileBlock)
	for sent := 0; sent < c.session.limits.FilePart; sent += fileBlock {
		n, err := io.ReadFull(r, block)
		if end = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); end {
			err = nil
		}
		if n > 0 {
			if run.Send(ctx, block[:n]) != nil {
				return false, err
			}
			c.add(block[:n])
		}
		if end || err != nil {
			return end, err
		}
	}
	return false, nil
}

// download writes the file to w, by a command for each part of it.
func (c *copying) download(ctx context.Context, w io.Writer, path string) error {
	for c.done < c.total {
		end := min(c.done+int64(c.session.limits.FilePart), c.total)
		p := fileScript("read").Param("Path", path).Param("Offset", c.done).Param("Count", end-c.done).Param("BlockSize", fileBlock)
		for block, err := range Invoke[[]byte](ctx, c.session, p) {
			if err == nil && int64(len(block)) > end-c.done {
				err = fmt.Errorf("%w: the host sent more than it was asked for", ErrWrongCopy)
			}
			if err == nil {
				_, err = w.Write(block)
			}
			if err != nil {
				return err
			}
			c.add(block)
		}
		if c.done != end {
			return fmt.Errorf("%w: the host sent %d bytes of %d", ErrWrongCopy, c.done, c.total)
		}
	}
	return nil
}
