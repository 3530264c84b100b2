package adapters

import (
	"fmt"
	"strings"

	"lastdrop/internal/jsonscan"
	"lastdrop/judge"
)

// A Reader reads the answers of one API: it holds all that the styles share.
// It is made once, never changed, and safe for concurrent use.
type Reader struct {
	spec  Spec
	tmpl  *template
	style Style

	paths     []jsonscan.Path // of the envelope, by field-1
	items     jsonscan.Path
	names     []string        // of XML: the elements that lead to an item
	root      field           // of XML: the first of them
	each      *jsonscan.Path  // the array whose elements items goes through, as in edges.#.node
	lists     *jsonscan.Path  // the lists of those elements, where a modifier joins them
	inItem    []jsonscan.Path // the id paths and, last, the check path
	checks    bool            // the last of inItem is the check path
	want      *jsonscan.Want  // everything in one walk; nil where a path needs more
	idsWalked bool            // that walk covers inItem too

	errors     []errorPath
	lineErrors []jsonscan.Path
	more       flag
	total      counter
	last, echo field
	pin        field
	batch      field
	signs      []sign
	key        *jsonscan.Path // of a keyset, in each item
	hints      []field        // names under which servers say that there is more, and which no config names
	words      []field
	offers     []field
}

// NewReader makes the Reader of a spec, with its style. It compiles paths and
// regular expressions and checks what only it can check: that the style has
// what it needs and that the first request can be built. All faults are
// reported together.
func NewReader(spec Spec) (*Reader, error) {
	how, ok := styles[spec.Pages.Style]
	if !ok {
		return nil, fmt.Errorf("pages.style: %q is none of %s", spec.Pages.Style, strings.Join(StyleNames(), ", "))
	}
	if spec.Items.Format == "" {
		spec.Items.Format = formatJSON
	}
	r := &Reader{spec: spec}
	if how.defaults != nil {
		how.defaults(&r.spec)
	}
	c := newCompiler(&r.spec)
	if r.spec.Items.Format == formatXML {
		if c.names = XMLNames(r.spec.Items.Path); c.names == nil {
			c.fault("items.path: %q leads to no element of XML", r.spec.Items.Path)
		}
	}
	var err error
	if r.tmpl, err = newTemplate(&r.spec); err != nil {
		return nil, err
	}
	c.tmpl = r.tmpl
	r.compile(c)
	c.placeholders(how.holds)
	r.style = how.build(c)
	r.paths = c.paths
	r.plan(c)
	if c.err != nil {
		return nil, c.err
	}
	if _, err := r.style.Request(Position{}, max(r.spec.Pages.SizeStart, 1), 0); err != nil {
		return nil, fmt.Errorf("the first request: %w", err)
	}
	return r, nil
}

// compile registers what the Reader itself wants of an answer.
func (r *Reader) compile(c *compiler) {
	s := &r.spec
	switch s.Items.Format {
	case formatJSON:
		if s.Items.Path == "" {
			c.fault("items.path is missing: the path of the list, \"@this\" for a bare one")
		}
		r.items = c.path("items.path", s.Items.Path)
		if array, rest, ok := strings.Cut(s.Items.Path, ".#."); ok && !strings.Contains(rest, "#") {
			each := c.path("items.path", array)
			r.each = &each
			if inner, _, piped := strings.Cut(rest, "|"); piped { // the modifier drops elements without a list
				lists := c.path("items.path", array+".#."+inner)
				r.lists = &lists
			}
		}
	case formatXML:
		r.names = c.names
		r.items = c.path("items.path", s.Items.Path)
		if len(r.names) > 0 {
			r.root = c.field("items.path", gjsonKey(r.names[0]))
		}
	case formatNDJSON, formatCSV:
	default:
		c.fault("items.format: %q is none of json, ndjson, csv, xml", s.Items.Format)
	}
	for _, src := range s.Items.IDs {
		r.inItem = append(r.inItem, c.path("items.id", src))
	}
	if s.Items.CheckPath != "" {
		r.checks = true
		r.inItem = append(r.inItem, c.path("items.check.path", s.Items.CheckPath))
	}
	if s.Pages.LastPath != "" && s.Pages.LastHeader != "" {
		c.fault("pages.last: a path or a header, not both")
	}
	r.errors = newErrors(c)
	r.more = newFlag(c)
	r.last = c.field("pages.last.path", s.Pages.LastPath)
	r.echo = c.field("pages.number.echo", s.Pages.NumberEcho)
	r.pin = c.field("pages.pin.path", s.Pages.PinPath)
	r.batch = c.field("items.batch", s.Items.Batch)
	r.signs = newSigns(c)
	r.words = newWords(c)
	if s.Pages.Style == styleSingle {
		r.offers = newOffers(c)
	}
	r.hints = newHints(c)
	if s.Pages.Style == "keyset" && s.Pages.KeysetPath != "" {
		key := c.path("pages.keyset.path", s.Pages.KeysetPath)
		r.key = &key
	}
	r.total = newCounter(c)
	lines := defaultErrors(s)
	if s.ErrorsSet {
		lines = s.Errors
	}
	for _, src := range lines {
		r.lineErrors = append(r.lineErrors, c.path("errors", src))
	}
}

