package configs

import (
	"fmt"
	"io"

	"lastdrop/internal/secret"
)

// A Config is one pull, as its YAML file states it, checked and with defaults.
// Its JSON keys are the keys of the file. The struct tags are the one source
// of the decoder and the JSON Schema: doc describes a key, enum lists the
// words that it takes, need marks a key that must be there.
type Config struct {
	Version  int      `json:"version" need:"add version: 1" doc:"The version of this format: 1."`
	Name     string   `json:"name" need:"give the pull a name, e.g. name: issues" doc:"The pull's name in reports and in the store: small letters, digits, dots, dashes and underscores."`
	Preset   string   `json:"preset,omitempty" doc:"A named set of keys for a known API: lastdrop presets lists them; keys of the file win over those of the preset, one by one."`
	Source   Source   `json:"source" need:"say what to ask, e.g. source: {url: https://api.example.com/items}" doc:"What is asked, and as whom."`
	Pages    Pages    `json:"pages" need:"@style" doc:"How the API pages: its style, and where position, size and end marks travel."`
	Items    Items    `json:"items" doc:"Where the items stand in an answer, and what makes an item's identity."`
	Total    Total    `json:"total,omitzero" doc:"Where the server declares how many items there are; or none, where its total counts something else."`
	Partial  Signs    `json:"partial,omitempty" doc:"Signs that an answer is partial; any one counts."`
	Errors   Paths    `json:"errors,omitzero" doc:"Paths that must be absent, null, empty or false. Default: a top-level error or errors."`
	Complete Complete `json:"complete" doc:"What it takes to call a run COMPLETE."`
	Slice    *Slice   `json:"slice,omitempty" doc:"How to split a source that hands out less than it has."`
	ForEach  *ForEach `json:"for_each,omitempty" doc:"One run for each value of a list; {NAME} in source, total and output.to stands for the value."`
	// Incremental is nil where every run asks for everything.
	Incremental *Incremental `json:"incremental,omitempty" doc:"Ask only for what is new since the last COMPLETE run."`
	Limits      Limits       `json:"limits" doc:"How hard to ask, how long to wait, how much to read."`
	Output      Output       `json:"output,omitzero" doc:"Where the items go."`
	Schedule    *Schedule    `json:"schedule,omitempty" doc:"When the daemon runs this pull: a cron expression, or a mapping with its zone and more. drain ignores it."`

	// Secrets hides what this config keeps secret: all of auth, values under
	// names like token or api_key, and what came from variables of such names.
	Secrets *secret.Set `json:"-"`

	// Parent is the config that for_each.pull names; Load fills it in.
	Parent *Config `json:"-"`

	folder   string  // of the file: paths in for_each are relative to it
	template *Config // of a child of for_each: what is stored and hashed
	marks    marks
}

// Format writes the config's name: its other fields may hold secrets.
func (c *Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "config "+c.Name) }

// Source says what is asked, and as whom.
type Source struct {
	URL     string `json:"url" need:"add the address of the first page" doc:"The address of the first page, without user, password and fragment."`
	Method  string `json:"method" enum:"GET POST" doc:"GET (default), or POST with a body."`
	Params  Params `json:"params,omitempty" doc:"Query parameters; a list repeats one. {size} {offset} {page} {cursor} are replaced."`
	Headers Texts  `json:"headers,omitempty" doc:"Headers of every request."`
	Body    Tree   `json:"body,omitzero" doc:"The JSON body of a POST. {size} {offset} {page} {cursor} in its texts are replaced."`
	Auth    *Auth  `json:"auth,omitempty" doc:"The credentials; one kind."`
	Cookies bool   `json:"cookies,omitempty" doc:"Keep the cookies of the source's own origin between the pages of one pass. A run that is taken up begins its pass anew."`
	Cache   string `json:"cache,omitempty" enum:"bypass" doc:"bypass: ask past caches (Cache-Control: no-cache)."`
	HTTP2   bool   `json:"http2,omitempty" doc:"Speak HTTP/2 where the server does (https only). Default: HTTP/1.1 with keep-alive."`
}

