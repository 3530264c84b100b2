package jsonscan_test

import (
	"errors"
	"fmt"

	"lastdrop/internal/jsonscan"
)

func ExampleValidate() {
	for _, body := range []string{`{"items":[1,2]}`, `{"items":[1,2`, `{"items":[1,2]}{`, `<html>`} {
		if bad := jsonscan.Validate([]byte(body)); bad != nil {
			fmt.Println(bad)
		} else {
			fmt.Println("whole")
		}
	}
	// Output:
	// whole
	// short at byte 13: ended where a comma or a bracket was due
	// trailing at byte 15: text after the value
	// not json at byte 0: no JSON value begins like this
}

func ExamplePage() {
	path := func(s string) jsonscan.Path {
		p, err := jsonscan.Compile(s)
		if err != nil {
			panic(err)
		}
		return p
	}
	want, err := jsonscan.NewWant(path("data.rows"), []jsonscan.Path{path("id")}, []jsonscan.Path{path("total")})
	if err != nil {
		panic(err)
	}
	var got jsonscan.Got // used for every page
	body := []byte(`{"data": {"rows": [{"id": 7, "name": "a"}, null]}, "total": 1.2e1}`)
	if err := jsonscan.Page(body, want, &got); err != nil {
		panic(err)
	}
	total, ok := jsonscan.ValueOf(got.Envelope[0].In(body)).Int64()
	fmt.Printf("%v of %d, %d null, total %d %v\n", got.State, len(got.Items), got.Nulls, total, ok)
	fmt.Printf("%s has the id %s\n", got.Items[0].In(body), got.ID(0, 0).In(body))

	err = jsonscan.Page([]byte(`{"data": {"rows": []}, "total": 0, "t\u006ftal": 9}`), want, &got)
	fmt.Println(errors.Is(err, jsonscan.ErrDuplicateKey), err)
	// Output:
	// array of 2, 1 null, total 12 true
	// {"id": 7, "name": "a"} has the id 7
	// true key "total" stands twice in one object on the path "total" (again at byte 49)
}

func ExampleAppendCanonical() {
	fmt.Printf("%s\n", jsonscan.AppendCanonical(nil, []byte(`{"n": 1.50, "id": "caf\u00e9"}`)))
	fmt.Printf("%s\n", jsonscan.AppendCanonical(nil, []byte(`{"id":"café","n":15e-1}`)))
	// Output:
	// {"id":"café","n":15e-1}
	// {"id":"café","n":15e-1}
}
