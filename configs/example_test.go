package configs_test

import (
	"fmt"

	"lastdrop/configs"
)

func ExampleParse() {
	_, err := configs.Parse("hn.yaml", []byte(`version: 1
name: hn-agent
source:
  url: https://hn.algolia.com/api/v1/search_by_date
  auth: {bearer: "${HN_TOKEN}"}
pages:
  style: algolia
  sise: {start: 100}
`), nil)
	fmt.Println(err)
	// Output:
	// hn.yaml:5:18: source.auth.bearer: the environment variable HN_TOKEN is not set; set it, or write $${ for a literal ${
	// hn.yaml:8:3: pages.sise: unknown key; did you mean "size"?
}

func ExampleConfig_Redacted() {
	c, err := configs.Parse("hn.yaml", []byte(`version: 1
name: hn-agent
source: {url: "https://api.example.com/items?api_key=123456789", auth: {bearer: "${HN_TOKEN}"}}
pages: {style: single}
`), func(string) (string, bool) { return "a-secret", true })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(c.Redacted()))
	// Output:
	// {"complete":{"max_drift":1,"max_fall":50,"passes":3,"require":"declared"},"items":{"path":"@this"},"limits":{"burst":1,"concurrency":1,"max_body":67108864,"max_requests":0,"max_wait":"15m0s","retries":5,"timeout":"30s"},"name":"hn-agent","output":{"on":"complete"},"pages":{"size":{"min":1},"style":"single"},"source":{"auth":{"bearer":"${HN_TOKEN}"},"method":"GET","url":"https://api.example.com/items?api_key=REDACTED"},"version":1}
}