// plan makes one walk of all paths, where they allow it.
func (r *Reader) plan(c *compiler) {
	if c.err != nil || !r.spec.enveloped() || !r.items.Plain() || len(r.paths) > jsonscan.MaxEnvelope {
		return
	}
	for _, p := range r.paths {
		if !p.Plain() {
			return
		}
	}
	ids := r.inItem
	r.idsWalked = len(ids) <= jsonscan.MaxIDs
	for _, p := range ids {
		r.idsWalked = r.idsWalked && p.Plain()
	}
	if !r.idsWalked {
		ids = nil
	}
	want, err := jsonscan.NewWant(r.items, ids, r.paths)
	if err != nil {
		c.fault("%w", err)
	}
	r.want = want
}

// Style returns the style that builds the requests.
func (r *Reader) Style() Style { return r.style }

// Spec returns the spec with its style's defaults filled in. It must not be
// changed.
func (r *Reader) Spec() *Spec { return &r.spec }

// Read reads one whole answer with a 2xx status. at and req are the position
// asked for and the request as the style built it.
//
// The error is a *Trouble where the answer is not a page, a *jsonscan.Error
// where a JSON body that Read checks by itself is none, and another error
// where a line or record of a framed body (NDJSON, CSV) cannot be read, which
// makes it half a body. With an error there is no page, not even an empty one.
func (r *Reader) Read(at Position, req Request, resp Response) (Page, error) {
	a, err := r.open(resp)
	if err != nil {
		return Page{}, err
	}
	defer scratches.Put(a.scratch)
	if t := r.trouble(a); t != nil {
		return Page{}, t
	}
	p := Page{Size: req.Size, Start: req.Start, AskedPage: req.Number}
	rows, state, err := r.rows(a, &p)
	if err != nil {
		return Page{}, err
	}
	if t := r.lineTrouble(rows); t != nil {
		return Page{}, t
	}
	if err := r.take(a, rows, &p); err != nil {
		return Page{}, err
	}
	r.claims(at, req, a, &p)
	if state != jsonscan.Array && !r.absentIsEmpty(state, &p) {
		return Page{}, r.missing(state, a)
	}
	if p.Received == 0 && state == jsonscan.Array && r.spec.Items.Path != "@this" {
		if found := jsonscan.TopLevelArrays(a.Body); len(found) > 0 && !strings.HasSuffix(found[0], " (0)") {
			p.Aside = oneLine(found[0])
		}
	}
	return p, nil
}

// claims fills in what the answer says beside its items.
func (r *Reader) claims(at Position, req Request, a *Answer, p *Page) {
	p.More = r.more.read(a)
	a.More = p.More
	p.LastPages = r.lastPages(a)
	p.EchoPage = count(a.value(r.echo))
	p.Totals = r.totals(at, req, a, p)
	p.NoTotal = r.total.absent(a)
	if r.batch != 0 {
		mark := a.value(r.batch)
		p.Batch = judge.Said(mark.Exists() && !mark.IsNull() && truth(mark) != judge.No)
	}
	p.Partial = r.partial(a)
	p.Wording = r.wording(a)
	p.Next = r.style.Next(at, req, a)
	p.Offered = r.offered(a)
	p.Doubt = r.doubt(a)
	p.Disorder = r.disorder(p)
	pin := at.Pin
	if v := a.value(r.pin); len(pin) == 0 && v.Exists() && !v.IsNull() {
		pin = compact(v.Raw) // later answers may name the newest snapshot, not the one they are read from
	}
	p.Pin = cursorText(pin, false)
	if p.Next.State == Follow || p.Next.HasAt {
		p.Next.At.Pin = pin
	}
}

// hintFields are top-level names under which servers say that there is more, or
// that something went wrong on the way.
var hintFields = []string{"has_more", "hasMore", "has_next", "truncated_by", "next_page_token", "next_cursor", "warnings"}

