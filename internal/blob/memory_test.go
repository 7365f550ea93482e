package blob_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/quire/internal/blob"
	"example.com/quire/internal/record"
)

// kind is a call that changes the file system, or an event beside it.
type kind string

const (
	opCreate  kind = "create"
	opWrite   kind = "write"
	opSync    kind = "fsync"
	opRename  kind = "rename"
	opRemove  kind = "remove"
	opMkdir   kind = "mkdir"
	opSyncDir kind = "fsync directory"
	opSave    kind = "save"        // the store is asked to keep a document,
	opCommit  kind = "commit"      // has committed it,
	opAck     kind = "acknowledge" // and the caller has been told
)

// op is one recorded call. File is the number of the file, which keeps it
// through renames.
type op struct {
	kind     kind
	name, to string
	file     int
	data     []byte
	blobs    []record.Hash // what the document of opSave, opCommit and opAck needs
}

func (o op) String() string { return fmt.Sprintf("%s %s%s", o.kind, o.name, o.to) }

// memory is a layer in memory that records what changes it.
type memory struct {
	mu      sync.Mutex
	entries map[string]*memoryFile // nil: a directory
	ops     []op
	files   int
}

func newMemory() *memory { return &memory{entries: map[string]*memoryFile{".": nil}} }

// note records an event beside the file system.
func (m *memory) note(o op) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ops = append(m.ops, o)
}

func (m *memory) Create(name string) (blob.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.entries[name]; there {
		return nil, fs.ErrExist
	}
	if dir, there := m.entries[path.Dir(name)]; !there || dir != nil {
		return nil, fs.ErrNotExist
	}
	m.files++
	f := &memoryFile{layer: m, number: m.files}
	m.entries[name] = f
	m.ops = append(m.ops, op{kind: opCreate, name: name, file: f.number})
	return f, nil
}

func (m *memory) Open(name string) (blob.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.entries[name]; f != nil {
		return f, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memory) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.entries[from]
	if dir, there := m.entries[path.Dir(to)]; f == nil || !there || dir != nil {
		return fs.ErrNotExist
	}
	m.entries[to] = f
	delete(m.entries, from)
	m.ops = append(m.ops, op{kind: opRename, name: from, to: to, file: f.number})
	return nil
}

func (m *memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[name] == nil {
		return fs.ErrNotExist
	}
	delete(m.entries, name)
	m.ops = append(m.ops, op{kind: opRemove, name: name})
	return nil
}

func (m *memory) Mkdir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.entries[name]; there {
		return fs.ErrExist
	}
	m.entries[name] = nil
	m.ops = append(m.ops, op{kind: opMkdir, name: name})
	return nil
}

func (m *memory) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ops = append(m.ops, op{kind: opSyncDir, name: name})
	return nil
}

func (m *memory) List(name string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for entry := range m.entries {
		if rest, ok := strings.CutPrefix(entry, name+"/"); ok {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (m *memory) ModTime(string) (time.Time, error) { return time.Time{}, nil }
func (m *memory) Close() error                      { return nil }

type memoryFile struct {
	layer  *memory
	number int
	data   []byte
}

func (f *memoryFile) Write(p []byte) (int, error) {
	f.layer.mu.Lock()
	defer f.layer.mu.Unlock()
	f.data = append(f.data, p...)
	f.layer.ops = append(f.layer.ops, op{kind: opWrite, file: f.number, data: bytes.Clone(p)})
	return len(p), nil
}

func (f *memoryFile) ReadAt(p []byte, off int64) (int, error) {
	f.layer.mu.Lock()
	defer f.layer.mu.Unlock()
	return bytes.NewReader(f.data).ReadAt(p, off)
}

func (f *memoryFile) Sync() error {
	f.layer.mu.Lock()
	defer f.layer.mu.Unlock()
	f.layer.ops = append(f.layer.ops, op{kind: opSync, file: f.number})
	return nil
}

func (f *memoryFile) Size() (int64, error) {
	f.layer.mu.Lock()
	defer f.layer.mu.Unlock()
	return int64(len(f.data)), nil
}

func (f *memoryFile) Close() error { return nil }
