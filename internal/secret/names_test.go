package secret

import (
	"strings"
	"testing"
)

func TestSensitive(t *testing.T) {
	yes := strings.Fields(`token Token TOKEN access_token accessToken access-token api_key apikey apiKey APIKey API_KEY key secret
		client_secret clientSecret password db_password passwd pwd sig signature auth Authorization Proxy-Authorization credential
		credentials session session_id sessionId sessionid PHPSESSIONID X-Amz-Signature X-Amz-Credential X-Amz-Security-Token sas
		X-Api-Key X-Auth-Token x-auth Ocp-Apim-Subscription-Key PRIVATE-TOKEN Cookie Set-Cookie jwt bearer hmac authtoken
		oauth_token oauth_consumer_key AWSAccessKeyId accesskey aws_access_key_id X-CSRF-Token user[password] HN_TOKEN`)
	for _, name := range yes {
		if !Sensitive(name) {
			t.Errorf("Sensitive(%q) = false", name)
		}
	}
	no := strings.Fields(`page_token pageToken nextPageToken next_token NextToken nextpagetoken continuation-token continuationToken
		ContinuationToken x-ms-continuation $skiptoken skipToken syncToken resumptionToken cursor after page limit offset author
		authors keyword keywords keys sort_key sortKey orderByKey group_key partition_key LastEvaluatedKey tokens_used id user
		Accept User-Agent sort query q scroll_id monkey donkey basket design pin code`)
	for _, name := range append(no, "", "__", "$") {
		if Sensitive(name) {
			t.Errorf("Sensitive(%q) = true", name)
		}
	}
}

func TestSensitiveVariable(t *testing.T) {
	for name, want := range map[string]bool{
		"HN_TOKEN": true, "GITHUB_TOKEN_RO": true, "GITHUB_PAT": true, "DB_PASSWORD_FILE": true, "API_KEY": true, "MY_SECRET_2": true,
		"TOK": true, "MY_PW": true, "PASS_2": true, "PAT": true,
		"REGION": false, "PAGE_SIZE": false, "HOME": false, "SORT_KEY": false, "BASE_URL": false,
	} {
		if got := SensitiveVariable(name); got != want {
			t.Errorf("SensitiveVariable(%q) = %v", name, got)
		}
	}
}

func TestHideURL(t *testing.T) {
	s := NewSet("s3cr3t-path")
	for _, tc := range []struct{ in, out string }{
		{"https://h/p?q=1", "https://h/p?q=1"},
		{"https://h/p?token=abc&q=1", "https://h/p?token=REDACTED&q=1"},
		{"https://h/p?q=1&API_KEY=abc#access_token=x&y=2", "https://h/p?q=1&API_KEY=REDACTED#access_token=REDACTED&y=2"},
		{"https://h/p?page_token=abc&nextToken=d&%24skiptoken=e&cursor=f", "https://h/p?page_token=abc&nextToken=d&%24skiptoken=e&cursor=f"},
		{"https://h/p?X-Amz-Signature=abc&X-Amz-Credential=d&X-Amz-Security-Token=e", "https://h/p?X-Amz-Signature=REDACTED&X-Amz-Credential=REDACTED&X-Amz-Security-Token=REDACTED"},
		{"https://h/p?api%5Fkey=abc", "https://h/p?api%5Fkey=REDACTED"},
		{"https://u:p@h/p", "https://REDACTED@h/p"},
		{"https://u:p@ss@h/p@q", "https://REDACTED@h/p@q"},
		{"//u@h/p", "//REDACTED@h/p"},
		{"https://h/p@q", "https://h/p@q"},
		{"https://h/s3cr3t-path/x", "https://h/REDACTED/x"},
		{"https://h/p?token=&q", "https://h/p?token=&q"},
		{"https://h/p?a;token=x;b=1", "https://h/p?a;token=REDACTED;b=1"},
		{"https://h/p?token=%zz", "https://h/p?token=REDACTED"},
		{"not a url", "not a url"},
		{"", ""},
	} {
		if got := s.HideURL(tc.in); got != tc.out {
			t.Errorf("HideURL(%q) = %q, want %q", tc.in, got, tc.out)
		}
	}
}

func TestRewriteParamsKeepsAllElse(t *testing.T) {
	const u = "https://h/p?a=1&&b&c=%41;d=2?e=3#f=4&g"
	if got := RewriteParams(u, func(string, string) (string, bool) { return "", false }); got != u {
		t.Errorf("got %q, want %q", got, u)
	}
	var seen []string
	RewriteParams(u, func(name, value string) (string, bool) {
		seen = append(seen, name+"="+value)
		return "", false
	})
	if got := strings.Join(seen, " "); got != "a=1 c=A d=2 e=3 f=4" {
		t.Errorf("seen %q", got)
	}
}
