package api

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"lastdrop/internal/daemon/api/problem"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A document is an OpenAPI 3.1 document.
type document map[string]any

// schemas are those of types that write themselves.
var schemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[judge.Verdict]():      {Type: "string", Enum: []any{"COMPLETE", "TRUNCATED", "UNKNOWN"}},
	reflect.TypeFor[reconcile.Strength](): {Types: []string{"string", "null"}, Enum: []any{"counted", "corroborated", "declared", "assumed", nil}},
	reflect.TypeFor[reconcile.Duration](): {Type: "string", Description: "as in 1m30s"},
	reflect.TypeFor[judge.Snapshot](): {Type: "object", Required: []string{"kind"}, Description: "a snapshot as lastdrop judge reads it: docs/snapshot.md",
		Properties: map[string]*jsonschema.Schema{"kind": {Type: "string", Enum: []any{"list", "http", "file", "tool"}},
			"meta": {}, "request": {Types: []string{"object", "null"}}, "response": {Types: []string{"object", "null"}}, "held": {Types: []string{"object", "null"}}},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}},
	reflect.TypeFor[document](): {Type: "object"},
}

// judged has the keys of a judge.Line.
type judged struct {
	Input            string        `json:"input"`
	Kind             string        `json:"kind"`
	Verdict          judge.Verdict `json:"verdict"`
	Rules            []judge.Rule  `json:"rules"`
	CompleteEvidence []string      `json:"complete_evidence"`
	Resume           *judge.Resume `json:"resume"`
	Action           string        `json:"action"`
}

// schemaOf infers the schema of what a type is written as.
func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	if t == reflect.TypeFor[judge.Line]() {
		t = reflect.TypeFor[judged]()
	}
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: schemas})
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

// document describes the routes.
func (a *api) document() (document, error) {
	names := map[string]*jsonschema.Schema{}
	paths := map[string]map[string]any{}
	for _, r := range a.routes {
		operation, err := r.operation(names)
		if err != nil {
			return nil, fmt.Errorf("describe %s %s: %w", r.method, r.path, err)
		}
		path := Prefix + r.path
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(r.method)] = operation
	}
	if _, err := reference(names, reflect.TypeFor[problem.Problem]()); err != nil {
		return nil, err
	}
	return document{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "lastdrop", "version": a.Version, "description": "Pulls, runs and what they prove. " +
			"Lists are of one moment: follow next to its end, and total says how many items came. docs/api.md says more."},
		"paths": paths,
		"components": map[string]any{
			"schemas":         names,
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
		},
		"security": []any{map[string]any{"token": []any{}}, map[string]any{}},
	}, nil
}

// reference puts a type's schema under its name and refers to it.
func reference(names map[string]*jsonschema.Schema, t reflect.Type) (*jsonschema.Schema, error) {
	name := nameOf(t)
	if names[name] == nil {
		s, err := schemaOf(t)
		if err != nil {
			return nil, err
		}
		names[name] = s
	}
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}, nil
}

var (
	generic   = regexp.MustCompile(`^List\[.*?(\w+)\.(\w+)\]$`)
	longNames = map[string]string{"Info": "Run", "runRequest": "RunRequest", "event": "Notice", "document": "Document", "Line": "Judgement"}
)

// nameOf is a type's name in the document.
func nameOf(t reflect.Type) string {
	name, list := t.Name(), ""
	if m := generic.FindStringSubmatch(name); m != nil {
		name, list = m[2], "List"
	}
	if long := longNames[name]; long != "" {
		name = long
	}
	return name + list
}

func (r route) operation(names map[string]*jsonschema.Schema) (map[string]any, error) {
	answer, err := reference(names, r.answer)
	if err != nil {
		return nil, err
	}
	kind := "application/json"
	if r.stream != nil {
		kind = "text/event-stream"
	}
	answers := map[string]any{strconv.Itoa(r.status): map[string]any{"description": http.StatusText(r.status), "content": content(kind, answer)}}
	kinds := append(slices.Clone(r.problems), problem.NoToken, problem.Refused, problem.TooMany, problem.Internal, problem.Busy)
	if len(r.params) > 0 || strings.Contains(r.path, "{id}") {
		kinds = append(kinds, problem.BadParameter)
	}
	if r.method == http.MethodPost {
		kinds = append(kinds, problem.BadBody, problem.TooLong, problem.BadType)
	}
	for _, k := range kinds {
		answers[strconv.Itoa(k.Status)] = map[string]any{"description": http.StatusText(k.Status),
			"content": content("application/problem+json", &jsonschema.Schema{Ref: "#/components/schemas/Problem"})}
	}
	operation := map[string]any{"summary": r.about, "operationId": r.id(), "responses": answers}
	if params := r.parameters(); len(params) > 0 {
		operation["parameters"] = params
	}
	if r.body != nil {
		body, err := reference(names, r.body)
		if err != nil {
			return nil, err
		}
		operation["requestBody"] = map[string]any{"required": !r.optional, "content": content("application/json", body)}
	}
	return operation, nil
}

func content(kind string, s *jsonschema.Schema) map[string]any {
	return map[string]any{kind: map[string]any{"schema": s}}
}

// id names the operation: get_runs_run_pages.
func (r route) id() string {
	plain := strings.NewReplacer("{", "", "}", "", "/", "_", ".", "_").Replace(r.path)
	return strings.ToLower(r.method) + plain
}

func (r route) parameters() []any {
	var all []any
	for _, m := range inPath.FindAllStringSubmatch(r.path, -1) {
		s := &jsonschema.Schema{Type: "string"}
		if m[1] == "id" {
			s.Type = "integer"
		}
		all = append(all, map[string]any{"name": m[1], "in": "path", "required": true, "schema": s})
	}
	for _, p := range r.params {
		all = append(all, map[string]any{"name": p.name, "in": "query", "description": p.about, "schema": p.schema()})
	}
	return all
}

func (p param) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	if p.number {
		least := float64(p.least)
		s = &jsonschema.Schema{Type: "integer", Minimum: &least}
		if p.most > 0 {
			most := float64(p.most)
			s.Maximum = &most
		}
	}
	if p.run {
		s.Pattern = runID.String()
	}
	for _, w := range p.words {
		s.Enum = append(s.Enum, w)
	}
	return s
}