// Auth holds one kind of credentials.
type Auth struct {
	Bearer secret.Value `json:"bearer,omitempty" doc:"A token, sent as Authorization: Bearer."`
	Basic  *Basic       `json:"basic,omitempty" doc:"A user and a password, sent as Authorization: Basic."`
	Header *NamedSecret `json:"header,omitempty" doc:"A header of its own, e.g. X-Api-Key."`
	Query  *NamedSecret `json:"query,omitempty" doc:"A query parameter, e.g. api_key."`
}

// Basic is a user and a password.
type Basic struct {
	User     secret.Value `json:"user" need:"add the user" doc:"The user."`
	Password secret.Value `json:"password,omitempty" doc:"The password; it may be empty where the API takes a key as the user."`
}

// A NamedSecret is a header or parameter and its secret value.
type NamedSecret struct {
	Name  string       `json:"name" need:"add the name under which it is sent" doc:"The header's or parameter's name."`
	Value secret.Value `json:"value" need:"add the value, e.g. \"${API_KEY}\"" doc:"Its secret value, e.g. \"${API_KEY}\"."`
}

// Pages says how the API pages.
type Pages struct {
	Style   string   `json:"style" need:"@style" enum:"single link page offset algolia cursor next_url keyset graphql auto" doc:"How a next page is asked for."`
	Size    Size     `json:"size" doc:"The page size, and the bounds between which it may move."`
	Number  *Number  `json:"number,omitempty" doc:"Page numbers: styles page and algolia; with style link they serve where no Link comes."`
	Offset  *Offset  `json:"offset,omitempty" doc:"Offsets: style offset."`
	Cursor  *Cursor  `json:"cursor,omitempty" doc:"A token from the answer that asks for the next page: styles cursor and graphql."`
	Next    *Next    `json:"next,omitempty" doc:"The next page's address in the answer: style next_url."`
	Keyset  *Keyset  `json:"keyset,omitempty" doc:"The last item's key as the start of the next page: style keyset."`
	More    *More    `json:"more,omitempty" doc:"A flag that says whether there is more."`
	Last    *Where   `json:"last,omitempty" doc:"The server's own count of pages."`
	Link    *Link    `json:"link,omitempty" doc:"What else a Link header says."`
	Reach   int64    `json:"reach,omitempty" doc:"The most items that one query hands out, as the API documents: an end claimed there is none. 0: no such cap is known."`
	End     EndRules `json:"end,omitempty" doc:"What the API documents as its end: short_page, empty_page, absent_link, absent_continuation, or a status."`
	Pin     *Pin     `json:"pin,omitempty" doc:"A snapshot that the first answer names and the others ask for."`
	Sort    *Sort    `json:"sort,omitempty" doc:"The order to ask for."`
	Reverse *Reverse `json:"reverse,omitempty" doc:"How to ask for the reverse order: a second reading from the other end of the list, which a cap cuts elsewhere."`
}

// Size is the page size.
type Size struct {
	Param string `json:"param,omitempty" doc:"The parameter that asks for a page size; in a POST with a body, a dotted path inside it."`
	Start int    `json:"start,omitempty" doc:"The size to begin with. Default: max."`
	Min   int    `json:"min,omitempty" doc:"The least size to fall back to. Default: 1."`
	Max   int    `json:"max,omitempty" doc:"The largest size that the API grants."`
}

// Number says how page numbers travel.
type Number struct {
	Param string `json:"param,omitempty" doc:"The parameter that asks for a page by its number."`
	First *int64 `json:"first,omitempty" doc:"The number of the first page. Default: 1; 0 with style algolia."`
	Echo  *At    `json:"echo,omitempty" doc:"Where the answer repeats the page number that it answers."`
}

