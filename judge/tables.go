package judge

// CommonCaps are the page sizes at which servers like to stop without a word.
// It is data to be read, not to be changed.
var CommonCaps = []int64{
	10, 20, 25, 30, 50, 100, 200, 250, 300, 500, 1000, 2000, 2500,
	5000, 10000, 50000, 100000,
}

// TruncationWording is the wording by which people and tools say that a text
// was cut, in lower case; it is matched without regard to case. It is data to
// be read, not to be changed.
var TruncationWording = []string{
	"truncat",
	"(showing",
	"showing first",
	"showing lines",
	"showing top",
	"more expected",
	"incompleteread",
	"unexpected eof",
	"output omitted",
	"content omitted",
	"response too large",
	"results omitted",
	"only the first",
	"已截断",
	"内容截断",
	"截断显示",
	"仅显示前",
	"部分结果",
}

// The layers that evidence comes from.
const (
	LayerStream   = "stream"   // the transport and the body as such
	LayerSet      = "set"      // counts and positions
	LayerSemantic = "semantic" // wording and meaning
	LayerNone     = "none"     // the default, which has no evidence
)

// A RuleDoc documents one rule for people.
type RuleDoc struct {
	ID       string
	Layer    string
	Verdicts []Verdict // what it can say, the worst first
	Title    string
	Doc      string
}

// RuleTable documents every rule, in rule order. It is data to be read, not to
// be changed.
var RuleTable = []RuleDoc{
	{"TR001", LayerSemantic, []Verdict{Truncated}, "the answer says that it was cut",
		"The text or error has truncation wording, next_offset is stated, truncated is true, truncated_by is not empty, or original_count is above returned_count (above items where that is not stated)."},
	{"TR002", LayerSet, []Verdict{Truncated}, "fewer items than the declared total",
		"Asked from the start, and the declared total is above the items received. A lower bound counts too, an estimate does not. There is no tolerance: one short is short."},
	{"TR003", LayerSet, []Verdict{Truncated}, "the server says that there is more",
		"has_more is true, next_cursor or next_url is not empty, or next_page is stated."},
	{"TR004", LayerStream, []Verdict{Truncated}, "a Link header names a next page",
		"A Link header has rel=\"next\". A part that cannot be read, but names rel next, counts: it is never read as the end."},
	{"TR005", LayerStream, []Verdict{Truncated}, "half a body",
		"The status is 2xx or not stated and the body does not parse, or fewer bytes, lines or characters were read than there are. A 200 that does not parse is half a body, not bad data: ask again, in smaller pieces."},
	{"TR006", LayerSet, []Verdict{Unknown}, "a silent cap",
		"Fewer items than asked for, exactly as many as servers like to cap at, and no total, has_more, continuation, end marker or Link. A suspicion, not a proof: the set may really have that size."},
	{"TR007", LayerSemantic, []Verdict{Truncated, Unknown}, "an empty page is no end",
		"No items while a total is declared: TRUNCATED, or UNKNOWN where it is an estimate. No items and no other word at all: UNKNOWN."},
	{"TR008", LayerSet, []Verdict{Truncated, Unknown}, "the answer does not fit to its place",
		"The first item's index is not the offset asked for: UNKNOWN. Asked from the middle and not up to the total: TRUNCATED. Asked from the middle and up to the end, with nothing to say that all before is held: UNKNOWN. So is a page number without a page size."},
	{"TR009", LayerNone, []Verdict{Unknown}, "no evidence either way",
		"The default. That nothing says truncated proves nothing: COMPLETE needs positive evidence. It stands beside other rules that say UNKNOWN."},
	{"TR010", LayerStream, []Verdict{Unknown}, "an error answer",
		"The status is stated and not 2xx. An error answer says nothing about the set, so it silences all evidence of completeness."},
	{"TR011", LayerSet, []Verdict{Unknown}, "the answer contradicts itself",
		"An exact total below the end of what was received (a total that collapsed), more bytes, lines or characters read than there are, has_more false beside a continuation, returned_count other than items, or positions and counts that cannot be (negative, beyond every countable position, a page before the first)."},
}

// layerOf finds a rule's layer by its id.
var layerOf = func() map[string]string {
	m := make(map[string]string, len(RuleTable))
	for _, r := range RuleTable {
		m[r.ID] = r.Layer
	}
	return m
}()
