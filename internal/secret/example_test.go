package secret_test

import (
	"fmt"

	"lastdrop/internal/secret"
)

func ExampleSet_HideURL() {
	s := secret.NewSet("my/token")
	fmt.Println(s.HideURL("https://ada:pw@api.example.com/items?t=my%2Ftoken&sig=abc&page_token=2"))
	// Output: https://REDACTED@api.example.com/items?t=REDACTED&sig=REDACTED&page_token=2
}

func ExampleValue() {
	v := secret.Value("my/token")
	fmt.Printf("%v %q %#v, sent as %s\n", v, v, v, v.Reveal())
	// Output: REDACTED REDACTED REDACTED, sent as my/token
}