// Offset says how offsets travel.
type Offset struct {
	Param   string `json:"param,omitempty" doc:"The parameter that asks for items from an offset on."`
	First   int64  `json:"first,omitempty" doc:"The offset of the first item. Default: 0."`
	Advance *At    `json:"advance,omitempty" doc:"Where the answer says how many rows it scanned, if that is another number than it gave."`
}

// Cursor says how cursors travel.
type Cursor struct {
	Param     *string `json:"param,omitempty" doc:"The parameter that sends the token back; in a POST with a body, a dotted path inside it. \"\": the token is an object whose members are the parameters."`
	Path      Path    `json:"path,omitempty" doc:"Where the next token stands in the body."`
	Header    string  `json:"header,omitempty" doc:"The header that holds the next token."`
	SameIsEnd bool    `json:"same_is_end,omitempty" doc:"The API ends by handing back the token that was sent, with no items."`
}

// Next says where the next page's address stands.
type Next struct {
	Path   Path `json:"path" need:"say where the answer holds the next page's address, e.g. path: next" doc:"Where the next page's address stands in the body."`
	Rebase bool `json:"rebase,omitempty" doc:"Put the path and query of a next address onto the origin of source.url."`
}

// Keyset says how the last item's key becomes the next page's start.
type Keyset struct {
	Param     string `json:"param,omitempty" doc:"The parameter that asks for what comes after a key."`
	Path      Path   `json:"path" need:"say which field of the last item starts the next page, e.g. path: id" doc:"Where the key stands inside an item."`
	Inclusive bool   `json:"inclusive,omitempty" doc:"The item of the key itself is part of the next page."`
	Quote     string `json:"quote,omitempty" enum:"json" doc:"json: the key is sent as a JSON value."`
}

// More is a flag that says whether there is more.
type More struct {
	Path    Path   `json:"path,omitempty" doc:"Where the flag stands in the body."`
	Header  string `json:"header,omitempty" doc:"The header that holds the flag."`
	EndWhen *bool  `json:"end_when,omitempty" doc:"The flag's value at the end. Default: false; true for flags like done or isLast."`
	Absent  *bool  `json:"absent,omitempty" doc:"The value that a flag has which the server leaves out. Default: a missing flag says nothing."`
}

// Where is a place in the body or in a header.
type Where struct {
	Path   Path   `json:"path,omitempty" doc:"A place in the body."`
	Header string `json:"header,omitempty" doc:"A header."`
}

// At is a place in the body.
type At struct {
	Path Path `json:"path" need:"say where it stands in the body" doc:"A place in the body."`
}

// Link says what else a Link header says.
type Link struct {
	EndWhen Texts `json:"end_when" need:"name an attribute and its value at the end, e.g. end_when: {results: \"false\"}" doc:"Attributes of the next link that mark the end, e.g. results: \"false\"."`
}

// Pin is a snapshot that the first answer names.
type Pin struct {
	Param string `json:"param" need:"name the parameter that asks for the snapshot" doc:"The parameter that asks for the snapshot."`
	Path  Path   `json:"path" need:"say where the first answer names the snapshot" doc:"Where the first answer names it."`
}

// Sort is the order to ask for.
type Sort struct {
	Param  string `json:"param" need:"name the parameter that sets the order" doc:"The parameter that sets the order."`
	Value  Scalar `json:"value" need:"name the order to ask for" doc:"The order."`
	Unique bool   `json:"unique,omitempty" doc:"No two items stand at the same place of this order."`
}

// Reverse says how to ask for the reverse order.
type Reverse struct {
	Params Params `json:"params" need:"name the parameters" doc:"The parameters that turn the order round."`
}

