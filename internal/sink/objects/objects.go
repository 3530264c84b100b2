// Package objects puts the items of a run into a folder of an object store (S3 and what speaks like it): as parts, which are objects
// of lines, and a manifest that names them.
//
// The manifest is written last, once all parts were read back. Whoever goes by it sees the set of the run before or that of this one,
// each whole: parts are never overwritten, and those of the set before stay until the next one.
package objects

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"lastdrop/internal/secret"
	"lastdrop/internal/sink"
	"lastdrop/internal/sink/codec"
)

// Target is a folder of a bucket.
type Target struct {
	Bucket string
	Folder string // without slashes at its ends
	// Endpoint is http://host:port or https://host; empty is that of the environment (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL), else AWS.
	Endpoint string
	// Region is empty for that of the environment (AWS_REGION, AWS_DEFAULT_REGION), else the bucket's.
	Region string
	// The credentials are those of the environment (AWS_ACCESS_KEY_ID and so on, or the shared file) where AccessKey is empty.
	AccessKey, SecretKey, SessionToken secret.Value
	Compress                           string // gzip, zstd or none; empty is gzip
	PartSize                           int64  // of an object, about; 0: 64 MiB
	Dir                                string // where a part waits until it is whole; empty is the system's folder for such
	Pull                               string // the name of the pull
	Run                                string // id of the run that writes; nothing is loaded without
	// Verdict is the run's, asked for once the items are loaded.
	Verdict func() string
	// Stop is asked over and over while the store works: its error ends Load. Nil never stops.
	Stop func() error
}

// Names in the folder.
const (
	manifestName = "manifest.json"
	partsFolder  = "parts/"
)

// endings are those of the parts.
var endings = map[string]struct {
	ending string
	codec  codec.Codec
}{
	"gzip": {".jsonl.gz", codec.Gzip{}},
	"zstd": {".jsonl.zst", codec.Zstd{}},
	"none": {".jsonl", codec.Plain{}},
}

// Name is s3: a folder has one set of items.
func (t *Target) Name() string { return "s3" }

// Check reads the manifest, if one is there: it finds out whether the store answers and the bucket can be read.
func (t *Target) Check() error {
	ctx, done := sink.Until(t.Stop)
	defer done()
	s, err := t.open()
	if err == nil {
		_, err = s.manifest(ctx)
	}
	return t.explain(ctx, err)
}

// Guarded is always true: nobody can tell who waits for a manifest, so one that is not COMPLETE is never its first.
func (t *Target) Guarded() (bool, error) { return true, nil }

// Load writes the parts, reads them back, and then writes the manifest.
func (t *Target) Load(items sink.Lines) (sink.Output, error) {
	ctx, done := sink.Until(t.Stop)
	defer done()
	s, err := t.open()
	if err != nil {
		return sink.Output{}, err
	}
	out, err := s.load(ctx, items)
	return out, t.explain(ctx, err)
}

// store is a connection to the bucket.
type store struct {
	*Target
	client *minio.Client
}

func (s *store) key(name string) string { return s.Folder + "/" + name }

func (s *store) load(ctx context.Context, items sink.Lines) (sink.Output, error) {
	before, err := s.manifest(ctx)
	if err != nil {
		return sink.Output{}, err
	}
	parts, err := s.upload(ctx, items)
	if err != nil {
		return sink.Output{}, err
	}
	out, err := s.readBack(ctx, parts)
	if err != nil {
		return out, err
	}
	m := &manifest{Version: version, Name: s.Pull, Run: s.Run, Verdict: s.Verdict(), Written: time.Now().UTC().Truncate(time.Second),
		Items: out.Items, Bytes: out.Bytes, SHA256: out.SHA256, Parts: parts, Previous: before.names()}
	if before != nil && before.Run == s.Run { // of an earlier try: the set before it stays too
		m.Previous = append(m.Previous, before.Previous...)
	}
	if err := s.publish(ctx, m); err != nil {
		return out, err
	}
	out.Notes = s.tidy(ctx, m, before)
	return out, nil
}

// manifest reads the manifest; nil where there is none.
func (s *store) manifest(ctx context.Context) (*manifest, error) {
	data, err := s.get(ctx, manifestName)
	if isCode(err, "NoSuchKey") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	return m, nil
}

