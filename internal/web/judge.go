package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"lastdrop/internal/har"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

const (
	maxSnapshot = 16 << 20
	maxAnswers  = 200 // shown of one archive
)

// example is what the form begins with.
const example = `{
  "kind": "list",
  "request": {"limit": 5000},
  "response": {"status": 200, "items": 1000}
}`

// A judged is an answer of the judge.
type judged struct {
	N        int // its place, from 1
	Result   judge.Result
	Chip     chip
	Rules    []evidence
	Means    string // what the action asks for
	Weighed  bool   // the evidence of completeness is outweighed
	Evidence string
}

type judgeView struct {
	Text    string
	Problem string
	Answers []judged
	All     int
	Counts  []legend
	Limit   string
}

func (s *Server) judgeForm(w http.ResponseWriter, r *http.Request) error {
	s.showJudge(w, r, http.StatusOK, judgeView{Text: example})
	return nil
}

func (s *Server) showJudge(w http.ResponseWriter, r *http.Request, status int, v judgeView) {
	v.Limit = sizeText(maxSnapshot)
	s.render(w, r, status, "judge", page{Title: "Judge", Nav: "judge"}, v)
}

// judgeAnswer judges what was pasted or sent as a file. Nothing of it is kept.
func (s *Server) judgeAnswer(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxSnapshot)
	text, archive, err := sent(r)
	if err != nil {
		return err
	}
	v := judgeView{Text: string(text)}
	if archive {
		v.Text = ""
	}
	var snapshots []judge.Snapshot
	if archive {
		snapshots, err = har.Read(text)
	} else {
		snapshots, err = judge.Decode(text)
	}
	switch {
	case err != nil:
		v.Problem = err.Error()
	case len(snapshots) == 0:
		v.Problem = "There is nothing to judge in it."
	}
	if v.Problem != "" {
		s.showJudge(w, r, http.StatusUnprocessableEntity, v)
		return nil
	}
	v.All = len(snapshots)
	tally := map[judge.Verdict]int64{}
	for i, snapshot := range snapshots {
		result := s.Judge(snapshot)
		tally[result.Verdict]++
		if i < maxAnswers {
			v.Answers = append(v.Answers, judgedOf(i+1, result))
		}
	}
	for _, verdict := range []judge.Verdict{judge.Truncated, judge.Unknown, judge.Complete} {
		if tally[verdict] > 0 {
			v.Counts = append(v.Counts, legend{outcomeMark{Word: verdict.String()}, tally[verdict]})
		}
	}
	s.showJudge(w, r, http.StatusOK, v)
	return nil
}

// sent is what a form brought: the file if there is one, else the text. An archive is told by its name or by its first key.
func sent(r *http.Request) (text []byte, archive bool, err error) {
	if err := r.ParseMultipartForm(maxSnapshot); err != nil {
		return nil, false, badForm(err)
	}
	defer r.MultipartForm.RemoveAll() //nolint:errcheck // all of it is in memory
	text = []byte(r.PostFormValue("snapshot"))
	if files := r.MultipartForm.File["file"]; len(files) > 0 && files[0].Size > 0 {
		f, err := files[0].Open()
		if err != nil {
			return nil, false, badForm(err)
		}
		defer f.Close()
		if text, err = io.ReadAll(f); err != nil {
			return nil, false, badForm(err)
		}
		if strings.HasSuffix(strings.ToLower(files[0].Filename), ".har") {
			return text, true, nil
		}
	}
	start := bytes.TrimLeft(text, "\xEF\xBB\xBF \t\r\n{")
	return text, bytes.HasPrefix(start, []byte(`"log"`)), nil
}

func badForm(err error) error {
	if strings.Contains(err.Error(), "too large") {
		return &http.MaxBytesError{Limit: maxSnapshot}
	}
	return problem{http.StatusBadRequest, "The form could not be read."}
}

func judgedOf(n int, r judge.Result) judged {
	v := r.Verdict
	j := judged{N: n, Result: r, Chip: chipOf(&v, reconcile.None), Means: actionText[r.Action], Weighed: v != judge.Complete,
		Evidence: strings.Join(r.CompleteEvidence, "; ")}
	for _, rule := range r.Rules {
		e := reconcile.Evidence{ID: rule.ID, Verdict: rule.Verdict, Text: rule.Evidence}
		j.Rules = append(j.Rules, evidence{e, markOf(e), ruleTitles[e.ID]})
	}
	return j
}

var actionText = map[judge.Action]string{
	judge.ActionNone:         "nothing: this is all",
	judge.ActionContinue:     "ask on at the resume point",
	judge.ActionRetry:        "ask the same again",
	judge.ActionRetrySmaller: "ask the same again in smaller pieces",
	judge.ActionWait:         "ask the same again when the server allows it",
	judge.ActionFixRequest:   "mend the request: a retry brings nothing",
	judge.ActionFindTotal:    "find more evidence: a retry brings none",
}

// allRules are the judge's and the run's, in the order of their ids.
var allRules = slices.Concat(judge.RuleTable, reconcile.Table)

var ruleTitles = func() map[string]string {
	m := map[string]string{}
	for _, r := range allRules {
		m[r.ID] = r.Title
	}
	return m
}()

// rules is the page of all rules.
func (s *Server) rules(w http.ResponseWriter, r *http.Request) error {
	type row struct {
		judge.RuleDoc
		Chips []chip
	}
	var rows []row
	for _, doc := range allRules {
		one := row{RuleDoc: doc}
		for _, v := range doc.Verdicts {
			if len(doc.Verdicts) == 1 && v == judge.Unknown && reconcile.Informs(doc.ID) {
				one.Chips = append(one.Chips, chip{Class: "none", Mark: "·", Word: "worth knowing"})
				continue
			}
			one.Chips = append(one.Chips, chipOf(&v, reconcile.None))
		}
		rows = append(rows, one)
	}
	s.render(w, r, http.StatusOK, "rules", page{Title: "Rules", Nav: "rules"}, struct {
		Rows []row
		N    string
	}{rows, fmt.Sprint(len(rows))})
	return nil
}