// Items says where the items are.
type Items struct {
	Path          Path   `json:"path,omitempty" doc:"The array of items: a GJSON path; @this is a bare array. Of XML: the names of the elements from the root to the item. Default: hits with style algolia, @this with style single."`
	ID            Paths  `json:"id,omitempty" doc:"What makes an item's identity: a path inside the item, or a list of them. Without: its content."`
	AbsentIsEmpty bool   `json:"absent_is_empty,omitempty" doc:"A missing list is an empty one, together with an end mark."`
	Format        string `json:"format,omitempty" enum:"json ndjson csv xml" doc:"The body's format. Default: json. XML is read as JSON: attributes are @name, the text beside them is $."`
	Check         *Check `json:"check,omitempty" doc:"What every item must satisfy, so that an ignored filter is noticed."`
	Merge         bool   `json:"merge,omitempty" doc:"One item arrives in several parts: those of one id are merged, not deduplicated."`
	Batch         Path   `json:"batch,omitempty" doc:"With merge: a mark that stands on the last of the pages that share their items. Without: each page has its items whole."`
}

// Check is what every item must satisfy.
type Check struct {
	Path   Path   `json:"path" need:"say which field of an item to look at" doc:"A place inside the item."`
	Equals Scalar `json:"equals" need:"say what must stand there" doc:"The value that must stand there."`
}

// Complete says what it takes to call a run COMPLETE.
type Complete struct {
	Tolerance Tolerance `json:"tolerance,omitzero" doc:"How many items may be missing; the larger of both. Default: none."`
	Require   string    `json:"require" enum:"counted corroborated declared assumed" doc:"The least strength of the end's evidence. Default: declared. corroborated needs pages.reverse, complete.second, slice, or a total that counts."`
	Passes    int       `json:"passes" doc:"How many walks over the source may be made. Default: 3."`
	MaxDrift  Percent   `json:"max_drift" doc:"How far totals may drift during a run and still count. Default: 1%."`
	MinItems  int64     `json:"min_items,omitempty" doc:"A run with fewer items is UNKNOWN."`
	MaxFall   Percent   `json:"max_fall" doc:"A run with so much less than the last COMPLETE one is UNKNOWN. Default: 50%."`
	FallSaid  bool      `json:"-"` // max_fall is the file's or the preset's, not the default
	Sentinel  *Sentinel `json:"sentinel,omitempty" doc:"An item or a query that must give something, asked after the end: an id, a url or params."`
	Fresh     *Fresh    `json:"freshness,omitempty" doc:"How old the newest item held may be when the run starts."`
	Still     *Still    `json:"still,omitempty" doc:"A mark that changes with the source: equal before and after a pass, it shows that nothing moved."`
	Second    *Second   `json:"second,omitempty" doc:"A second reading in another page size. It can strengthen the server's own end word, and cannot stand for a missing one: pages.reverse can."`
}

// Tolerance says how many items may be missing.
type Tolerance struct {
	Items   int64   `json:"items,omitempty" doc:"A number of items."`
	Percent Percent `json:"percent,omitempty" doc:"A share of the total."`
}

// Sentinel is an item or a query that must give something.
type Sentinel struct {
	ID     Tree   `json:"id,omitzero" doc:"The id of an item that must be held, typed as in items.id: 1 and \"1\" differ. With several paths in items.id, a list."`
	URL    string `json:"url,omitempty" doc:"The address of a request of its own that must give something."`
	Params Params `json:"params,omitempty" doc:"Query parameters that the first page's request gets in the place of its own, so that it must give something."`
	Path   Path   `json:"path,omitempty" doc:"Where the request's JSON answer holds the list or the number to look at."`
	Min    int64  `json:"min,omitempty" doc:"The least length of that list, or the least number. Default: 1."`
}

// Fresh says how old the newest item may be.
type Fresh struct {
	Path   Path     `json:"path" need:"say where an item holds its time, e.g. path: created_at" doc:"A time inside an item: RFC 3339, a date (its first moment, UTC), or seconds or milliseconds since 1970."`
	MaxAge Duration `json:"max_age" need:"say how old the newest item may be, e.g. max_age: 2h or 3d" doc:"How long before the start of the run the newest item held may be, e.g. 2h or 3d. An older one makes the run UNKNOWN."`
}