// newHints registers those of them that no key of the spec reads.
func newHints(c *compiler) []field {
	p := c.spec.Pages
	if p.Style == styleSingle {
		return nil
	}
	var out []field
	for _, name := range hintFields {
		if at := c.top(name); at != p.MorePath && at != p.CursorPath && at != p.NextPath && at != c.spec.Items.Path {
			out = append(out, c.builtin(name))
		}
	}
	return out
}

// doubt names what speaks against an end that the answer says. An explicit
// has-more flag that the config names outranks it.
func (r *Reader) doubt(a *Answer) string {
	if text := r.total.unread(a); text != "" {
		return text
	}
	if a.More == judge.No {
		return ""
	}
	for _, f := range r.hints {
		v := a.value(f)
		if speaks(v) {
			return "a field that the config does not name speaks of more: " + oneLine(valueText(v))
		}
	}
	for _, l := range a.Links {
		if r.spec.Pages.Style != "link" && l.Has("next") && !r.endsBy(l) {
			return "a Link header offers a next page, and the config follows something else"
		}
		if here, last, ok := pageNumbers(a.URL, l.URL); ok && l.Has("last") && last > here {
			return fmt.Sprintf("its Link header says that page %d is the last, and this is page %d", last, here)
		}
	}
	return ""
}

// disorder says why a keyset's pages cannot join: whole numbers as keys that
// rise and fall on one page, or that two items share although the config calls
// the sort unique. "" for keys of other kinds.
func (r *Reader) disorder(p *Page) string {
	if r.key == nil {
		return ""
	}
	up, down, before, had := false, false, int64(0), false
	for _, it := range p.Items {
		v, err := r.key.Find(it.Raw)
		n, ok := v.Int64()
		if err != nil || !v.IsNumber() || !ok {
			return ""
		}
		if had && n == before && r.spec.Pages.SortUnique {
			return fmt.Sprintf("two items of one page share the %s %d, and pages.sort.unique says that none do", r.spec.Pages.KeysetPath, n)
		}
		up, down = up || had && n > before, down || had && n < before
		before, had = n, true
	}
	if up && down {
		return fmt.Sprintf("a page is not in the order of %s: going on after its last one can skip items", r.spec.Pages.KeysetPath)
	}
	return ""
}

// totals collects every total that the answer states.
func (r *Reader) totals(at Position, req Request, a *Answer, p *Page) []Total {
	var out []Total
	before := at.Offset
	if req.Start.OK {
		before = req.Start.N
	}
	if t, ok := r.total.read(a, FromBody, before); ok {
		out = append(out, t)
	}
	if at.IsStart() && !r.spec.Total.None {
		if t, ok := r.fromLast(req, a, p, out); ok {
			out = append(out, t)
		}
	}
	return out
}

// offered reports whether anything in the answer offers a further page.
func (r *Reader) offered(a *Answer) bool {
	if a.More == judge.Yes {
		return true
	}
	for _, l := range a.Links {
		if l.Has("next") && !r.endsBy(l) {
			return true
		}
	}
	for _, f := range r.offers {
		v := a.value(f)
		if speaks(v) {
			return true
		}
	}
	return false
}

// speaks reports whether a value says yes, or holds anything that is no yes or
// no: a token, a link, a list.
func speaks(v jsonscan.Value) bool {
	said := truth(v)
	return said == judge.Yes || said == judge.NotSaid && v.Exists() && !empty(v)
}

// endsBy reports whether a link has an attribute that outranks its relation.
func (r *Reader) endsBy(l judge.Link) bool { return r.tmpl.endsBy(l) }

// absentIsEmpty reports whether a list that is missing or null is a legal empty
// one: allowed by the config, and together with an end mark only.
func (r *Reader) absentIsEmpty(state jsonscan.State, p *Page) bool {
	return r.spec.Items.AbsentIsEmpty && (state == jsonscan.Missing || state == jsonscan.Null) &&
		(p.More == judge.No || p.Next.State == Ended)
}

// missing is the trouble of an answer without its list, naming those that are
// there.
func (r *Reader) missing(state jsonscan.State, a *Answer) *Trouble {
	msg := fmt.Sprintf("no list at items.path %q (%s)", r.spec.Items.Path, state)
	if r.spec.Items.AbsentIsEmpty && state != jsonscan.NotArray {
		msg += ", and no end mark beside it"
	}
	if found := jsonscan.TopLevelArrays(a.Body); len(found) > 0 {
		msg += "; lists in the answer: " + oneLine(strings.Join(found, ", "))
	}
	return &Trouble{Kind: TroubleMissing, Msg: msg}
}
