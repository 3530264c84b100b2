package judge

// selfCases are the built-in cases. The first six are the snapshots that the
// rules were written from, four of them measured in the field; the others are
// constructed, a rule at a time.
var selfCases = []selfCase{
	{"measured: a file reader on 5,000 lines",
		`{"kind":"file","response":{"text":"(showing lines 1-1042 of 5000, truncated)","truncated_by":"bytes","next_offset":1043,"bytes_read":100000,"bytes_expected":465000,"lines_read":1042,"lines_total":5000}}`,
		Truncated, "TR001 TR001 TR001 TR005 TR005", "", ActionContinue},
	{"measured: 1,000 of 533,689 hits",
		`{"kind":"list","request":{"limit":5000,"page":0,"first_page":0},"response":{"status":200,"parse_ok":true,"items":1000,"total":533689}}`,
		Truncated, "TR002", "TR006 TR010", ActionContinue},
	{"measured: a clean page, and a next link",
		`{"kind":"http","request":{"limit":100,"page":1},"response":{"status":200,"parse_ok":true,"items":100,"headers":{"Link":"<https://api.example/c?page=2>; rel=\"next\", <https://api.example/c?page=9>; rel=\"last\""}}}`,
		Truncated, "TR004", "TR009", ActionContinue},
	{"measured: half a body under a 200",
		`{"kind":"http","request":{"limit":1000,"page":1},"response":{"status":200,"parse_ok":false,"bytes_read":49311,"bytes_expected":65536,"error":"IncompleteRead(49311 bytes read, 16225 more expected)","headers":{"Link":"<https://api.example/c?page=2>; rel=\"next\""}}}`,
		Truncated, "TR001 TR004 TR005 TR005", "", ActionRetrySmaller},
	{"constructed: a silent cap",
		`{"kind":"list","request":{"limit":5000,"offset":0},"response":{"status":200,"parse_ok":true,"items":1000}}`,
		Unknown, "TR006 TR009", "TR007", ActionFindTotal},
	{"constructed: a small set read whole",
		`{"kind":"list","request":{"limit":100,"offset":0},"response":{"status":200,"parse_ok":true,"items":12,"total":12,"has_more":false}}`,
		Complete, "", "TR002 TR003 TR009", ActionNone},

	// TR001
	{"truncation wording in capitals", `{"kind":"tool","response":{"text":"OUTPUT OMITTED"}}`, Truncated, "TR001", "", ActionFindTotal},
	{"Chinese truncation wording", `{"kind":"tool","response":{"text":"内容过长，已截断"}}`, Truncated, "TR001", "", ActionFindTotal},
	{"a marker field", `{"kind":"tool","response":{"truncated":true,"total":3,"items":3}}`, Truncated, "TR001", "TR009", ActionFindTotal},
	{"marker fields that say no", `{"kind":"tool","response":{"truncated":false,"truncated_by":"","text":"all shown","total":3,"items":3}}`, Complete, "", "TR001", ActionNone},
	{"a tool that left 150 of 200 out", `{"kind":"tool","response":{"original_count":200,"returned_count":50,"items":50}}`, Truncated, "TR001", "TR011", ActionFindTotal},
	{"a tool that left nothing out", `{"kind":"tool","response":{"original_count":50,"returned_count":50,"items":50,"end_marker":true}}`, Complete, "", "TR001 TR011", ActionNone},

	// TR002
	{"one short is short", `{"kind":"list","response":{"items":533688,"total":533689}}`, Truncated, "TR002", "", ActionContinue},
	{"a lower bound above", `{"kind":"list","response":{"items":10,"total":10000,"total_kind":"lower_bound"}}`, Truncated, "TR002", "", ActionContinue},
	{"an estimate above proves nothing", `{"kind":"list","response":{"items":10,"total":10000,"total_kind":"estimate"}}`, Unknown, "TR009", "TR002", ActionFindTotal},
	{"a lower bound that is met proves nothing", `{"kind":"list","response":{"items":10,"total":10,"total_kind":"lower_bound"}}`, Unknown, "TR009", "TR002", ActionFindTotal},
	{"an empty set, declared", `{"kind":"list","response":{"items":0,"total":0}}`, Complete, "", "TR007", ActionNone},

	// TR003 and TR004
	{"has_more outweighs a met total", `{"kind":"list","response":{"items":5,"total":5,"has_more":true}}`, Truncated, "TR003", "", ActionFindTotal},
	{"a cursor, a page and a URL", `{"kind":"list","response":{"items":5,"next_cursor":"c2","next_page":2,"next_url":"/p2"}}`, Truncated, "TR003 TR003 TR003", "", ActionContinue},
	{"an empty cursor is an end", `{"kind":"list","response":{"items":5,"next_cursor":""}}`, Complete, "", "TR003", ActionNone},
	{"a Link without next is an end", `{"kind":"http","response":{"items":5,"headers":{"link":"</p1>; rel=prev, </p1>; rel=first"}}}`, Complete, "", "TR004", ActionNone},
	{"a Link of another kind is none", `{"kind":"http","response":{"items":5,"headers":{"link":"</about>; rel=describedby"}}}`, Unknown, "TR009", "TR004", ActionFindTotal},
	{"a broken Link that names next", `{"kind":"http","response":{"items":5,"headers":{"Link":"https://api.example/p2>; rel=\"next\", </p1>; rel=\"prev\""}}}`, Truncated, "TR004", "", ActionFindTotal},

	// TR005
	{"a body that does not parse", `{"kind":"http","response":{"parse_ok":false}}`, Truncated, "TR005", "TR010", ActionRetrySmaller},
	{"an error page that does not parse", `{"kind":"http","response":{"status":502,"parse_ok":false}}`, Unknown, "TR009 TR010", "TR005", ActionRetry},
	{"bytes short", `{"kind":"http","response":{"status":200,"bytes_read":1,"bytes_expected":2}}`, Truncated, "TR005", "", ActionRetrySmaller},
	{"characters short", `{"kind":"tool","response":{"chars_read":4000,"chars_total":9000}}`, Truncated, "TR005", "", ActionRetrySmaller},
	{"a file read whole", `{"kind":"file","response":{"lines_read":7,"lines_total":7,"bytes_read":90,"bytes_expected":90}}`, Complete, "", "TR005", ActionNone},
	{"bytes alone are not the set", `{"kind":"http","response":{"bytes_read":90,"bytes_expected":90}}`, Unknown, "TR009", "TR005", ActionFindTotal},

	// TR006
	{"as many as asked for", `{"kind":"list","request":{"limit":1000},"response":{"items":1000}}`, Unknown, "TR009", "TR006", ActionFindTotal},
	{"no common cap", `{"kind":"list","request":{"limit":5000},"response":{"items":1001}}`, Unknown, "TR009", "TR006", ActionFindTotal},
	{"a cap, but the server says that it ends", `{"kind":"list","request":{"limit":5000},"response":{"items":1000,"has_more":false}}`, Complete, "", "TR006", ActionNone},

	// TR007
	{"an empty page beside a total", `{"kind":"list","request":{"limit":100,"offset":200},"response":{"items":0,"total":533692}}`, Truncated, "TR007 TR008", "TR002", ActionRetry},
	{"an empty page beside an estimate", `{"kind":"list","response":{"items":0,"total":9,"total_kind":"estimate"}}`, Unknown, "TR007 TR009", "", ActionRetry},
	{"an empty page and no word", `{"kind":"list","response":{"status":200,"parse_ok":true,"items":0}}`, Unknown, "TR007 TR009", "", ActionFindTotal},
	{"an empty page and an end", `{"kind":"list","response":{"items":0,"end_marker":true}}`, Complete, "", "TR007", ActionNone},

	// TR008
	{"another first item", `{"kind":"list","request":{"offset":100},"response":{"items":10,"first_index":0}}`, Unknown, "TR008 TR009", "", ActionFindTotal},
	{"in the middle, not up to the total", `{"kind":"list","request":{"offset":100},"response":{"items":100,"total":250},"held":{"items":100}}`, Truncated, "TR008", "TR002", ActionContinue},
	{"the last page, nothing held", `{"kind":"list","request":{"offset":200},"response":{"items":50,"total":250}}`, Unknown, "TR008 TR009", "", ActionFindTotal},
	{"the last page, too little held", `{"kind":"list","request":{"limit":100,"page":3},"response":{"items":50,"has_more":false},"held":{"items":199}}`, Unknown, "TR008 TR009", "", ActionFindTotal},
	{"the last page, all before it held", `{"kind":"list","request":{"limit":100,"page":3},"response":{"items":50,"total":250,"first_index":200},"held":{"items":200}}`, Complete, "", "TR008", ActionNone},
	{"a page number without a page size", `{"kind":"list","request":{"page":3},"response":{"items":50,"has_more":false},"held":{"items":500}}`, Unknown, "TR008 TR009", "", ActionFindTotal},

	// TR009 and TR010
	{"nothing at all", `{"kind":"tool"}`, Unknown, "TR009", "", ActionFindTotal},
	{"a limit, with a total that is met", `{"kind":"http","response":{"status":429,"items":3,"total":3}}`, Unknown, "TR009 TR010", "", ActionWait},
	{"a wrong request", `{"kind":"http","response":{"status":404,"items":0,"has_more":false}}`, Unknown, "TR009 TR010", "TR007", ActionFixRequest},
	{"created is a success too", `{"kind":"http","response":{"status":201,"items":3,"total":3}}`, Complete, "", "TR010", ActionNone},

	// TR011
	{"a total that collapsed", `{"kind":"list","request":{"limit":100,"offset":1000},"response":{"items":0,"total":0},"held":{"items":1000}}`, Unknown, "TR009 TR011", "TR007 TR008", ActionFindTotal},
	{"more bytes than declared", `{"kind":"http","response":{"items":3,"total":3,"bytes_read":9,"bytes_expected":8}}`, Unknown, "TR011", "TR005 TR009", ActionFindTotal},
	{"no more, beside a continuation", `{"kind":"list","response":{"items":3,"has_more":false,"next_cursor":"c2"}}`, Truncated, "TR003 TR011", "", ActionContinue},
	{"a returned_count of other items", `{"kind":"tool","response":{"items":3,"returned_count":2,"has_more":false}}`, Unknown, "TR011", "TR001", ActionFindTotal},
	{"a lower bound below what came", `{"kind":"list","response":{"items":30,"total":10,"total_kind":"lower_bound","has_more":false}}`, Complete, "", "TR011", ActionNone},
	{"a position beyond all counting", `{"kind":"list","request":{"limit":9223372036854775807,"page":3},"response":{"items":9,"has_more":false},"held":{"items":9223372036854775807}}`, Unknown, "TR008 TR009 TR011", "", ActionFindTotal},
}