// get reads a small object.
func (s *store) get(ctx context.Context, name string) ([]byte, error) {
	const most = 64 << 20
	o, err := s.client.GetObject(ctx, s.Bucket, s.key(name), minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer o.Close()
	data, err := io.ReadAll(io.LimitReader(o, most))
	if err == nil && len(data) == most {
		err = errors.New("it is too long for a manifest: name another folder")
	}
	return data, err
}

// upload writes the items as parts of a try of its own, whose names nobody has used.
func (s *store) upload(ctx context.Context, items sink.Lines) ([]part, error) {
	folder := fmt.Sprintf("%s%s-%s/", partsFolder, s.Run, strings.ToLower(rand.Text()[:8]))
	parts := []part{}
	var w *partWriter
	defer func() { w.drop() }()
	end := func() error {
		p, err := s.put(ctx, w, fmt.Sprintf("%s%05d%s", folder, len(parts)+1, endings[s.Compress].ending))
		w.drop()
		w = nil
		parts = append(parts, p)
		return err
	}
	err := items(func(item []byte) (err error) {
		if w == nil {
			if w, err = newPartWriter(s.Dir, endings[s.Compress].codec); err != nil {
				return err
			}
		}
		if err := w.item(item); err != nil || w.bytes < s.PartSize {
			return err
		}
		return end()
	})
	if err == nil && w != nil {
		err = end()
	}
	return parts, err
}

// put uploads what a writer holds, in one step.
func (s *store) put(ctx context.Context, w *partWriter, name string) (part, error) {
	if err := w.end(); err != nil {
		return part{}, err
	}
	p := part{Name: name, Items: w.items, Bytes: w.bytes, SHA256: hex.EncodeToString(w.hash.Sum(nil))}
	_, err := s.client.PutObject(ctx, s.Bucket, s.key(name), w.file, w.bytes,
		minio.PutObjectOptions{ContentType: "application/x-ndjson", DisableMultipart: true})
	return p, err
}

// readBack reads all parts as a reader of the manifest would. Each must be as it was written.
func (s *store) readBack(ctx context.Context, parts []part) (sink.Output, error) {
	out, lines := sink.Output{}, sha256.New()
	for _, p := range parts {
		items, bytes, err := s.readPart(ctx, p, lines)
		if err != nil {
			return out, err
		}
		out.Items += items
		out.Bytes += bytes
	}
	out.SHA256 = hex.EncodeToString(lines.Sum(nil))
	return out, nil
}

func (s *store) readPart(ctx context.Context, p part, lines io.Writer) (items, length int64, err error) {
	o, err := s.client.GetObject(ctx, s.Bucket, s.key(p.Name), minio.GetObjectOptions{})
	if err != nil {
		return 0, 0, err
	}
	defer o.Close()
	got := &counter{hash: sha256.New()}
	dec, err := endings[s.Compress].codec.Decoder(io.TeeReader(o, got))
	if err != nil {
		return 0, 0, damaged(p, err)
	}
	defer dec.Close()
	text := &counter{}
	if _, err := io.CopyBuffer(io.MultiWriter(lines, text), dec, make([]byte, 64<<10)); err != nil {
		return 0, 0, damaged(p, err)
	}
	switch {
	case got.bytes != p.Bytes:
		err = fmt.Errorf("it has %d bytes of %d", got.bytes, p.Bytes)
	case hex.EncodeToString(got.hash.Sum(nil)) != p.SHA256:
		err = errors.New("its SHA-256 is another")
	case text.lines != p.Items:
		err = fmt.Errorf("it has %d items of %d", text.lines, p.Items)
	}
	return text.lines, text.bytes, damaged(p, err)
}

// damaged is a part that is not as it was written. What the store or the network says of a request stays as it is.
func damaged(p part, err error) error {
	var request *url.Error
	if err == nil || isResponse(err) || errors.As(err, &request) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", sink.ErrReadBack, p.Name, err)
}

// publish writes the manifest and reads it back.
func (s *store) publish(ctx context.Context, m *manifest) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	if _, err := s.client.PutObject(ctx, s.Bucket, s.key(manifestName), bytes.NewReader(data), int64(len(data)),
		minio.PutObjectOptions{ContentType: "application/json", CacheControl: "no-cache", DisableMultipart: true}); err != nil {
		return err
	}
	got, err := s.get(ctx, manifestName)
	if err == nil && !bytes.Equal(got, data) {
		err = fmt.Errorf("%w: %s: it is not the one that was written, or another run wrote it", sink.ErrReadBack, manifestName)
	}
	return err
}