// Still is a mark of change.
type Still struct {
	URL  string `json:"url" need:"add the address" doc:"The address of the request that tells the mark."`
	Path Path   `json:"path" need:"say where the mark stands, e.g. path: update_seq" doc:"Where its JSON answer holds the mark, a number or a text."`
}

// Second says which second reading corroborates.
type Second struct {
	Size int `json:"size" need:"name the page size" doc:"The page size of the second reading. It or pages.size.start is the largest that the API grants."`
}

// Slice says how to split a source.
type Slice struct {
	SliceKey
	Then    *SliceKey `json:"then,omitempty" doc:"A second key, for slices that the first cannot split."`
	Without *Reverse  `json:"without,omitempty" doc:"An extra slice for items that have no key."`
	Reach   Scalar    `json:"reach,omitempty" doc:"auto (default): pages.reach, else what the walk meets; or the most items that one slice can hand out."`
	Lag     Duration  `json:"lag,omitempty" doc:"The youngest span stays provisional."`
	Covers  string    `json:"covers,omitempty" enum:"all range" doc:"all: the slices are the whole source; range: only the range was asked for."`
}

// SliceKey is a key that slices are cut by.
type SliceKey struct {
	By         Path   `json:"by,omitempty" doc:"The key inside an item."`
	Type       string `json:"type,omitempty" enum:"int time date values" doc:"What the key is."`
	From       Scalar `json:"from,omitempty" doc:"Where the range begins. Default: open."`
	To         Scalar `json:"to,omitempty" doc:"Where the range ends; now is the start of the run. Default: open."`
	Bounds     string `json:"bounds,omitempty" enum:"[) []" doc:"Whether the upper bound that is sent belongs to a slice. Default: [), it does not."`
	Params     Params `json:"params,omitempty" doc:"The parameters that ask for a slice, with {from} and {to}; of type values with {value}."`
	FromParams Params `json:"from_params,omitempty" doc:"The lower half of the bound as parameters of its own."`
	ToParams   Params `json:"to_params,omitempty" doc:"The upper half of the bound as parameters of its own."`
	Format     string `json:"format,omitempty" doc:"How {from} and {to} are written: unix, unix_ms, rfc3339, date or a Go layout. Default: rfc3339 for times, date for dates."`
	Zone       string `json:"zone,omitempty" doc:"The time zone of dates and layouts. Default: UTC."`
	Values     Words  `json:"values,omitempty" doc:"The listed values of the key."`
	Step       Scalar `json:"step,omitempty" doc:"Bounds stand on a grid of this width: a number of what the bounds count (days of dates), or for times a duration."`
}

// Limits says how hard to ask, how long to wait and how much to read.
type Limits struct {
	Rate        Rate     `json:"rate,omitzero" doc:"Requests per time: 5/s, 30/m, 5000/h, or a number per second. Default: no limit of our own."`
	Burst       int      `json:"burst" doc:"How many requests may go out at once within the rate. Default: one second's worth."`
	Concurrency int      `json:"concurrency" doc:"How many requests may be under way at once, where positions can be computed and the source stands still. Default: 1."`
	Timeout     Duration `json:"timeout" doc:"How long one request may take. Default: 30s."`
	Retries     int      `json:"retries" doc:"How often one page is asked for again after a fault. Default: 5."`
	MaxWait     Duration `json:"max_wait" doc:"The longest pause that a server may ask for. Default: 15m."`
	MaxBody     Bytes    `json:"max_body" doc:"The largest answer that is read. Default: 64MiB."`
	MaxRequests int64    `json:"max_requests" doc:"The most requests of a run; 0 is no bound."`
	// AllowPrivate counts in the daemon only, and there with --allow-private only.
	AllowPrivate bool `json:"allow_private,omitempty" doc:"Let lastdrop serve --allow-private ask addresses of this machine and of private networks; drain always may."`
}