// old is how long the parts of another run are left alone: it may be alive.
const old = 24 * time.Hour

// tidy removes the parts that the manifest does not name: those that the one before named as previous, those of this run's earlier
// tries, and old ones of others. That the items are there does not depend on it, so a failure is only told.
func (s *store) tidy(ctx context.Context, m, before *manifest) (notes []string) {
	keep, retired := map[string]bool{}, map[string]bool{}
	for _, name := range slices.Concat(m.names(), m.Previous) {
		keep[name] = true
	}
	if before != nil {
		for _, name := range before.Previous {
			retired[name] = true
		}
	}
	failed := func(err error) []string {
		return append(notes, "left-over parts could not be removed: "+s.explain(ctx, err).Error())
	}
	now, err := s.client.StatObject(ctx, s.Bucket, s.key(manifestName), minio.StatObjectOptions{})
	if err != nil {
		return failed(err)
	}
	for o := range s.client.ListObjects(ctx, s.Bucket, minio.ListObjectsOptions{Prefix: s.key(partsFolder), Recursive: true}) {
		if o.Err != nil {
			return failed(o.Err)
		}
		name := strings.TrimPrefix(o.Key, s.Folder+"/")
		switch {
		case keep[name]:
			continue
		case !retired[name] && runOf(name) != s.Run && now.LastModified.Sub(o.LastModified) < old:
			notes = append(notes, fmt.Sprintf("%s, of another run, is in no manifest: it is removed by a run that ends a day after it was written", name))
			continue
		}
		if err := s.client.RemoveObject(ctx, s.Bucket, o.Key, minio.RemoveObjectOptions{}); err != nil {
			return failed(err)
		}
		if !retired[name] {
			notes = append(notes, "left over from an earlier try and removed: "+name)
		}
	}
	return shorten(notes)
}

// shorten keeps the first notes and counts the others.
func shorten(notes []string) []string {
	const most = 20
	if len(notes) <= most {
		return notes
	}
	return append(notes[:most:most], fmt.Sprintf("%d more parts like these", len(notes)-most))
}

// A partWriter holds a part until it is whole, in a file that has no name any more where the system allows that.
type partWriter struct {
	file  *os.File
	named bool
	enc   codec.Encoder
	counter
	items int64
}

func newPartWriter(dir string, c codec.Codec) (*partWriter, error) {
	file, err := os.CreateTemp(dir, "lastdrop-part-")
	if err != nil {
		return nil, err
	}
	w := &partWriter{file: file, named: os.Remove(file.Name()) != nil, counter: counter{hash: sha256.New()}}
	w.enc = c.Encoder(io.MultiWriter(file, &w.counter))
	return w, nil
}

func (w *partWriter) item(item []byte) error {
	if _, err := w.enc.Write(item); err != nil {
		return err
	}
	_, err := w.enc.Write([]byte{'\n'})
	w.items++
	return err
}

func (w *partWriter) end() error {
	if err := w.enc.End(); err != nil {
		return err
	}
	_, err := w.file.Seek(0, io.SeekStart)
	return err
}

func (w *partWriter) drop() {
	if w == nil {
		return
	}
	_ = w.file.Close()
	if w.named {
		_ = os.Remove(w.file.Name())
	}
}

// counter counts what passes, and hashes it where it has a hash.
type counter struct {
	bytes, lines int64
	hash         interface {
		io.Writer
		Sum([]byte) []byte
	}
}

// Write never fails.
func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	c.lines += int64(bytes.Count(p, []byte{'\n'}))
	if c.hash != nil {
		_, _ = c.hash.Write(p)
	}
	return len(p), nil
}

// settings are the target with its defaults.
func (t *Target) settings() *Target {
	s := *t
	s.Compress = cmp.Or(s.Compress, "gzip")
	s.PartSize = cmp.Or(s.PartSize, 64<<20)
	s.Endpoint = cmp.Or(s.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	s.Region = cmp.Or(s.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if s.Verdict == nil {
		s.Verdict = func() string { return "" }
	}
	return &s
}