// ForEach runs a config once for each value of a list.
type ForEach struct {
	As     string `json:"as" need:"name the placeholder of a value, e.g. as: repo for {repo}" doc:"The placeholder's name: with as: repo, {repo} stands for the value."`
	Values Words  `json:"values,omitempty" doc:"The values."`
	Lines  string `json:"lines,omitempty" doc:"A file with a value a line, relative to this config."`
	Pull   string `json:"pull,omitempty" doc:"The config file of another pull, relative to this one: its items give the values."`
	Path   Path   `json:"path,omitempty" doc:"Where an item of that pull holds its value."`
}

// Incremental asks only for what is new since the last COMPLETE run.
type Incremental struct {
	Key      Path     `json:"key,omitempty" doc:"The time inside an item that the parameter filters by: with it, an ignored parameter is noticed."`
	Param    string   `json:"param" need:"name the parameter that asks for what is new, e.g. param: since" doc:"The parameter that gets the start of the last COMPLETE run, less look_back; in a POST with a body, a dotted path inside it."`
	Format   string   `json:"format" doc:"How the time is written, in UTC: unix, unix_ms, rfc3339 (default), date or a Go layout."`
	LookBack Duration `json:"look_back,omitzero" doc:"How much earlier to ask: for clocks that differ and items that show up late."`
}

// Output says where the items go.
type Output struct {
	To     string `json:"to,omitempty" doc:"The file for the items; its ending names the format: .jsonl, .ndjson or .csv, also with .gz or .zst; .parquet; .db, .sqlite or .sqlite3 for a table of an SQLite file. Or postgres://user:password@host/database for a table of PostgreSQL, a secret as a whole, e.g. \"${DATABASE_URL}\"; or s3://bucket/folder for an object store. {start} is the start of the run. A dash in quotes is standard output."`
	On     string `json:"on" enum:"complete any" doc:"complete (default): an earlier file is only replaced by a COMPLETE run; any: always."`
	Table  string `json:"table,omitempty" doc:"The table. Of SQLite: with items.id its rows are upserted, without it is replaced. Of PostgreSQL: it is replaced, but for merge. Default: the pull's name."`
	Merge  bool   `json:"merge,omitempty" doc:"true: the rows of a PostgreSQL table are upserted by items.id, and those that did not come again stay. Default: the table is replaced."`
	Spool  string `json:"spool,omitempty" doc:"The folder where the items for a database or object store wait until the run is over. Default: the current folder."`
	S3     *Store `json:"s3,omitempty" doc:"How the object store is reached. What is left out comes from the AWS_ variables of the environment."`
	Format string `json:"format,omitempty" enum:"singer" doc:"singer: Singer messages on standard output. Default: a line an item."`
	Exec   Words  `json:"exec,omitempty" doc:"A command and its arguments, as a list, that gets the items of a COMPLETE run (on: any: of every run) on its standard input, a line each, before the file takes its place. No shell reads it."`
}

// Store says how an object store is reached, and what is written there.
type Store struct {
	Endpoint     string       `json:"endpoint,omitempty" doc:"The address of a store other than AWS, e.g. https://minio.example.com. Default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else AWS."`
	Region       string       `json:"region,omitempty" doc:"The bucket's region. Default: AWS_REGION, AWS_DEFAULT_REGION, else found out."`
	AccessKey    secret.Value `json:"access_key,omitempty" doc:"Default: AWS_ACCESS_KEY_ID, else the shared credentials file."`
	SecretKey    secret.Value `json:"secret_key,omitempty" doc:"Default: AWS_SECRET_ACCESS_KEY."`
	SessionToken secret.Value `json:"session_token,omitempty" doc:"Default: AWS_SESSION_TOKEN."`
	Compress     string       `json:"compress,omitempty" enum:"gzip zstd none" doc:"How the parts are compressed. Default: gzip."`
	PartSize     Bytes        `json:"part_size,omitzero" doc:"The size of an object, about. Default: 64MiB."`
}
